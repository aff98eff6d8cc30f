// Thousands of random operations against a plain model: whatever is done, a get returns the last acknowledged
// value, or an error that says why it can't; never an older value.

import SecretMemory
import TestSupport
import Testing
@testable import VaultCore
import VaultModel

@Suite struct ModelTests {
  init() { startVaultActor() }

  @Test(
    "a get returns the last acknowledged change or an error, whatever befalls the stores",
    arguments: 1...8 as ClosedRange<UInt64>)
  @VaultActor func lastAcknowledged(seed: UInt64) async throws {
    var random = SplitMix(state: seed)
    let bench = Bench(.auto)
    var model: [String: String] = [:]
    let keys = ["a.b", "a.c", "b.c", "a.b.c"]
    for step in 0..<2_000 {
      bench.clock.pass(milliseconds: Int64(random.next() % 3))
      let key = keys[Int(random.next() % 4)]
      switch random.next() % 12 {
      case 0...3:
        let value = "v\(step)"
        do {
          try await bench.set(key, value)
          model[key] = value
        } catch {}
      case 4:
        do {
          _ = try await bench.clear(key)
          model[key] = nil
        } catch {}
      case 5:
        do {
          _ = try await bench.vault.clearNamespace(try Namespace("a"), account: nil)
          model["a.b"] = nil
          model["a.c"] = nil
        } catch {}
      case 6: bench.provider.trouble = [nil, Bench.away, Bench.closed][Int(random.next() % 3)]
      case 7:
        if random.next() % 2 == 0 {
          bench.file.isUnlocked = false
        } else {
          try await bench.vault.unlock(.passphrase(SharedSecret(try SecretBytes(copying: "p"))))
        }
      default: break
      }
      for key in keys {
        let answer: Result<String, any Error>
        do { answer = .success(try await bench.get(key)) } catch { answer = .failure(error) }
        switch (answer, model[key]) {
        case (.success(let value), let expected):
          #expect(value == expected, "seed \(seed), step \(step), \(key)")
        case (.failure(let error as VaultError), let expected):
          switch error.outcome {
          case .notFound: #expect(expected == nil, "seed \(seed), step \(step), \(key): \(error)")
          case .locked, .unavailable: break
          default: Issue.record("seed \(seed), step \(step), \(key): \(error)")
          }
        case (.failure(let error), _): throw error
        }
      }
      if bench.provider.trouble == nil, bench.file.isUnlocked {
        if random.next() % 8 == 0 {
          #expect(await bench.vault.settleAll(), "seed \(seed), step \(step): something stays owed")
          #expect(bench.file.items.isEmpty, "seed \(seed), step \(step): a copy stays in the file")
          #expect(
            Set(bench.provider.items.keys.map(\.key.text)) == Set(model.keys), "seed \(seed), step \(step)")
        }
        for (key, value) in model {
          #expect(try await bench.get(key) == value, "seed \(seed), step \(step): all stores are open")
        }
      }
    }
  }
}

/// Random numbers that are the same for the same seed (SplitMix64).
struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
