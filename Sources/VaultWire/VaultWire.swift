// VaultWire: to be written.
