// The store against KWallet and KeePassXC as Debian has them.

import SecretServiceStore
import StoreConformance
import TestBus
import Testing
import VaultCore
import VaultModel

@Suite struct OtherProvidersTests {
  @Test("KWallet keeps what every store promises")
  func kWallet() async throws {
    try await withStore { test, bus in
      try bus.startKeyring(.kWallet)
      try await checkConformance(of: test.store, clock: test.clock)
      #expect(test.store.provider == "kwalletd5")
    }
  }

  @Test("KeePassXC keeps what every store promises, but that it asks before it removes")
  func keePassXC() async throws {
    try await withStore { test, bus in
      try bus.startKeyring(.keePassXC)
      try await checkConformance(of: test.store, clock: test.clock, can: []) { id in
        _ = try bus.run(
          "secret-tool",
          [
            "clear", "--", "namespace", id.key.namespace.text, "name", id.key.name, "account",
            id.account.text,
          ])
      }
      #expect(test.store.provider == "keepassxc")
    }
  }

  @Test("KeePassXC may die of many sets at once: each ends in time, with success or as what it is")
  func hurried() async throws {
    try await withStore { test, bus in
      try bus.startKeyring(.keePassXC)
      let keys = try (0..<40).map { try id("Hurried.key\($0)") }
      var outcomes: [String: Int] = [:]
      let time = await elapsed {
        outcomes = await tally(keys.count) { number in
          let failure = await test.failure {
            try await test.set(keys[number], "\(number)", test.patience(10))
          }
          return failure.map { $0.outcome.rawValue } ?? "set"
        }
      }
      #expect(Set(outcomes.keys).isSubset(of: ["set", "Unavailable", "Locked"]), "\(outcomes)")
      #expect(time < .seconds(22))
      guard test.store.provider == "keepassxc" else { return }
      for (number, key) in keys.enumerated() {
        let word = await test.word(key)
        #expect(["\(number)", "nil", "Unavailable"].contains(word), "\(word)")
      }
    }
  }
}
