// StateStore: to be written.
