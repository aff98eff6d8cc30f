// What lives until logout: there again after a restart, gone with the folder or the key, in memory and nowhere else
// (behaviour.md, "Entries"). The folders are in /dev/shm; the keys are in the kernel's keyring of this user.

import Foundation
import SecretMemory
import StoreConformance
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import Database
@testable import FileStore

@Suite struct SessionStoreTests {
  init() { startVaultActor() }

  /// A runtime folder, with words for what happens to it.
  @VaultActor final class Session {
    let runtime: TemporaryFolder
    let clock = SettableClock()
    let managed: Bool
    private(set) var store: SessionStore

    init(inMemory: Bool = true, managed: Bool = false) throws {
      runtime = try TemporaryFolder(inMemory: inMemory)
      self.managed = managed
      store = SessionStore(runtimeFolder: runtime.path, clock: clock, startedByManager: managed)
    }

    var folder: String { runtime.path + "/vault" }
    var ring: SessionRing { SessionRing(folder: folder, startedByManager: managed) }
    var fingerprintRing: SessionRing {
      SessionRing(.fingerprints, folder: folder, startedByManager: managed)
    }

    func restart(_ meanwhile: () throws -> Void = {}) async throws {
      await store.close()
      store = SessionStore(runtimeFolder: nil, clock: clock, startedByManager: managed)
      try await until("the file's thread has ended") { DataFolder(folder).fault == nil }
      try meanwhile()
      store = SessionStore(runtimeFolder: runtime.path, clock: clock, startedByManager: managed)
      try await store.unlock()
    }

    func id(_ key: String) throws -> EntryID { EntryID(try Key(key)) }

    func set(_ key: String, _ value: String) async throws {
      clock.pass(milliseconds: 1)
      var entry = Entry(
        id: try id(key), version: clock.wall.milliseconds, created: clock.wall, modified: clock.wall, size: 0,
        store: .session)
      entry.untilLogout = true
      try await store.write(entry, SharedSecret(try SecretBytes(copying: value)), FileBench.patience)
    }

    func get(_ key: String) throws -> String? {
      switch store.lookUp(try id(key)) {
      case .found(let token):
        token.secret.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
      case .missing: nil
      case .failed(let error): throw error
      case .mustWait: throw VaultError.internal(reason: "the session store never waits")
      }
    }
  }

  @Test("it keeps what every store promises", arguments: [false, true])
  @VaultActor func conformance(managed: Bool) async throws {
    let session = try Session(managed: managed)
    defer { session.ring.drop() }
    try await checkConformance(of: session.store, clock: session.clock)
  }

  @Test("nothing is made before the first write; then a file of ours alone, with nothing to read in it")
  @VaultActor func makesItself() async throws {
    let session = try Session()
    defer { session.ring.drop() }
    try await session.store.unlock()
    #expect(try session.get("App.token") == nil)
    #expect(session.store.isUnlocked && session.store.status.state == .available)
    #expect(try await session.store.list(nil, FileBench.patience).isEmpty)
    #expect(!FileManager.default.fileExists(atPath: session.folder))
    #expect(!session.ring.holdsKey)

    try await session.set("N4MESP4CE.N4ME", "SECR3T")
    #expect(try session.get("N4MESP4CE.N4ME") == "SECR3T")
    #expect(try mode(of: session.folder) == 0o700)
    for file in try FileManager.default.contentsOfDirectory(atPath: session.folder) {
      #expect(try mode(of: "\(session.folder)/\(file)") == 0o600)
      let text = String(decoding: try contents(of: "\(session.folder)/\(file)"), as: UTF8.self)
      for marker in ["N4MESP4CE", "N4ME", "SECR3T"] { #expect(!text.contains(marker)) }
    }
    let entries = try await session.store.list(nil, FileBench.patience)
    #expect(entries.map(\.store) == [.session] && entries.map(\.untilLogout) == [true])
  }

  @Test("a restart of the daemon keeps it, whoever starts it")
  @VaultActor func restarted() async throws {
    for managed in [false, true] {
      let session = try Session(managed: managed)
      defer { session.ring.drop() }
      try await session.set("App.token", "value")
      try await session.restart()
      #expect(try session.get("App.token") == "value")
      await session.store.close()
      // By hand after the manager's, and the other way round.
      try await until("the file's thread has ended") { DataFolder(session.folder).fault == nil }
      let other = SessionStore(
        runtimeFolder: session.runtime.path, clock: session.clock, startedByManager: !managed)
      try await other.unlock()
      #expect(try await other.read(try session.id("App.token"), FileBench.patience) != nil)
      await other.close()
    }
  }

  @Test("a lock wipes the key, and unlock fetches it again")
  @VaultActor func locked() async throws {
    let session = try Session()
    defer { session.ring.drop() }
    try await session.set("App.token", "value")
    session.store.forget()
    #expect(!session.store.isUnlocked && session.store.status.state == .locked)
    #expect(throws: VaultError.self) { try session.get("App.token") }
    let failure = try await vaultError { try await session.set("App.other", "value") }
    #expect(failure?.outcome == .locked && failure?.description.contains("vault unlock") == true)
    try await session.store.unlock()
    #expect(try session.get("App.token") == "value")
    // The session may end meanwhile.
    session.store.forget()
    session.ring.drop()
    try await session.store.unlock()
    #expect(try session.get("App.token") == nil)
  }

  @Test(
    "the key of fingerprints is there for the next daemon, in no file, also while it is locked, until logout")
  @VaultActor func fingerprintKey() async throws {
    for managed in [false, true] {
      let session = try Session(managed: managed)
      defer {
        session.ring.drop()
        session.fingerprintRing.drop()
      }
      func bytes(_ key: SharedSecret?) -> [UInt8]? {
        key?.withBytes { bytes in bytes.indices.map { bytes[$0] } }
      }
      #expect(session.store.fingerprintKey(making: false) == nil)
      let key = try #require(bytes(session.store.fingerprintKey(making: true)))
      #expect(key.count == 32 && Set(key).count > 1)
      #expect(bytes(session.store.fingerprintKey(making: true)) == key)
      #expect(!FileManager.default.fileExists(atPath: session.folder), "it needs no file")
      try await session.set("App.token", "value")
      #expect(bytes(session.ring.holdsKey ? try session.ring.read() : nil) != key, "it is of no other use")
      session.store.forget()
      #expect(bytes(session.store.fingerprintKey(making: false)) == key)
      try await session.restart()
      #expect(bytes(session.store.fingerprintKey(making: false)) == key)
      session.fingerprintRing.drop()
      #expect(session.store.fingerprintKey(making: false) == nil)
      #expect(try #require(bytes(session.store.fingerprintKey(making: true))) != key)
    }
    let nowhere = SessionStore(runtimeFolder: nil, clock: SettableClock(), startedByManager: false)
    #expect(nowhere.fingerprintKey(making: true) == nil)
  }

  @Test("without its key the file is empty, also under a running daemon, and the next write replaces it")
  @VaultActor func keyGone() async throws {
    let session = try Session()
    defer { session.ring.drop() }
    for isRunning in [true, false] {
      try await session.set("App.token", "value")
      if isRunning { session.ring.drop() } else { try await session.restart { session.ring.drop() } }
      #expect(try session.get("App.token") == nil)
      #expect(session.store.status.state == .available && session.store.status.entries == 0)
      #expect(try await session.store.list(nil, FileBench.patience).isEmpty)
      #expect(
        try await session.store.remove(try session.id("App.token"), version: 1, FileBench.patience) == false)
      try await session.set("App.other", "new")
      #expect(try session.get("App.other") == "new")
      #expect(try session.get("App.token") == nil)
      try await session.restart()
      #expect(try session.get("App.other") == "new")
    }
  }

  @Test("without its folder it is empty, and begins anew")
  @VaultActor func folderGone() async throws {
    let session = try Session()
    defer { session.ring.drop() }
    try await session.set("App.token", "value")
    try FileManager.default.removeItem(atPath: session.folder)
    #expect(try session.get("App.token") == nil)
    try await session.set("App.token", "new")
    #expect(try session.get("App.token") == "new")
    try await session.restart()
    #expect(try session.get("App.token") == "new")
  }

  @Test("where the runtime folder is on a disk or not there nothing is written, and the text says why")
  @VaultActor func nowhere() async throws {
    let session = try Session(inMemory: false)
    let missing = SessionStore(runtimeFolder: nil, clock: session.clock, startedByManager: false)
    for store in [session.store, missing] {
      #expect(store.status.state == .unavailable && !store.isUnlocked)
      guard case .missing = store.lookUp(try session.id("App.token")) else {
        Issue.record("nothing can be there")
        return
      }
      let entry = Entry(
        id: try session.id("App.token"), version: 1, created: session.clock.wall,
        modified: session.clock.wall,
        size: 0, store: .session)
      let failure = try await vaultError {
        try await store.write(entry, SharedSecret(try SecretBytes(copying: "x")), FileBench.patience)
      }
      #expect(failure?.outcome == .unavailable)
      let text = failure?.description ?? ""
      #expect(text.contains("XDG_RUNTIME_DIR") || text.contains(session.runtime.path), "\(text)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: session.runtime.path).isEmpty)
  }

  @Test("a file that somebody changed is damaged and not replaced; removing it helps")
  @VaultActor func damaged() async throws {
    let session = try Session()
    defer { session.ring.drop() }
    try await session.set("App.token", "value")
    let path = session.folder + "/session.db"
    await session.store.close()
    let bytes = try contents(of: path)
    var changed = bytes
    // The sealed state is the longest run of bytes that are not zero: any of its first page will do.
    for place in stride(from: 4_096, to: changed.count, by: 97) { changed[place] ^= 0x40 }
    try overwrite(path, with: changed)
    try await until("the file's thread has ended") { DataFolder(session.folder).fault == nil }
    let store = SessionStore(
      runtimeFolder: session.runtime.path, clock: session.clock, startedByManager: false)
    #expect(try await vaultError { try await store.unlock() }?.outcome == .damaged)
    guard case .failed(let error) = store.lookUp(try session.id("App.token")) else {
      Issue.record("a damaged file answers")
      return
    }
    #expect(error.outcome == .damaged && error.description.contains("remove it"))
    #expect(try contents(of: path) == changed)
    try FileManager.default.removeItem(atPath: path)
    #expect(store.status.state == .available)
    await store.close()
  }

  @Test("what another daemon has is not missing, and is there once that is gone")
  @VaultActor func second() async throws {
    let session = try Session()
    defer { session.ring.drop() }
    try await session.set("App.token", "value")
    let second = SessionStore(
      runtimeFolder: session.runtime.path, clock: session.clock, startedByManager: false)
    let id = try session.id("App.token")
    guard case .failed(let error) = second.lookUp(id) else {
      Issue.record("a file of another daemon answers")
      return
    }
    #expect(error.outcome == .unavailable && error.description.contains("another vaultd"))
    #expect(try await vaultError { _ = try await second.read(id, FileBench.patience) } == error)
    #expect(try await vaultError { try await second.unlock() } == error)
    #expect(!second.isUnlocked && second.status.state == .unavailable)
    await session.store.close()
    try await session.restart()
    await session.store.close()
    try await until("the second store opens") { try await vaultError({ try await second.unlock() }) == nil }
    #expect(try await second.read(id, FileBench.patience) != nil)
    await second.close()
  }

  @Test("many first writes at once make one file")
  @VaultActor func together() async throws {
    let session = try Session()
    defer { session.ring.drop() }
    let tasks = (0..<20).map { number in Task { @VaultActor in try await session.set("App.k\(number)", "v") }
    }
    for task in tasks { try await task.value }
    #expect(try await session.store.list(nil, FileBench.patience).count == 20)
  }
}
