// The words of the interface (keys, entries, errors, secrets) are declared in modules that daemon and client
// share. Programs import `VaultClient` alone, and find them.

@_exported import SecretMemory
@_exported import VaultModel
