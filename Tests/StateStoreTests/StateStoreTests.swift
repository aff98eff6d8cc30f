// `state.db`: what was acknowledged is there after a restart, and what cannot be kept is said.

import Foundation
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import Database
@testable import StateStore

/// A folder for a state, and the words that tests use of it.
@VaultActor struct StateBench {
  let temporary: TemporaryFolder
  let clock = SettableClock()

  init(inMemory: Bool = false) throws { temporary = try TemporaryFolder(inMemory: inMemory) }

  func open() -> StateStore { StateStore(folder: DataFolder(temporary.path), clock: clock) }

  func id(_ key: String, _ account: String = "") throws -> EntryID {
    EntryID(try Key(key), try Account(account))
  }

  func entry(_ id: EntryID, version: Version) -> Entry {
    Entry(
      id: id, version: version, created: clock.wall, modified: clock.wall,
      expires: WallTime(seconds: 2_000_000_000),
      idle: 60, label: "label", size: 12, store: .secretService)
  }
}

@Suite struct StateStoreTests {
  init() { startVaultActor() }

  @Test("records of every standing come back after a restart, byte for byte")
  @VaultActor func reopened() async throws {
    let bench = try StateBench()
    let (composed, decomposed) = (try bench.id("App.caf\u{E9}"), try bench.id("App.cafe\u{301}"))
    let (account, cleared) = (try bench.id("App.caf\u{E9}", "alice"), try bench.id("App.Sub.x"))
    let (begun, over) = (try bench.id("App.begun"), try bench.id("App.over"))
    let records = [
      StateRecord(id: composed, version: 3, standing: .present(bench.entry(composed, version: 3))),
      StateRecord(
        id: decomposed, version: 4, standing: .superseded(old: bench.entry(decomposed, version: 2)),
        intent: Intent(bench.entry(decomposed, version: 4))),
      StateRecord(id: account, version: 5, standing: .superseded(old: nil)),
      StateRecord(id: cleared, version: 9, standing: .removed(at: WallTime(milliseconds: 1_899_000_000_123))),
      StateRecord(
        id: begun, version: 0, standing: .absent,
        intent: Intent(bench.entry(begun, version: 10), Fingerprint((0..<24).map { $0 * 10 }))),
      StateRecord(id: over, version: 6, standing: .expired(bench.entry(over, version: 6))),
    ]
    do {
      let state = bench.open()
      #expect(state.trouble == nil && state.isEmpty && !state.providerAnswered && state.highestVersion == 0)
      for record in records { try await state.keep(record) }
      try await state.noteProvider()
      await state.close()
    }
    let state = bench.open()
    #expect(state.notice == nil)
    for record in records { #expect(try state.record(record.id) == record) }
    #expect(Set(try state.records(nil)) == Set(records))
    #expect(try state.records(Namespace("App")).count == 5)
    #expect(try state.records(Namespace("App.Sub")).map(\.id) == [cleared])
    #expect(try state.record(try bench.id("App.other")) == nil)
    #expect((state.presentCount, state.removalCount) == (1, 1))
    #expect(state.highestVersion == 10 && state.providerAnswered && !state.isEmpty)
  }

  @Test(
    "removals of namespaces and the latest time are kept through restarts, the time also where clocks go back"
  )
  @VaultActor func removalsAndTime() async throws {
    let bench = try StateBench()
    let (app, sub) = (try Namespace("App"), try Namespace("App.Sub"))
    let all = NamespaceRemoval(namespace: app, account: nil, version: 5)
    let newer = NamespaceRemoval(namespace: app, account: nil, version: 9)
    let ofOne = NamespaceRemoval(namespace: app, account: try Account("alice"), version: 6)
    let ofNobody = NamespaceRemoval(namespace: app, account: try Account(""), version: 7)
    let other = NamespaceRemoval(namespace: sub, account: nil, version: 8)
    let latest: WallTime
    do {
      let state = bench.open()
      for removal in [all, ofOne, ofNobody, other, newer] { try await state.keep(removal) }
      #expect(Set(state.namespaceRemovals) == [newer, ofOne, ofNobody, other])
      #expect(state.isEmpty && state.highestVersion == 9)
      latest = bench.clock.wall
      #expect(state.latestTime == latest)
      bench.clock.wall = WallTime(milliseconds: latest.milliseconds - 60_000)
      try await state.noteTime()
      #expect(state.latestTime == latest)
      await state.close()
    }
    let state = bench.open()
    #expect(Set(state.namespaceRemovals) == [newer, ofOne, ofNobody, other])
    #expect(state.latestTime == latest)
    try await state.drop(ofOne)
    try await state.drop(NamespaceRemoval(namespace: sub, account: nil, version: 11))
    #expect(state.highestVersion == 11)
    #expect(Set(state.namespaceRemovals).isSuperset(of: [newer, ofNobody]))
    #expect(!state.namespaceRemovals.contains(ofOne))
    bench.clock.pass(milliseconds: 120_000)
    try await state.noteTime()
    #expect(state.latestTime == bench.clock.wall && bench.clock.wall.milliseconds > latest.milliseconds)
  }

  @Test("a record is replaced and dropped, and the largest version stays")
  @VaultActor func dropped() async throws {
    let bench = try StateBench()
    let state = bench.open()
    let key = try bench.id("App.token")
    try await state.keep(StateRecord(id: key, version: 7, standing: .present(bench.entry(key, version: 7))))
    try await state.keep(StateRecord(id: key, version: 8, standing: .removed(at: bench.clock.wall)))
    #expect((state.presentCount, state.removalCount) == (0, 1))
    try await state.drop(key, version: 12)
    #expect(try state.record(key) == nil)
    #expect((state.presentCount, state.removalCount, state.highestVersion) == (0, 0, 12))
    try await state.drop(key, version: 3)
    #expect(state.highestVersion == 12)
  }

  @Test("a state whose tables are of another shape is moved aside, and begins anew")
  @VaultActor func otherShape() async throws {
    let bench = try StateBench()
    let key = try bench.id("App.token")
    do {
      let state = bench.open()
      try await state.keep(StateRecord(id: key, version: 7, standing: .present(bench.entry(key, version: 7))))
      await state.close()
    }
    do {
      let connection = try Connection(bench.temporary.path + "/state.db", .write, layer: .system)
      try connection.execute("ALTER TABLE record DROP COLUMN fingerprint")
    }
    let state = bench.open()
    #expect(state.trouble == nil && state.isEmpty)
    #expect(try #require(state.notice).contains("state.db.damaged-"))
    try await state.keep(StateRecord(id: key, version: 8, standing: .present(bench.entry(key, version: 8))))
    #expect(try state.record(key)?.version == 8)
  }

  @Test("a fingerprint of another size is no record of ours")
  @VaultActor func oddFingerprint() async throws {
    let bench = try StateBench()
    let key = try bench.id("App.token")
    let intent = Intent(bench.entry(key, version: 7), Fingerprint((0..<24).map { $0 }))
    do {
      let state = bench.open()
      try await state.keep(StateRecord(id: key, version: 0, standing: .absent, intent: intent))
      await state.close()
    }
    do {
      let connection = try Connection(bench.temporary.path + "/state.db", .write, layer: .system)
      try connection.execute("UPDATE record SET fingerprint = x'0102'")
    }
    let state = bench.open()
    #expect(throws: VaultError.self) { try state.record(key) }
  }

  @Test("a state that was deleted begins anew; one that is damaged is moved aside, and that is said")
  @VaultActor func lost() async throws {
    let bench = try StateBench()
    let key = try bench.id("App.token")
    let record = StateRecord(id: key, version: 7, standing: .present(bench.entry(key, version: 7)))
    do {
      let state = bench.open()
      try await state.keep(record)
      await state.close()
    }
    for file in ["state.db", "state.db-wal", "state.db-shm"] {
      try FileManager.default.removeItem(atPath: "\(bench.temporary.path)/\(file)")
    }
    do {
      let state = bench.open()
      #expect(state.trouble == nil && state.notice == nil && state.isEmpty)
      try await state.keep(record)
      await state.close()
    }
    for damage in [Data(), Data("no database".utf8), Data(repeating: 7, count: 8_192)] {
      try damage.write(to: URL(fileURLWithPath: bench.temporary.path + "/state.db"))
      let state = bench.open()
      #expect(state.trouble == nil && state.isEmpty)
      let aside = try #require(state.notice).split(separator: " ").first { $0.hasPrefix("state.db.damaged-") }
      let kept = try Data(
        contentsOf: URL(fileURLWithPath: "\(bench.temporary.path)/\(try #require(aside).dropLast())"))
      #expect(kept == damage)
      try await state.keep(record)
      await state.close()
      bench.clock.pass(milliseconds: 1)
    }
  }

  @Test("a bit that flipped in the first page is no bug of ours: read all the same, moved aside, or too new")
  @VaultActor func firstPage() async throws {
    let bench = try StateBench(inMemory: true)
    let key = try bench.id("App.token")
    let record = StateRecord(id: key, version: 7, standing: .present(bench.entry(key, version: 7)))
    let path = bench.temporary.path + "/state.db"
    do {
      let state = bench.open()
      try await state.keep(record)
      await state.close()
    }
    let whole = try contents(of: path)
    for place in whole.indices.prefix(1_024) where place < 100 || place.isMultiple(of: 13) {
      var bytes = whole
      bytes[place] ^= 1 << UInt8(place % 8)
      for side in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + side) }
      try overwrite(path, with: bytes)
      bench.clock.pass(milliseconds: 1)
      let state = bench.open()
      switch state.trouble {
      case nil: #expect(try state.record(key) == record || state.notice != nil, "byte \(place)")
      case .unavailable(_, let reason, _): #expect(reason.contains("newer vaultd"), "byte \(place)")
      case let trouble: Issue.record("byte \(place): \(trouble as Any)")
      }
      await state.close()
    }
  }

  @Test("a state of a newer format is left as it is")
  @VaultActor func newer() async throws {
    let bench = try StateBench()
    do {
      let state = bench.open()
      try await state.noteProvider()
      await state.close()
    }
    let path = bench.temporary.path + "/state.db"
    do {
      let connection = try Connection(path, .write, layer: .system)
      try connection.execute("PRAGMA user_version = 2")
      _ = try connection.emptyLog()
    }
    let before = try Data(contentsOf: URL(fileURLWithPath: path))
    let state = bench.open()
    #expect(throws: VaultError.self) { try state.record(try bench.id("App.token")) }
    await #expect(throws: VaultError.self) { try await state.noteProvider() }
    guard case .unavailable(.state, let reason, _) = state.trouble else {
      Issue.record("a newer state is in use")
      return
    }
    #expect(reason.contains("newer vaultd"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
  }

  @Test("in a read-only folder the state is read and not written; without one nothing is known")
  @VaultActor func readOnly() async throws {
    let bench = try StateBench()
    let key = try bench.id("App.token")
    let record = StateRecord(id: key, version: 7, standing: .present(bench.entry(key, version: 7)))
    do {
      let fresh = try TemporaryFolder()
      try setMode(of: fresh.path, to: 0o500)
      let state = StateStore(folder: DataFolder(fresh.path), clock: bench.clock)
      #expect(state.trouble != nil)
      try setMode(of: fresh.path, to: 0o700)
    }
    let state = bench.open()
    try await state.keep(record)
    try setMode(of: bench.temporary.path, to: 0o500)
    #expect(try state.record(key) == record)
    #expect(state.trouble?.description.contains(bench.temporary.path) == true)
    await #expect(throws: VaultError.self) { try await state.drop(key, version: 8) }
    #expect(try state.record(key) == record)
    try setMode(of: bench.temporary.path, to: 0o700)
    #expect(state.trouble == nil)
    try await state.drop(key, version: 8)
    #expect(try state.record(key) == nil)
  }

  @Test("a state whose folder another daemon had is opened once that is gone")
  @VaultActor func secondLater() async throws {
    let bench = try StateBench(inMemory: true)
    let key = try bench.id("App.token")
    let record = StateRecord(id: key, version: 7, standing: .present(bench.entry(key, version: 7)))
    let second: StateStore
    do {
      let first = bench.open()
      try await first.keep(record)
      second = bench.open()
      #expect(!second.isEmpty, "what it holds is not known")
      #expect(throws: VaultError.self) { try second.record(key) }
      #expect(second.trouble?.outcome == .unavailable)
      await #expect(throws: VaultError.self) { try await second.keep(record) }
      await first.close()
    }
    bench.clock.pass(milliseconds: Limits.folderMilliseconds)
    try await until("the folder is the second one's") {
      bench.clock.pass(milliseconds: Limits.folderMilliseconds)
      return second.trouble == nil
    }
    #expect(try second.record(key) == record)
    try await second.drop(key, version: 8)
    #expect(second.highestVersion == 8)
  }

  @Test(
    "a state whose folder another daemon had is read as soon as that is gone, whatever is asked first",
    arguments: 0..<5)
  @VaultActor func readLater(question: Int) async throws {
    let bench = try StateBench(inMemory: true)
    let key = try bench.id("App.token")
    let removal = NamespaceRemoval(namespace: try Namespace("App"), account: nil, version: 8)
    func isKnown(_ state: StateStore) -> Bool {
      switch question {
      case 0: state.removalCount == 1
      case 1: state.namespaceRemovals == [removal]
      case 2: state.highestVersion == 8
      case 3: (try? state.record(key))?.version == 7
      default: (try? state.records(nil))?.count == 1
      }
    }
    let second: StateStore
    do {
      let first = bench.open()
      try await first.keep(StateRecord(id: key, version: 7, standing: .removed(at: bench.clock.wall)))
      try await first.keep(removal)
      second = bench.open()
      #expect(!isKnown(second))
      await first.close()
    }
    for _ in 0..<10_000 where !isKnown(second) {
      bench.clock.pass(milliseconds: Limits.folderMilliseconds)
      await Task.yield()
    }
    #expect(isKnown(second))
  }

  @Test("a file that was moved away while it is open is written no more")
  @VaultActor func moved() async throws {
    let bench = try StateBench()
    let state = bench.open()
    let key = try bench.id("App.token")
    try await state.keep(StateRecord(id: key, version: 7, standing: .absent))
    try FileManager.default.moveItem(
      atPath: bench.temporary.path + "/state.db", toPath: bench.temporary.path + "/elsewhere.db")
    await #expect(throws: VaultError.self) { try await state.drop(key, version: 8) }
  }
}
