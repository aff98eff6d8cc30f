// `make bench`: measures the vault against its peers in one run and prints a row for each promise.

benchmark()
