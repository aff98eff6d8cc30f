// VaultCrypto: to be written.
