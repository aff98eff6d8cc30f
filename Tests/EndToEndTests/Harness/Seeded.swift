// Chance that can be repeated: a test draws from one seed and prints it, and VAULT_TEST_SEED draws the same again.

import Foundation

/// Random numbers from a seed (SplitMix64).
struct Seeded: RandomNumberGenerator {
  /// What they come from.
  let seed: UInt64
  private var state: UInt64

  /// Draws from the seed of VAULT_TEST_SEED, else from one of its own, and prints it.
  init(for test: String) {
    let given = ProcessInfo.processInfo.environment["VAULT_TEST_SEED"].flatMap { UInt64($0) }
    seed = given ?? UInt64.random(in: 0...UInt64.max)
    state = seed
    print("\(test): VAULT_TEST_SEED=\(seed)")
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
