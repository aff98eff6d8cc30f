// VaultClient: to be written.
