print("vaultd")
