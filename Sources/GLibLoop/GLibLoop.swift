// GLibLoop: to be written.
