// The daemon's program. Everything is in a function of another file: a closure written here would belong to the main
// actor, whatever it says (docs/architecture.md).

runVaultd()
