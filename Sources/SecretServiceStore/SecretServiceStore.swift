// SecretServiceStore: to be written.
