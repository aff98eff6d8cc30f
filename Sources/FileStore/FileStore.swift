// FileStore: to be written.
