// VaultDaemon: to be written.
