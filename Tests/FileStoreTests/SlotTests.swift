// What opens the vault file, and the three outcomes that are never taken for one another: wrong key, damage,
// newer format (behaviour.md, "The vault file").

import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import Database
@testable import FileStore

@Suite struct SlotTests {
  init() { startVaultActor() }

  @Test("a passphrase opens the file, another one does not, and both are told apart from damage")
  @VaultActor func passphrases() async throws {
    let bench = try await FileBench(initialised: false)
    try await bench.store.initialise(try passphrase("correct horse"))
    #expect(bench.store.isUnlocked)
    try await bench.set("App.token", "value")
    try await bench.restart()
    #expect(bench.store.status.state == .locked)
    guard case .locked(.file, let reason) = try await vaultError({ try await bench.store.unlock(nil) }) else {
      Issue.record("unlocked by nobody")
      return
    }
    #expect(reason.contains("vault unlock"))
    let before = try contents(of: bench.file)
    #expect(
      try await vaultError { try await bench.store.unlock(try passphrase("correct horses")) }
        == .wrongPassphrase)
    #expect(try await vaultError { try await bench.store.unlock(try passphrase("")) } == .wrongPassphrase)
    #expect(!bench.store.isUnlocked)
    #expect(try contents(of: bench.file) == before)
    try await bench.store.unlock(try passphrase("correct horse"))
    #expect(try bench.get("App.token") == "value")
    // A wrong one is told also where the file is open already, and changes nothing.
    #expect(try await vaultError { try await bench.store.unlock(try passphrase("no")) } == .wrongPassphrase)
    #expect(bench.store.isUnlocked)
  }

  @Test("slots are added and removed; each opens the file, and a removed one never again")
  @VaultActor func several() async throws {
    let bench = try await FileBench()
    try await bench.set("App.token", "value")
    let before = try bench.state()
    let second = try await bench.store.addSlot(try passphrase("second"))
    #expect(second.number == 2 && second.kind == .passphrase)
    #expect(try bench.store.slots().map(\.number) == [1, 2])
    #expect(try bench.store.slots().map(\.detail) == [bench.key, ""])
    try await bench.restart(unlocking: false)
    try await bench.store.unlock(try passphrase("second"))
    #expect(try bench.get("App.token") == "value")
    #expect(try bench.state() != before)

    // The slot as a copy of the file has it, put back later.
    let connection = try Connection(bench.file, .read, layer: .system)
    let kept = try SlotRow.readAll(connection)
    try await bench.store.removeSlot(2)
    #expect(try bench.store.slots().map(\.number) == [1])
    try await bench.restart(unlocking: false)
    #expect(
      try await vaultError { try await bench.store.unlock(try passphrase("second")) } == .wrongPassphrase)
    try await bench.restart(unlocking: false) {
      let connection = try Connection(bench.file, .write, layer: .system)
      try #require(kept[1]).write(connection)
    }
    #expect(
      try await vaultError { try await bench.store.unlock(try passphrase("second")) }?.outcome == .damaged)
    try await bench.store.unlock(nil)
    #expect(try bench.get("App.token") == "value")
    #expect(try await bench.store.verify().sound == false)
    // It is no reason to remove the only one that is ours.
    #expect(try await vaultError { try await bench.store.removeSlot(1) }?.outcome == .invalidArgument)
    // Numbers are never used again.
    let third = try await bench.store.addSlot(.keyFile(bench.temporary.path + "/third"))
    #expect(third.number == 3)
  }

  @Test("the last slot stays, and a slot that is not there is none")
  @VaultActor func last() async throws {
    let bench = try await FileBench()
    for number in [Int64(1), 2, 0, -1, .max] {
      let error = try await vaultError { try await bench.store.removeSlot(number) }
      #expect(error?.outcome == .invalidArgument, "\(number)")
    }
    try await bench.restart()
    #expect(bench.store.isUnlocked)
  }

  @Test("no more slots than the limit")
  @VaultActor func limit() async throws {
    let bench = try await FileBench()
    for number in 2...Limits.slots {
      _ = try await bench.store.addSlot(.keyFile(bench.temporary.path + "/key\(number)"))
    }
    let error = try await vaultError {
      _ = try await bench.store.addSlot(.keyFile(bench.temporary.path + "/key\(Limits.slots + 1)"))
    }
    #expect(error?.outcome == .invalidArgument)
    #expect(!FileManager.default.fileExists(atPath: bench.temporary.path + "/key\(Limits.slots + 1)"))
    try await bench.restart()
    #expect(try bench.store.slots().count == Limits.slots)
  }

  @Test(
    "a key file is made 0600 with 64 digits and a line end, and refused where it is loose, foreign or inside")
  @VaultActor func keyFiles() async throws {
    let bench = try await FileBench()
    #expect(try mode(of: bench.key) == 0o600)
    let text = try contents(of: bench.key)
    #expect(text.count == 65 && text.last == 0x0A)
    #expect(text.dropLast().allSatisfy { "0123456789abcdef".utf8.contains($0) })
    // One that is there already is used.
    let other = bench.temporary.path + "/other"
    try overwrite(other, with: Array("ABCDEF0123456789".utf8) + text.prefix(48))
    try setMode(of: other, to: 0o600)
    _ = try await bench.store.addSlot(.keyFile(other))
    bench.store.forget()
    try await bench.store.unlock(.keyFile(other))

    // Neither as a new slot nor to unlock.
    func refusal(_ path: String) async throws -> String {
      let errors = [
        try await vaultError { _ = try await bench.store.addSlot(.keyFile(path)) },
        try await vaultError { try await bench.store.unlock(.keyFile(path)) },
      ]
      return errors.map { if case .invalidArgument("keyFile", let reason) = $0 { reason } else { "" } }
        .min { $0.utf8.count < $1.utf8.count } ?? ""
    }
    try setMode(of: other, to: 0o640)
    #expect(try await refusal(other).contains("chmod 600"))
    try setMode(of: other, to: 0o600)
    for content in ["", "abc\n", String(repeating: "g", count: 64) + "\n"] {
      try overwrite(other, with: Array(content.utf8))
      #expect(try await refusal(other).contains("no key file"))
    }
    try overwrite(other, with: [UInt8](repeating: 0x30, count: Limits.keyFileBytes + 1))
    #expect(try await refusal(other).contains("more than"))
    #expect(try await refusal(bench.temporary.path).contains("plain file"))
    #expect(try await refusal("key").contains("from / on"))
    try makeFolder(bench.data + "/deep")
    for inside in ["/key", "/deep/key", "/../data/key"] {
      #expect(try await refusal(bench.data + inside).contains("in the data folder"))
    }
    try makeLink(bench.temporary.path + "/link", to: bench.data)
    #expect(try await refusal(bench.temporary.path + "/link/key").contains("in the data folder"))
    try makeLink(bench.temporary.path + "/sneaky", to: bench.data + "/vault.lock")
    #expect(try await refusal(bench.temporary.path + "/sneaky").contains("in the data folder"))
  }

  @Test("a credential of systemd opens the file by itself")
  @VaultActor func credentials() async throws {
    let temporary = try TemporaryFolder()
    let clock = SettableClock()
    try overwrite(temporary.path + "/vault", with: Array("what systemd decrypted\n".utf8))
    let folder = DataFolder(temporary.path + "/data")
    let store = FileStore(folder: folder, clock: clock, credentials: temporary.path)
    for name in ["", "a/b", "..", "missing"] {
      #expect(
        try await vaultError { try await store.initialise(.credential(name)) }?.outcome == .invalidArgument)
    }
    #expect(!store.exists)
    try await store.initialise(.credential("vault"))
    await store.close()
    let again = FileStore(folder: folder, clock: clock, credentials: temporary.path)
    try await again.unlock(nil)
    #expect(again.isUnlocked)
    #expect(try again.slots().map(\.detail) == ["vault"])
    await again.close()
    let without = FileStore(folder: folder, clock: clock, credentials: nil)
    guard case .locked(_, let reason) = try await vaultError({ try await without.unlock(nil) }) else {
      return
    }
    #expect(reason.contains("LoadCredentialEncrypted") && reason.contains("vault unlock"))
    await without.close()
  }

  @Test("a key file that is gone or not the right one leaves the file locked, and says which")
  @VaultActor func missingKeyFile() async throws {
    let bench = try await FileBench()
    let key = try contents(of: bench.key)
    try await bench.restart(unlocking: false) { try FileManager.default.removeItem(atPath: bench.key) }
    var error = try await vaultError { try await bench.store.unlock(nil) }
    #expect(error?.outcome == .locked && error?.description.contains(bench.key) == true)
    try overwrite(bench.key, with: key.reversed().drop { $0 == 0x0A } + [0x0A])
    try setMode(of: bench.key, to: 0o600)
    error = try await vaultError { try await bench.store.unlock(nil) }
    #expect(error?.outcome == .locked && error?.description.contains("does not open slot 1") == true)
    #expect(try await vaultError { try await bench.store.unlock(.keyFile(bench.key)) } == .wrongPassphrase)
    try overwrite(bench.key, with: key)
    try await bench.store.unlock(nil)
    #expect(bench.store.isUnlocked)
  }

  @Test("a damaged slot is damage and no wrong passphrase, whichever byte of it was changed")
  @VaultActor func damagedSlot() async throws {
    let bench = try await FileBench()
    _ = try await bench.store.addSlot(.keyFile(bench.temporary.path + "/second"))
    let other = bench.temporary.path + "/third"
    try overwrite(other, with: Array(String(repeating: "0", count: 64).utf8))
    try setMode(of: other, to: 0o600)
    let changes = [
      "kind = 'passphrase'", "kind = 'other'", "detail = detail || 'x'", "created = created + 1",
      "salt = zeroblob(32)", "salt = x''", "log_n = 17", "log_n = 1099511627776", "r = 1", "p = -1",
      "wrapped = zeroblob(60)", "wrapped = x''", "checksum = zeroblob(16)", "checksum = x''",
    ]
    try await bench.restart { try bench.settle() }
    let before = try contents(of: bench.file)
    for change in changes {
      try await bench.restart(unlocking: false) {
        try bench.tamper("UPDATE slot SET \(change) WHERE number = 1")
      }
      #expect(
        try await vaultError { try await bench.store.unlock(.keyFile(bench.key)) }?.outcome == .damaged,
        "\(change)")
      #expect(
        try await vaultError { try await bench.store.unlock(.keyFile(other)) }?.outcome == .damaged,
        "\(change)")
      // The other slot opens the file as ever.
      try await bench.store.unlock(nil)
      #expect(bench.store.isUnlocked)
      #expect(try await bench.store.verify().sound == false)
      try await bench.restart(unlocking: false) {
        for side in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: bench.file + side) }
        try overwrite(bench.file, with: before)
      }
    }
    // Without a sound one nothing does.
    try await bench.restart(unlocking: false) { try bench.tamper("UPDATE slot SET checksum = zeroblob(16)") }
    #expect(try await vaultError { try await bench.store.unlock(nil) }?.outcome == .damaged)
    try await bench.restart(unlocking: false) { try bench.tamper("DELETE FROM slot") }
    #expect(try await vaultError { try await bench.store.unlock(nil) }?.outcome == .damaged)
  }

  @Test("a key file that opens a slot already gets no second one")
  @VaultActor func twice() async throws {
    let bench = try await FileBench()
    _ = try await bench.store.addSlot(.keyFile(bench.temporary.path + "/second"))
    for path in [bench.key, bench.temporary.path + "/second"] {
      let error = try await vaultError { _ = try await bench.store.addSlot(.keyFile(path)) }
      #expect(error?.outcome == .invalidArgument && error?.description.contains(path) == true)
      #expect(FileManager.default.fileExists(atPath: path))
    }
    // Also under another name.
    let copy = bench.temporary.path + "/copy"
    try FileManager.default.copyItem(atPath: bench.key, toPath: copy)
    try setMode(of: copy, to: 0o600)
    #expect(
      try await vaultError { _ = try await bench.store.addSlot(.keyFile(copy)) }?.outcome == .invalidArgument)
    #expect(try bench.store.slots().count == 2)
    #expect(try await bench.store.verify().sound)
  }

  @Test("a key file is made in a folder that is not there, 0700, where the one above it is ours")
  @VaultActor func missingFolder() async throws {
    let bench = try await FileBench(initialised: false)
    let top = bench.temporary.path + "/config"
    try await bench.store.initialise(.keyFile(top + "/vault/keys/key"))
    for folder in [top, top + "/vault", top + "/vault/keys"] { #expect(try mode(of: folder) == 0o700) }
    #expect(try mode(of: top + "/vault/keys/key") == 0o600)
    try await bench.set("App.token", "value")
    try await bench.restart()
    #expect(try bench.get("App.token") == "value")
    // Not below the data folder, not below a file, not by a way that leads up again, not below what is another's.
    let foreign = bench.temporary.path + "/foreign"
    try makeFolder(foreign)
    if geteuid() == 0 { giveAway(foreign, to: 65_534) }
    for path in [
      bench.data + "/new/key", top + "/vault/keys/key/new/key", bench.temporary.path + "/new/../data/key",
      foreign + (geteuid() == 0 ? "/new/key" : "/../data/key"),
    ] {
      let error = try await vaultError { _ = try await bench.store.addSlot(.keyFile(path)) }
      #expect(error?.outcome == .invalidArgument, "\(path): \(error as Any)")
    }
    #expect(!FileManager.default.fileExists(atPath: bench.data + "/new"))
    #expect(!FileManager.default.fileExists(atPath: bench.temporary.path + "/new"))
  }

  @Test("a passphrase whose turn comes after its caller's time is not tried")
  @VaultActor func queued() async throws {
    let bench = try await FileBench(initialised: false)
    try await bench.store.initialise(try passphrase("right"))
    bench.store.forget()
    let store = bench.store
    let end = bench.clock.boot.advanced(by: 10_000)
    let patience = Patience(deadline: end, promptDeadline: end, interactive: false)
    func attempt(_ text: String) -> Task<Outcome?, any Error> {
      Task { @VaultActor in
        try await vaultError { try await store.unlock(try passphrase(text), patience) }?.outcome
      }
    }
    let tasks = ["wrong", "right", "wrong", "right"].map(attempt)
    // The first has begun; the others wait behind it.
    try await until("three wait") { bench.store.slowTurn.waitingCount >= 3 }
    bench.clock.pass(milliseconds: 10_000)
    var outcomes: [Outcome?] = []
    for task in tasks { outcomes.append(try await task.value) }
    #expect(outcomes == [.wrongPassphrase, .unavailable, .unavailable, .unavailable])
    #expect(!bench.store.isUnlocked)
    try await bench.store.unlock(try passphrase("right"))
  }
}
