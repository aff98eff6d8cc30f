// The store against KWallet and KeePassXC as Debian has them.

import SecretServiceStore
import StoreConformance
import Synchronization
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
    // It dies by itself now and then, of quick stores above all; what fails because of that is not ours.
    for _ in 1...3 {
      if try await keePassXCLives() { return }
    }
    Issue.record("KeePassXC died in each of three runs")
  }

  /// Runs the suite against a new KeePassXC.
  /// - Throws: what failed while that was there.
  /// - Returns: whether it lived to the end.
  private func keePassXCLives() async throws -> Bool {
    let lived = Mutex(true)
    try await withStore { test, bus in
      try bus.startKeyring(.keePassXC)
      do {
        try await checkConformance(of: test.store, clock: test.clock, can: []) { id in
          _ = try bus.run(
            "secret-tool",
            [
              "clear", "--", "namespace", id.key.namespace.text, "name", id.key.name, "account",
              id.account.text,
            ])
        }
      } catch {
        if test.store.provider != nil { throw error }
        lived.withLock { $0 = false }
        return
      }
      #expect(test.store.provider == "keepassxc")
    }
    return lived.withLock { $0 }
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
