// The file as a whole: what is no vault file is never touched, what cannot be written is read, and one daemon
// has it.

import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import Database
@testable import FileStore

@Suite struct WholeFileTests {
  init() { startVaultActor() }

  @Test("a file that is not ours, is empty, cut or has a damaged header is damaged and stays as it is")
  @VaultActor func notOurs() async throws {
    let bench = try await FileBench()
    for number in 0..<50 { try await bench.set("App.k\(number)", "v\(number)") }
    try await bench.restart(unlocking: false) { try bench.settle() }
    let whole = try contents(of: bench.file)
    func changed(_ place: Int) -> [UInt8] {
      var bytes = whole
      bytes[place] ^= 0x40
      return bytes
    }
    let schema = try #require(whole.indices.first { whole[$0...].starts(with: "CREATE TABLE header".utf8) })
    let files: [(String, [UInt8])] = [
      ("empty", []), ("text", Array("not a vault\n".utf8)), ("zeros", [UInt8](repeating: 0, count: 65_536)),
      ("half", Array(whole[..<(whole.count / 2)])), ("head", Array(whole[..<100])), ("magic", changed(3)),
      ("journal mode", changed(18)), ("application", changed(70)), ("schema", changed(schema)),
    ]
    for (what, bytes) in files {
      try await bench.restart {
        for side in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: bench.file + side) }
        try overwrite(bench.file, with: bytes)
      }
      #expect(try bench.outcome("App.k1") == .damaged, "\(what)")
      #expect(
        try await vaultError { try await bench.set("App.new", "value") }?.outcome == .damaged, "\(what)")
      #expect(try await vaultError { try await bench.store.unlock(nil) }?.outcome == .damaged, "\(what)")
      #expect(bench.store.exists && bench.store.recordCount == nil, "\(what)")
      #expect(
        bench.store.status.state == .damaged && bench.store.status.detail.contains("/vault.db"), "\(what)")
      let error = try await vaultError {
        try await bench.store.initialise(.keyFile(bench.temporary.path + "/other"))
      }
      #expect(error?.outcome == .invalidArgument, "\(what)")
      #expect(try contents(of: bench.file) == bytes, "\(what)")
    }
    // A copy put back is used without a restart.
    try overwrite(bench.file, with: whole)
    try await bench.store.unlock(nil)
    #expect(try bench.get("App.k1") == "v1")
  }

  @Test("a newer format is told apart from damage by its checksum, and nothing is touched")
  @VaultActor func newer() async throws {
    let bench = try await FileBench()
    try await bench.set("App.token", "value")
    let vault = try bench.store.unlocked().keys.vault
    var image = ByteWriter()
    image.add(Int64(2))
    image.add(fixed: vault.array)
    let checksum = try Checksum.of(image.bytes).map { String(format: "%02x", $0) }.joined()

    try await bench.restart { try bench.tamper("UPDATE header SET format = 2; PRAGMA user_version = 2") }
    #expect(try bench.outcome("App.token") == .damaged)
    try await bench.restart {
      try bench.tamper("UPDATE header SET checksum = x'\(checksum)'; CREATE TABLE more (x)")
    }
    let before = try contents(of: bench.file)
    #expect(
      try await vaultError { try await bench.store.unlock(nil) }
        == .unsupportedVersion(found: 2, supported: 1))
    #expect(try bench.outcome("App.token") == .unsupportedVersion)
    #expect(
      try await vaultError { try await bench.set("App.token", "other") }?.outcome == .unsupportedVersion)
    #expect(bench.store.status.state == .unavailable)
    #expect(try contents(of: bench.file) == before)
  }

  @Test("tables, triggers and indexes that somebody added make the file damaged")
  @VaultActor func addedTables() async throws {
    let additions = [
      "CREATE TABLE more (x)", "CREATE VIEW more AS SELECT 1", "CREATE INDEX more ON record (version)",
      "CREATE TRIGGER more AFTER DELETE ON record BEGIN SELECT 1; END", "ALTER TABLE record ADD COLUMN more",
      "DROP TABLE state",
    ]
    for addition in additions {
      let bench = try await FileBench()
      try await bench.set("App.token", "value")
      try await bench.restart { try bench.tamper(addition) }
      #expect(try bench.outcome("App.token") == .damaged, "\(addition)")
    }
  }

  @Test("a state of the set that does not open makes the whole file damaged, not the passphrase wrong")
  @VaultActor func noState() async throws {
    for change in [
      "UPDATE state SET sealed = zeroblob(length(sealed))", "UPDATE state SET sealed = x''",
      "DELETE FROM state",
    ] {
      let bench = try await FileBench()
      try await bench.set("App.token", "value")
      try await bench.restart(unlocking: false) { try bench.tamper(change) }
      #expect(try await vaultError { try await bench.store.unlock(nil) }?.outcome == .damaged, "\(change)")
      #expect(try bench.outcome("App.token") == .damaged)
      #expect(try await vaultError { try await bench.set("App.token", "other") }?.outcome == .damaged)
    }
  }

  @Test("init makes one file, and never over another")
  @VaultActor func initialising() async throws {
    let bench = try await FileBench()
    try await bench.set("App.token", "value")
    for locked in [false, true] {
      if locked { bench.store.forget() }
      let error = try await vaultError {
        try await bench.store.initialise(.keyFile(bench.temporary.path + "/other"))
      }
      #expect(error?.outcome == .invalidArgument)
      #expect(!FileManager.default.fileExists(atPath: bench.temporary.path + "/other"))
    }
    try await bench.restart()
    #expect(try bench.get("App.token") == "value")
    let files = try FileManager.default.contentsOfDirectory(atPath: bench.data).sorted()
    #expect(files == ["vault.anchor", "vault.db", "vault.db-shm", "vault.db-wal", "vault.lock"])
    for file in files { #expect(try mode(of: "\(bench.data)/\(file)") == 0o600) }
    #expect(try mode(of: bench.data) == 0o700)
  }

  @Test("what a killed init left does not count as a file, and is cleaned up")
  @VaultActor func killedInit() async throws {
    let bench = try await FileBench(initialised: false)
    for name in ["vault.db.new", "vault.db.new-journal", "vault.db-wal"] {
      try overwrite("\(bench.data)/\(name)", with: [1, 2, 3])
    }
    #expect(!bench.store.exists)
    try await bench.store.initialise(.keyFile(bench.key))
    try await bench.set("App.token", "value")
    try await bench.restart()
    #expect(try bench.get("App.token") == "value")
    #expect(!FileManager.default.fileExists(atPath: bench.data + "/vault.db.new"))
  }

  @Test("files and folder that are too loose are tightened")
  @VaultActor func loose() async throws {
    let bench = try await FileBench()
    try await bench.set("App.token", "value")
    try await bench.restart {
      try setMode(of: bench.data, to: 0o755)
      for file in ["vault.db", "vault.db-wal", "vault.db-shm", "vault.lock"] {
        try setMode(of: "\(bench.data)/\(file)", to: 0o644)
      }
    }
    #expect(try bench.get("App.token") == "value")
    for file in ["vault.db", "vault.db-wal", "vault.db-shm", "vault.lock"] {
      #expect(try mode(of: "\(bench.data)/\(file)") == 0o600)
    }
    #expect(try mode(of: bench.data) == 0o700)
  }

  @Test("a second daemon on the folder has no file, says whose it is, and does no harm")
  @VaultActor func second() async throws {
    let bench = try await FileBench()
    try await bench.set("App.token", "value")
    let second = FileStore(folder: DataFolder(bench.data), clock: bench.clock, credentials: nil)
    #expect(second.status.state == .unavailable)
    #expect(second.status.detail.contains("another vaultd") && second.status.detail.contains(bench.data))
    guard case .failed(let error) = second.lookUp(try bench.id("App.token")) else { return }
    #expect(error.outcome == .unavailable)
    #expect(try await vaultError { try await second.unlock(nil) }?.outcome == .unavailable)
    let failed = try await vaultError {
      try await second.initialise(.keyFile(bench.temporary.path + "/other"))
    }
    #expect(failed?.outcome == .unavailable)
    try await bench.set("App.token", "newer")
    #expect(try bench.get("App.token") == "newer")
  }

  @Test("a folder that another daemon had is tried again once it is free, where a request needs it")
  @VaultActor func secondLater() async throws {
    let bench = try await FileBench()
    try await bench.set("App.token", "value")
    let folder = DataFolder(bench.data)
    let second = FileStore(folder: folder, clock: bench.clock, credentials: nil)
    func outcome() throws -> Outcome? {
      switch second.lookUp(try bench.id("App.token")) {
      case .failed(let error): error.outcome
      case .found, .missing, .mustWait: nil
      }
    }
    #expect(try outcome() == .unavailable)
    await bench.close()
    // The file thread of the first may take a moment.
    try await until("the file's thread has ended") { DataFolder(bench.data).fault == nil }
    // Tried a moment ago: not again yet.
    #expect(try outcome() == .unavailable)
    bench.clock.pass(milliseconds: Limits.folderMilliseconds - 1)
    #expect(try outcome() == .unavailable)
    bench.clock.pass(milliseconds: 1)
    try await until("the file is read") {
      let outcome = try outcome()
      #expect(outcome != .unavailable)
      return outcome == nil
    }
    #expect(second.status.state == .available)
    await second.close()
    #expect(try outcome() == .unavailable)
  }

  @Test("in a read-only folder tokens are read and set names the path; it is written again when it can be")
  @VaultActor func readOnly() async throws {
    let bench = try await FileBench()
    try await bench.set("App.token", "value")
    try await bench.restart { try setMode(of: bench.data, to: 0o500) }
    #expect(try bench.get("App.token") == "value")
    #expect(bench.store.status.state == .available)
    let failures = [
      try await vaultError { try await bench.set("App.token", "newer") },
      try await vaultError { _ = try await bench.clear("App.token") },
      try await vaultError { _ = try await bench.store.addSlot(.keyFile(bench.temporary.path + "/other")) },
    ]
    for failure in failures {
      #expect(failure?.outcome == .unavailable && failure?.description.contains(bench.data) == true)
    }
    #expect(!FileManager.default.fileExists(atPath: bench.temporary.path + "/other"))
    #expect(try bench.get("App.token") == "value")
    #expect(try await bench.store.verify() == Verification(records: 1, damaged: 0, sound: true))
    try setMode(of: bench.data, to: 0o700)
    try await bench.set("App.token", "newer")
    #expect(try bench.get("App.token") == "newer")
  }

  @Test("a file that was replaced while it is open is written no more, and read as it was")
  @VaultActor func replaced() async throws {
    let bench = try await FileBench()
    try await bench.set("App.token", "old")
    try bench.settle()
    let old = try contents(of: bench.file)
    try await bench.set("App.token", "new")
    try FileManager.default.moveItem(atPath: bench.file, toPath: bench.temporary.path + "/moved")
    try overwrite(bench.file, with: old)
    #expect(try bench.get("App.token") == "new")
    let failure = try await vaultError { try await bench.set("App.token", "newer") }
    #expect(failure?.outcome == .unavailable && failure?.description.contains("restart vaultd") == true)
    #expect(try bench.get("App.token") == "new")
  }

  @Test("names are nowhere in the files in the clear")
  @VaultActor func nothingReadable() async throws {
    let bench = try await FileBench()
    var entry = bench.entry(try bench.id("N4MESP4CE.N4ME", "4CC0UNT"))
    entry.label = "L4BEL"
    try await bench.store.write(
      entry, SharedSecret(try SecretBytes(copying: "SECR3T")), FileBench.patience)
    let text = String(decoding: try bench.everything(), as: UTF8.self)
    for marker in ["N4MESP4CE", "N4ME", "4CC0UNT", "L4BEL", "SECR3T"] { #expect(!text.contains(marker)) }
  }
}
