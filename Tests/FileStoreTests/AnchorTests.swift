// A log that lost its tail, or is gone, leaves an older copy of the file that authenticates. The anchor tells it
// after a crash, and `verify` while the daemon runs (docs/vault-file.md, "Anchor").

import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import Database
@testable import FileStore

@Suite struct AnchorTests {
  init() { startVaultActor() }

  /// What befalls the log of a daemon that was killed.
  enum Loss: CaseIterable {
    case bit, end, log, all, olderCopy
  }

  /// The data folder as a killed daemon leaves it, after three sets of one key.
  @VaultActor private func killed(_ bench: FileBench) async throws -> (folder: String, older: [UInt8]) {
    try await bench.set("App.token", "1")
    try bench.settle()
    let older = try contents(of: bench.file)
    try await bench.set("App.token", "2")
    try await bench.set("App.token", "3")
    let copy = bench.temporary.path + "/copy"
    try FileManager.default.copyItem(atPath: bench.data, toPath: copy)
    return (copy, older)
  }

  private func inflict(_ loss: Loss, on folder: String, older: [UInt8]) throws {
    let (file, log) = (folder + "/vault.db", folder + "/vault.db-wal")
    var frames = try contents(of: log)
    switch loss {
    case .bit:
      frames[frames.count - 600] ^= 1
      try overwrite(log, with: frames)
    case .end: try overwrite(log, with: Array(frames.dropLast(1)))
    case .log: try FileManager.default.removeItem(atPath: log)
    case .all:
      try FileManager.default.removeItem(atPath: log)
      try FileManager.default.removeItem(atPath: folder + "/vault.db-shm")
    case .olderCopy:
      try overwrite(log, with: [])
      try overwrite(file, with: older)
    }
  }

  @Test(
    "a file that lost acknowledged changes is damaged, says what to do, and is not written to",
    arguments: Loss.allCases)
  @VaultActor func lostTail(loss: Loss) async throws {
    let bench = try await FileBench()
    let (folder, older) = try await killed(bench)
    try inflict(loss, on: folder, older: older)
    let before = try contents(of: folder + "/vault.db")
    let store = FileStore(folder: DataFolder(folder), clock: bench.clock, credentials: nil)
    let error = try await vaultError { try await store.unlock(nil) }
    #expect(error?.outcome == .damaged)
    let text = "\(error as Any)"
    #expect(text.contains("backup") && text.contains(folder + "/vault.anchor"), "\(text)")
    #expect(store.status.state == .damaged && store.exists)
    guard case .failed(let refused) = store.lookUp(try bench.id("App.token")) else {
      Issue.record("an older copy was served")
      return
    }
    #expect(refused == error)
    let other = try await vaultError {
      try await store.write(
        bench.entry(try bench.id("App.other")), SharedSecret(try SecretBytes(copying: "x")),
        FileBench.patience)
    }
    #expect(other == error)
    #expect(try await vaultError { try await store.unlock(nil) } == error)
    #expect(try contents(of: folder + "/vault.db") == before)

    // Whoever wants the older copy removes the anchor; no restart is needed.
    try FileManager.default.removeItem(atPath: folder + "/vault.anchor")
    try await store.unlock(nil)
    let token = try await store.read(try bench.id("App.token"), FileBench.patience)
    let value = token?.secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }
    #expect(value == Array((loss == .bit || loss == .end ? "2" : "1").utf8))
    #expect(try await store.verify().sound)
    await store.close()
  }

  @Test("a killed daemon's file is whole, and so is one that was killed between a commit and the anchor")
  @VaultActor func behind() async throws {
    let bench = try await FileBench()
    let (folder, _) = try await killed(bench)
    let anchor = folder + "/vault.anchor"
    let last = try contents(of: anchor)
    // As it was two changes ago.
    let keys = try bench.store.unlocked().keys
    let older = try Anchor(vault: keys.vault, sequence: 1).bytes(keys)
    try overwrite(anchor, with: older)
    let store = FileStore(folder: DataFolder(folder), clock: bench.clock, credentials: nil)
    try await store.unlock(nil)
    #expect(try await store.read(try bench.id("App.token"), FileBench.patience) != nil)
    #expect(try contents(of: anchor) == last)
    #expect(try await store.verify() == Verification(records: 1, damaged: 0, sound: true))
    await store.close()
  }

  @Test("without an anchor the file is taken as it is, and gets one")
  @VaultActor func noAnchor() async throws {
    let bench = try await FileBench()
    try await bench.set("App.token", "value")
    let anchor = bench.data + "/vault.anchor"
    for made in [false, true] {
      try await bench.restart {
        try FileManager.default.removeItem(atPath: anchor)
        // A power cut may leave one that was made and not written.
        if made { try overwrite(anchor, with: []) }
      }
      #expect(try bench.get("App.token") == "value")
      #expect(try contents(of: anchor).count == Anchor.size && mode(of: anchor) == 0o600)
      #expect(try await bench.store.verify().sound)
    }
    // Also one that is removed while the daemon runs.
    try FileManager.default.removeItem(atPath: anchor)
    try await bench.set("App.token", "newer")
    let keys = try bench.store.unlocked()
    #expect(
      try Anchor.judge(try contents(of: anchor), keys.keys) == .sequence(keys.ledger.state.sequence))
  }

  @Test("an anchor that was damaged counts for nothing, is made anew, and verify and status say so once")
  @VaultActor func damagedAnchor() async throws {
    let bench = try await FileBench()
    try await bench.set("App.token", "value")
    let anchor = bench.data + "/vault.anchor"
    let whole = try contents(of: anchor)
    var damaged = whole.indices.map { place in
      var bytes = whole
      bytes[place] ^= 0x10
      return bytes
    }
    damaged += [
      Array(whole.dropLast()), whole + [0], Array(whole.prefix(1)), [UInt8](repeating: 0, count: 64),
    ]
    for bytes in damaged {
      bench.store.forget()
      try overwrite(anchor, with: bytes)
      try await bench.store.unlock(nil)
      #expect(try bench.get("App.token") == "value")
      #expect(try contents(of: anchor) == whole)
      let isForeign =
        bytes.count == Anchor.size && bytes[8..<24] != whole[8..<24] && bytes[..<8] == whole[..<8]
      #expect(try await bench.store.verify() == Verification(records: 1, damaged: 0, sound: isForeign))
      #expect(bench.store.status.detail.contains("anchor was damaged") == !isForeign)
    }
    try await bench.restart()
    #expect(try await bench.store.verify().sound && bench.store.status.detail.hasSuffix("vault.db"))
  }

  @Test("another vault's anchor says nothing about this file, and is replaced")
  @VaultActor func foreignAnchor() async throws {
    let (bench, other) = (try await FileBench(), try await FileBench())
    try await bench.set("App.token", "value")
    for number in 0..<20 { try await other.set("App.k\(number)", "value") }
    try await bench.restart {
      try overwrite(bench.data + "/vault.anchor", with: try contents(of: other.data + "/vault.anchor"))
    }
    #expect(try bench.get("App.token") == "value")
    let (_, keys, ledger) = try bench.store.unlocked().parts
    let anchor = try contents(of: bench.data + "/vault.anchor")
    #expect(try Anchor.judge(anchor, keys) == .sequence(ledger.state.sequence))
  }

  @Test("what is no plain file in the anchor's place is not followed")
  @VaultActor func link() async throws {
    let bench = try await FileBench()
    try await bench.set("App.token", "value")
    let (anchor, target) = (bench.data + "/vault.anchor", bench.temporary.path + "/target")
    try overwrite(target, with: [1, 2, 3])
    try await bench.restart(unlocking: false) {
      try FileManager.default.removeItem(atPath: anchor)
      try FileManager.default.createSymbolicLink(atPath: anchor, withDestinationPath: target)
    }
    let error = try await vaultError { try await bench.store.unlock(nil) }
    #expect(error?.outcome == .unavailable && error?.description.contains(anchor) == true)
    #expect(try contents(of: target) == [1, 2, 3])
    try FileManager.default.removeItem(atPath: anchor)
    try await bench.store.unlock(nil)
    #expect(try bench.get("App.token") == "value")
  }

  @Test(
    "verify says unsound when the log is damaged or gone while the daemon runs",
    arguments: [Loss.bit, .end, .log])
  @VaultActor func verifyWhileRunning(loss: Loss) async throws {
    let bench = try await FileBench()
    try await bench.set("App.token", "1")
    try bench.settle()
    for number in 1...5 { try await bench.set("App.token", "\(number)") }
    #expect(try await bench.store.verify() == Verification(records: 1, damaged: 0, sound: true))
    let log = bench.file + "-wal"
    let frames = try contents(of: log)
    try damage(log, loss, frames)
    let verification = try await bench.store.verify()
    #expect(!verification.sound && verification.damaged >= 1, "\(verification)")
    // What the connections of this process remember is not asked.
    #expect(try bench.outcome("App.token") == nil || loss != .log)
    if loss != .log {
      let file = try FileHandle(forWritingTo: URL(filePath: log))
      try file.write(contentsOf: frames)
      try file.close()
      #expect(try await bench.store.verify().sound)
    }
  }

  private func damage(_ log: String, _ loss: Loss, _ frames: [UInt8]) throws {
    switch loss {
    case .log, .all, .olderCopy: try FileManager.default.removeItem(atPath: log)
    case .bit, .end:
      // In place: SQLite has it open.
      let file = try FileHandle(forUpdating: URL(filePath: log))
      if loss == .end {
        try file.truncate(atOffset: UInt64(frames.count - 1))
      } else {
        try file.seek(toOffset: UInt64(frames.count - 600))
        try file.write(contentsOf: [frames[frames.count - 600] ^ 1])
      }
      try file.close()
    }
  }
}
