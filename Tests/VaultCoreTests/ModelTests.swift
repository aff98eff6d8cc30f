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

/// What a vault is from outside, and nothing else: keys with a value, a version, and an end.
private struct Model {
  struct Value {
    var text: String
    var version: Version
    /// By the boot clock.
    var end: Int64?
    var idle: Int64?
    var used: Int64
    var untilLogout: Bool

    func isOver(_ now: Int64) -> Bool {
      if let end, now >= end { return true }
      if let idle, now >= used + idle * 1_000 { return true }
      return false
    }
  }

  var values: [String: Value] = [:]
  var isLocked = false

  func answer(_ key: String, _ now: Int64) -> Answer {
    guard let value = values[key] else { return .outcome(.notFound) }
    return value.isOver(now) ? .outcome(.expired) : .value(value.text, value.version)
  }
}

private enum Answer: Equatable {
  case value(String, Version)
  case outcome(Outcome)
}

@Suite struct WholeModelTests {
  init() { startVaultActor() }

  @Test(
    "thousands of random operations on each store answer as a plain model does, through restarts, locks, the clock, logouts and a provider that comes and goes",
    arguments: StorePreference.allCases, 1...4 as ClosedRange<UInt64>)
  @VaultActor func model(preference: StorePreference, seed: UInt64) async throws {
    var random = SplitMix(state: seed)
    var bench = Bench(preference)
    var model = Model()
    let keys = ["a.b", "a.c", "b.c", "a.b.c"]
    var seen: Set<Version> = []
    for step in 0..<1_500 {
      func pick(_ count: UInt64) -> UInt64 { random.next() % count }
      let key = keys[Int(pick(4))]
      let id = try bench.id(key)
      let now = bench.clock.boot.milliseconds
      let place = "\(preference), seed \(seed), step \(step), \(key)"
      switch pick(16) {
      case 0...4:
        let present = model.values[key]
        let expected: Version? = [nil, nil, 0, present?.version, present.map { $0.version - 1 }][Int(pick(5))]
        let (expiresIn, idle): (Int64?, Int64?) =
          [(nil, nil), (Int64(1 + pick(20)), nil), (nil, Int64(1 + pick(20)))][Int(pick(3))]
        let untilLogout = pick(5) == 0
        let fits =
          expected == nil || expected == present?.version || expected == 0 && present?.isOver(now) ?? true
        do {
          let entry = try await bench.set(
            key, "v\(step)", expiresIn: expiresIn, idle: idle, untilLogout: untilLogout, ifVersion: expected)
          #expect(fits && !model.isLocked, "\(place): set")
          #expect(seen.insert(entry.version).inserted, "\(place): a version was used again")
          model.values[key] = Model.Value(
            text: "v\(step)", version: entry.version, end: expiresIn.map { now + $0 * 1_000 }, idle: idle,
            used: now, untilLogout: untilLogout)
        } catch let error as VaultError {
          switch error.outcome {
          case .conflict: #expect(!fits, "\(place): \(error)")
          case .locked: #expect(model.isLocked || bench.isImpaired, "\(place): \(error)")
          case .unavailable: #expect(bench.isImpaired, "\(place): \(error)")
          default: Issue.record("\(place): \(error)")
          }
        }
      case 5, 6:
        let clearance = try await bench.clear(key)
        if !model.isLocked, !bench.isImpaired {
          #expect((clearance.cleared == 1) == (model.values[key] != nil), "\(place): clear")
        }
        model.values[key] = nil
      case 7:
        _ = try await bench.vault.clearNamespace(try Namespace("a"), account: nil)
        model.values["a.b"] = nil
        model.values["a.c"] = nil
      case 8:
        do {
          _ = try await bench.vault.touch(id)
          #expect(!model.isLocked && model.values[key]?.isOver(now) == false, "\(place): touch")
          model.values[key]?.used = now
        } catch {
          try check(error, key, model, bench, place)
        }
      case 9, 10: bench.clock.pass(milliseconds: Int64(pick(9_000)))
      case 11:
        bench.vault.lock()
        model.isLocked = true
      case 12:
        try await bench.vault.unlock(.passphrase(try bench.secret("p")))
        model.isLocked = false
      case 13:
        bench = await bench.restarted()
        model.isLocked = false
        // A use that was not written down ends a token early, by a tenth at most: write it down.
        try await bench.vault.unlock(.passphrase(try bench.secret("p")))
        for key in keys where model.values[key]?.idle != nil {
          if try await bench.outcome({ _ = try await bench.set(key, "again") }) == nil {
            model.values[key] = nil
            let entry = try await bench.vault.get(GetRequest(id: try bench.id(key))).entry
            model.values[key] = Model.Value(
              text: "again", version: entry.version, end: nil, idle: nil, used: now, untilLogout: false)
            seen.insert(entry.version)
          }
        }
      case 14 where preference != .file:
        bench.provider.trouble = [nil, Bench.away, Bench.closed][Int(pick(3))]
        if bench.provider.trouble == nil { bench.clock.pass(milliseconds: Limits.settleMilliseconds) }
        bench.provider.onChange?([bench.provider.trouble == nil ? .available : .unavailable])
      case 15 where pick(8) == 0:
        bench.session.end()
        for (key, value) in model.values where value.untilLogout { model.values[key] = nil }
      default: break
      }
      let later = bench.clock.boot.milliseconds
      for key in keys {
        let place = "\(preference), seed \(seed), step \(step), \(key)"
        do {
          let token = try await bench.vault.get(GetRequest(id: try bench.id(key)))
          #expect(
            .value(bench.text(of: token), token.entry.version) == model.answer(key, later) && !model.isLocked,
            "\(place)")
          model.values[key]?.used = later
        } catch let error as VaultError {
          try check(error, key, model, bench, place)
        }
      }
    }
  }

  @VaultActor private func check(
    _ error: VaultError, _ key: String, _ model: Model, _ bench: Bench, _ place: String
  ) throws {
    let expected = model.answer(key, bench.clock.boot.milliseconds)
    switch error.outcome {
    case .notFound, .expired:
      #expect(!model.isLocked && expected == .outcome(error.outcome), "\(place): \(error)")
    case .locked: #expect(model.isLocked || bench.isImpaired, "\(place): \(error)")
    case .unavailable: #expect(bench.isImpaired, "\(place): \(error)")
    default: Issue.record("\(place): \(error)")
    }
  }
}

extension Bench {
  /// Whether a store that a request may need can't do its part now.
  fileprivate var isImpaired: Bool { provider.trouble != nil || !file.isUnlocked }
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
