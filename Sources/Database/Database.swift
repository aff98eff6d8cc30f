// Database: to be written.
