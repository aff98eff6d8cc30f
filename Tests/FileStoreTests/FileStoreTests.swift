// The vault file from the vault's side: what was acknowledged comes back, from this process and the next.

import Foundation
import SecretMemory
import StoreConformance
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import FileStore

@Suite struct FileStoreTests {
  init() { startVaultActor() }

  @Test("it keeps what every store promises")
  @VaultActor func conformance() async throws {
    let bench = try await FileBench()
    try await checkConformance(of: bench.store, clock: bench.clock)
  }

  @Test("what was set is there after a restart, byte for byte, and what was cleared is not")
  @VaultActor func restart() async throws {
    let bench = try await FileBench()
    try await bench.set("App.token", "one")
    try await bench.set("App.token", "two")
    try await bench.set("App.token", "another", account: "alice")
    try await bench.set("App.gone", "gone")
    let every = (0...255).map { UInt8($0) }
    try await bench.set("App.bytes", every)
    try await bench.set("App.empty", "")
    #expect(try await bench.clear("App.gone"))
    #expect(try await bench.clear("App.gone") == false)
    let highest = bench.store.highestVersion

    try await bench.restart()
    #expect(try bench.get("App.token") == "two")
    #expect(try bench.get("App.token", account: "alice") == "another")
    #expect(try bench.get("App.token", account: "bob") == nil)
    #expect(try bench.get("App.gone") == nil)
    #expect(try bench.bytes("App.bytes") == every)
    #expect(try bench.get("App.empty") == "")
    #expect(bench.store.highestVersion == highest)
    #expect(bench.store.recordCount == 4)
    let verification = try await bench.store.verify()
    #expect(verification == Verification(records: 4, damaged: 0, sound: true))
  }

  @Test("every field of an entry comes back, and what is pending is counted")
  @VaultActor func fields() async throws {
    let bench = try await FileBench()
    var entry = bench.entry(try bench.id("App.token", "bob@example.org"))
    entry.expires = WallTime(milliseconds: 1_999_999_999_999)
    entry.idle = 7_200
    entry.untilLogout = true
    entry.label = "a label 🔑"
    entry.pending = true
    let secret = SharedSecret(try SecretBytes(copying: "secret"))
    try await bench.store.write(entry, secret, FileBench.patience)
    entry.size = 6
    try await bench.restart()
    #expect(try await bench.store.list(nil, FileBench.patience) == [entry])
    #expect(try await bench.store.read(entry.id, FileBench.patience)?.entry == entry)
    #expect(bench.store.status.pending == 1 && bench.store.status.entries == 1)
    entry.pending = false
    entry.version += 1
    try await bench.store.write(entry, secret, FileBench.patience)
    #expect(bench.store.status.pending == 0)
  }

  @Test(
    "what is kept beside a secret is replaced under its own version; a purged secret is gone, its entry stays"
  )
  @VaultActor func updated() async throws {
    let bench = try await FileBench()
    var entry = try await bench.set("App.token", "secret")
    entry.size = 6
    let row = try #require(try bench.row(try bench.recordID("App.token")))
    entry.lastUse = Moment(wall: bench.clock.wall, boot: bench.clock.boot, bootID: BootID(high: 1, low: 2))
    try await bench.store.update(entry, FileBench.patience)
    #expect(try bench.get("App.token") == "secret")
    #expect(try await bench.store.list(nil, FileBench.patience) == [entry])
    // Of a version that is there no more nothing is changed.
    var older = entry
    (older.version, older.label) = (entry.version - 1, "older")
    try await bench.store.update(older, FileBench.patience)
    #expect(try await bench.store.list(nil, FileBench.patience) == [entry])

    entry.isPurged = true
    try await bench.store.update(entry, FileBench.patience)
    for _ in 0..<2 {
      #expect(try bench.bytes("App.token") == [])
      #expect(try await bench.store.read(entry.id, FileBench.patience)?.entry == entry)
      #expect(try await bench.store.verify() == Verification(records: 1, damaged: 0, sound: true))
      try await bench.restart()
    }
    // Not even sealed as it was.
    let everything = try bench.everything()
    for start in stride(from: 0, to: row.secret.count - 8, by: 8) {
      let run = row.secret[start..<start + 8]
      #expect(
        !everything.indices.dropLast(8).contains {
          everything[$0] == run.first && everything[$0..<$0 + 8] == run
        })
    }
    let again = try await bench.set("App.token", "new")
    #expect(again.version > entry.version)
    #expect(try bench.get("App.token") == "new")
  }

  @Test("a locked file says so, and how to unlock it; nothing is lost by it")
  @VaultActor func locked() async throws {
    let bench = try await FileBench()
    try await bench.set("App.token", "value")
    bench.store.forget()
    #expect(!bench.store.isUnlocked && bench.store.status.state == .locked && bench.store.recordCount == 1)
    #expect(try bench.outcome("App.token") == .locked)
    guard case .failed(let error) = bench.store.lookUp(try bench.id("App.token")) else { return }
    #expect(error.description.contains("vault unlock") && error.description.contains(bench.file))
    let refused = await failure { () throws(WriteFailure) in try await bench.set("App.token", "other") }
    #expect(refused?.error.outcome == .locked)
    #expect(try await vaultError { _ = try await bench.clear("App.token") }?.outcome == .locked)
    try await bench.store.unlock(nil)
    #expect(try bench.get("App.token") == "value")
  }

  @Test("a file that is locked since the start shows the largest version of its records")
  @VaultActor func versionsOfALockedFile() async throws {
    let bench = try await FileBench()
    let entry = bench.entry(try bench.id("App.token"), version: bench.clock.wall.milliseconds + 60_000)
    try await bench.store.write(entry, SharedSecret(try SecretBytes(copying: "v")), FileBench.patience)
    try await bench.restart(unlocking: false)
    #expect(bench.store.status.state == .locked && bench.store.highestVersion == entry.version)
  }

  @Test("without a file nothing is stored and the way to one is told")
  @VaultActor func absent() async throws {
    let bench = try await FileBench(initialised: false)
    #expect(!bench.store.exists && bench.store.status.state == .absent)
    let refused = await failure { () throws(WriteFailure) in try await bench.set("App.token", "value") }
    #expect(refused?.error.outcome == .unavailable)
    #expect(refused?.error.description.contains("vault init") == true)
    #expect(try bench.outcome("App.token") == .unavailable)
    #expect(try await vaultError { try await bench.store.unlock(nil) }?.outcome == .unavailable)
    try await bench.restart()
    #expect(!bench.store.exists)
  }

  @Test("a list is long, and none of its entries is another namespace's")
  @VaultActor func longList() async throws {
    let bench = try await FileBench()
    var all: [(String, String)] = []
    for number in 0..<1_201 {
      all.append(("App.k\(number)", "v\(number)"))
      if number.isMultiple(of: 10) { all += [("App.Sub.k\(number)", "other"), ("App2.k\(number)", "other")] }
    }
    try await bench.setAtOnce(all)
    let entries = try await bench.store.list(Namespace("App"), FileBench.patience)
    #expect(entries.count == 1_201 && entries.allSatisfy { $0.id.key.namespace.text == "App" })
    #expect(try await bench.store.list(nil, FileBench.patience).count == 1_201 + 242)
    #expect(try await bench.store.list(Namespace("Ap"), FileBench.patience).isEmpty)
    for number in 0..<1_201 { #expect(try bench.get("App.k\(number)") == "v\(number)") }
  }

  @Test("2,000 random changes with restarts leave exactly what a dictionary would")
  @VaultActor func model() async throws {
    let bench = try await FileBench()
    var random = SeededGenerator(seed: 7)
    var model: [String: [UInt8]] = [:]
    for step in 1...2_000 {
      let key = "App\(Int.random(in: 0..<3, using: &random)).k\(Int.random(in: 0..<40, using: &random))"
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<6:
        let size = Bool.random(using: &random) ? Int.random(in: 0..<200, using: &random) : 5_000
        let value = (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) }
        try await bench.set(key, value)
        model[key] = value
      case 6..<8:
        #expect(try await bench.clear(key) == (model[key] != nil), "step \(step)")
        model[key] = nil
      default:
        #expect(try bench.bytes(key) == model[key], "step \(step)")
      }
      if step.isMultiple(of: 250) { try await bench.restart() }
    }
    for (key, value) in model { #expect(try bench.bytes(key) == value) }
    #expect(try await bench.store.list(nil, FileBench.patience).count == model.count)
    #expect(try await bench.store.verify() == Verification(records: model.count, damaged: 0, sound: true))
  }
}

/// A generator that gives the same numbers each time (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
