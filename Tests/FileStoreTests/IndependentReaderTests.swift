// The format is what docs/vault-file.md says: a reader in another language, written from that page, reads
// what the store wrote; and the store reads what earlier versions of it wrote.

import Foundation
import SecretMemory
import Spawning
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import Database
@testable import FileStore

@Suite struct IndependentReaderTests {
  init() { startVaultActor() }

  private static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent()

  /// What the reader prints.
  private struct Report: Decodable {
    struct Entry: Decodable {
      var key: String
      var account: String
      var version: Int64
      var created: Int64
      var modified: Int64
      var expires: Int64?
      var idle: Int64?
      var untilLogout: Bool
      var label: String?
      var size: Int
      var pending: Bool
      var secretBase64: Data
    }
    var entries: [Entry]
    var sequence: UInt64
    var highest: Int64
  }

  /// Runs the reader; `nil` where it refuses the file.
  private static func read(_ file: String, _ way: String, _ key: String) throws -> Report? {
    let reader = tests.appendingPathComponent("Readers/read_vault.py").path
    let ended = try run(
      ["/usr/bin/python3", reader, file, way, key], environment: ["PATH": "/usr/bin:/bin"])
    return ended.status == 0 ? try JSONDecoder().decode(Report.self, from: ended.output) : nil
  }

  /// Debian's python3-cryptography.
  static let hasReader =
    (try? run(["/usr/bin/python3", "-c", "import cryptography"], environment: ["PATH": "/usr/bin:/bin"]))?
    .status == 0

  /// Entries of every kind.
  @VaultActor private static func fill(_ store: FileStore, _ clock: SettableClock) async throws -> [Token] {
    var tokens: [Token] = []
    func add(_ key: String, _ account: String, _ secret: [UInt8], _ change: (inout Entry) -> Void = { _ in })
      async throws
    {
      clock.pass(milliseconds: 1_001)
      var entry = Entry(
        id: EntryID(try Key(key), try Account(account)), version: clock.wall.milliseconds,
        created: clock.wall,
        modified: clock.wall, size: secret.count, store: .file)
      change(&entry)
      let shared = SharedSecret(try SecretBytes(copying: secret.span))
      try await store.write(entry, shared, FileBench.patience)
      tokens.append(Token(entry: entry, secret: shared))
    }
    try await add("Back4Gram.sessionToken", "", Array("r:cbca71d29d7601761b48ed01bbe9638d".utf8))
    try await add("com.example.Chat.refreshToken", "bob@example.org", (0...255).map { UInt8($0) }) { entry in
      entry.expires = WallTime(milliseconds: 1_999_999_999_999)
      entry.idle = 7_200
      entry.untilLogout = true
      entry.label = "Bob's token 🔑"
      entry.pending = true
    }
    try await add("caf\u{E9}.NFC", "", [])
    try await add("cafe\u{301}.NFD", "", Array("zerlegt".utf8))
    try await add("Large.token", "", (0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try await add("Gone.token", "", [1, 2, 3])
    clock.pass(milliseconds: 1)
    _ = try await store.remove(
      EntryID(try Key("Gone.token")), version: clock.wall.milliseconds, FileBench.patience)
    return tokens.dropLast()
  }

  @Test(
    "a reader written from the description reads the file, by key file and by passphrase",
    .enabled(if: hasReader))
  @VaultActor func otherReader() async throws {
    let bench = try await FileBench()
    let tokens = try await Self.fill(bench.store, bench.clock)
    _ = try await bench.store.addSlot(try passphrase("correct horse"))
    let word = bench.temporary.path + "/passphrase"
    try overwrite(word, with: Array("correct horse".utf8))
    let highest = bench.store.highestVersion
    for (way, key) in [("--key-file", bench.key), ("--passphrase-file", word)] {
      let report = try #require(try Self.read(bench.file, way, key))
      #expect(report.highest == highest && report.sequence == UInt64(tokens.count) + 3)
      #expect(report.entries.count == tokens.count)
      for token in tokens {
        let entry = token.entry
        let id = entry.id
        let read = try #require(
          report.entries.first {
            $0.key.utf8.elementsEqual(id.key.text.utf8) && $0.account == id.account.text
          })
        #expect(read.version == entry.version && read.created == entry.created.milliseconds)
        #expect(read.modified == entry.modified.milliseconds && read.expires == entry.expires?.milliseconds)
        #expect(read.idle == entry.idle && read.untilLogout == entry.untilLogout && read.label == entry.label)
        #expect(read.size == entry.size && read.pending == entry.pending)
        #expect(
          token.secret.withBytes { bytes in bytes.indices.map { bytes[$0] } } == Array(read.secretBase64))
      }
    }
    // It is no reader that takes everything.
    #expect(try Self.read(bench.file, "--key-file", word) == nil)
    let old = try #require(try bench.row(try bench.recordID("Back4Gram.sessionToken")))
    try await bench.set("Back4Gram.sessionToken", "newer")
    try bench.put(old)
    #expect(try Self.read(bench.file, "--key-file", bench.key) == nil)
  }

  @Test("the reader, too, refuses a file that is behind its anchor", .enabled(if: hasReader))
  @VaultActor func otherReaderAndAnchor() async throws {
    let bench = try await FileBench()
    try await bench.set("App.token", "1")
    try bench.settle()
    let older = try contents(of: bench.file)
    try await bench.set("App.token", "2")
    await bench.close()
    #expect(try Self.read(bench.file, "--key-file", bench.key)?.entries.count == 1)
    try overwrite(bench.file, with: older)
    #expect(try Self.read(bench.file, "--key-file", bench.key) == nil)
    try FileManager.default.removeItem(atPath: bench.data + "/vault.anchor")
    #expect(try Self.read(bench.file, "--key-file", bench.key)?.entries.count == 1)
  }

  /// The golden file of format 1: its passphrase is `golden`, its credential `vault` holds `golden
  /// credential`.
  private static var golden: String { tests.appendingPathComponent("Golden/vault-1").path }

  @Test("a file of format 1 that an earlier version made is read, by each of its slots")
  @VaultActor func goldenFile() async throws {
    let clock = SettableClock()
    if ProcessInfo.processInfo.environment["VAULT_MAKE_GOLDEN"] != nil { try await Self.makeGolden() }
    let keys: [SlotKey?] = [
      .keyFile(Self.golden + "/key"), try passphrase("golden"), .credential("credential"), nil,
    ]
    for key in keys {
      let temporary = try TemporaryFolder()
      try makeFolder(temporary.path + "/data")
      try overwrite(temporary.path + "/data/vault.db", with: try contents(of: Self.golden + "/vault.db"))
      // Git keeps no modes of this kind.
      for name in ["key", "credential"] {
        try overwrite("\(temporary.path)/\(name)", with: try contents(of: "\(Self.golden)/\(name)"))
        try setMode(of: "\(temporary.path)/\(name)", to: 0o600)
      }
      let store = FileStore(
        folder: DataFolder(temporary.path + "/data"), clock: clock, credentials: temporary.path)
      #expect(try store.slots().map(\.kind) == [.keyFile, .passphrase, .credential])
      if case .keyFile = key {
        try await store.unlock(.keyFile(temporary.path + "/key"))
      } else {
        try await store.unlock(key)
      }
      let entries = try await store.list(nil, FileBench.patience)
      #expect(
        Set(entries.map(\.id.key.text)) == [
          "Back4Gram.sessionToken", "com.example.Chat.refreshToken", "caf\u{E9}.NFC", "cafe\u{301}.NFD",
          "Large.token",
        ])
      let token = try #require(
        try await store.read(
          EntryID(try Key("com.example.Chat.refreshToken"), try Account("bob@example.org")),
          FileBench.patience))
      #expect(token.entry.version == 1_900_000_002_002 && token.entry.idle == 7_200 && token.entry.pending)
      #expect(token.entry.expires?.milliseconds == 1_999_999_999_999 && token.entry.label == "Bob's token 🔑")
      #expect(
        token.secret.withBytes { bytes in bytes.indices.map { bytes[$0] } } == (0...255).map { UInt8($0) })
      #expect(try await store.verify() == Verification(records: 5, damaged: 0, sound: true))
      // And written.
      let shared = SharedSecret(try SecretBytes(copying: "new"))
      var entry = token.entry
      entry.version = store.highestVersion + 1
      try await store.write(entry, shared, FileBench.patience)
      #expect(try await store.verify().sound)
      await store.close()
    }
  }

  @VaultActor private static func makeGolden() async throws {
    let clock = SettableClock()
    let temporary = try TemporaryFolder()
    try overwrite(temporary.path + "/credential", with: Array("golden credential".utf8))
    try overwrite(golden + "/credential", with: Array("golden credential".utf8))
    let store = FileStore(
      folder: DataFolder(temporary.path + "/data"), clock: clock, credentials: temporary.path)
    try await store.initialise(.keyFile(temporary.path + "/key"))
    _ = try await store.addSlot(try passphrase("golden"))
    _ = try await store.addSlot(.credential("credential"))
    _ = try await fill(store, clock)
    await store.close()
    let connection = try Connection(temporary.path + "/data/vault.db", .write, layer: .system)
    _ = try connection.emptyLog()
    try overwrite(golden + "/vault.db", with: try contents(of: temporary.path + "/data/vault.db"))
    try overwrite(golden + "/key", with: try contents(of: temporary.path + "/key"))
  }
}
