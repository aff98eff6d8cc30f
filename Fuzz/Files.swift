// The vault file and `state.db` after somebody changed bytes of them: a vault over both is asked for everything. A
// value that is served is the one that was stored; a vault file that cannot be opened is not written to.

import Foundation
import SecretMemory
import TestSupport
import VaultCore
import VaultModel

@testable import Database
@testable import FileStore
@testable import StateStore

/// Uses files that the input changes: an offset of three bytes, whose highest bit chooses the file, a number of bytes,
/// and the bytes. No bytes: the file ends there.
func useFiles(_ input: [UInt8]) {
  onVaultActor {
    let place = try await Place.shared()
    let changed = try place.lay(input)
    try await place.use(stateIsChanged: changed.state)
  }
}

/// A folder in memory with the files as an earlier version of the vault made them.
@VaultActor
private final class Place {
  private static var made: Place?

  /// The one of this process, which knows what is stored.
  static func shared() async throws -> Place {
    if let made { return made }
    let place = try await Place()
    _ = try place.lay([])
    try await place.use(stateIsChanged: false)
    made = place
    return place
  }

  private let folder = "/dev/shm/vault-fuzz-\(getpid())"
  private let vault: [UInt8]
  private var state: [UInt8] = []
  /// What is stored, by key and account.
  private var tokens: [EntryID: [UInt8]] = [:]
  private let clock = SettableClock()

  private var data: String { folder + "/data" }
  private var key: String { folder + "/key" }

  private init() async throws {
    let golden = "Tests/Golden/vault-1"
    vault = try contents(of: golden + "/vault.db")
    try? FileManager.default.removeItem(atPath: folder)
    try makeFolder(folder)
    try overwrite(key, with: try contents(of: golden + "/key"))
    try setMode(of: key, to: 0o600)
    state = try await makeState()
  }

  /// A `state.db` that knows a key of each kind.
  private func makeState() async throws -> [UInt8] {
    let store = StateStore(folder: DataFolder(data), clock: clock)
    func entry(_ key: String, _ version: Version) throws -> Entry {
      Entry(
        id: EntryID(try Key(key)), version: version, created: clock.wall, modified: clock.wall,
        expires: WallTime(milliseconds: clock.wall.milliseconds + 1_000_000_000), idle: 3_600,
        label: "A label", size: 5, store: .secretService)
    }
    let version = clock.wall.milliseconds
    let all: [(String, StateRecord.Standing, Intent?)] = [
      ("App.one", .present(try entry("App.one", version)), nil),
      ("App.two", .removed(at: clock.wall), nil),
      ("App.three", .superseded(old: try entry("App.three", version)), nil),
      ("App.four", .absent, Intent(try entry("App.four", version), Fingerprint((0..<24).map { $0 }))),
    ]
    for (key, standing, intent) in all {
      try await store.keep(
        StateRecord(id: EntryID(try Key(key)), version: version, standing: standing, intent: intent))
    }
    try await store.noteProvider()
    await store.close()
    let connection = try Connection(data + "/state.db", .write, layer: .system)
    _ = try connection.emptyLog()
    return try contents(of: data + "/state.db")
  }

  /// Puts the changed files there.
  func lay(_ input: [UInt8]) throws -> (vault: Bool, state: Bool) {
    var (vault, state) = (vault, state)
    var changed = (vault: false, state: false)
    var rest = input[...]
    while rest.count >= 4 {
      let head = rest.prefix(4).map { Int($0) }
      let bytes = rest.dropFirst(4).prefix(head[3])
      rest = rest.dropFirst(4 + bytes.count)
      let offset = (head[0] & 0x7F) << 16 | head[1] << 8 | head[2]
      if head[0] < 0x80 {
        changed.vault = true
        change(&vault, at: offset, bytes)
      } else {
        changed.state = true
        change(&state, at: offset, bytes)
      }
    }
    try? FileManager.default.removeItem(atPath: data)
    try makeFolder(data)
    for (name, bytes) in [("vault.db", vault), ("state.db", state)] {
      try overwrite("\(data)/\(name)", with: bytes)
      try setMode(of: "\(data)/\(name)", to: 0o600)
    }
    return changed
  }

  private func change(_ file: inout [UInt8], at offset: Int, _ bytes: ArraySlice<UInt8>) {
    let offset = offset % (file.count + 1)
    if bytes.isEmpty { return file.removeLast(file.count - offset) }
    for (place, byte) in zip(offset..., bytes) where place < file.count { file[place] = byte }
  }

  /// Asks for everything and writes something.
  func use(stateIsChanged: Bool) async throws {
    let before = try contents(of: data + "/vault.db")
    let folder = DataFolder(data)
    let file = FileStore(folder: folder, clock: clock, credentials: nil)
    let state = StateStore(folder: folder, clock: clock)
    let provider = FakeProvider()
    provider.items = try kept()
    let vault = Vault(
      preference: .auto, secretService: provider, file: file, session: FakeSession(), state: state,
      clock: clock)
    await vault.start()
    try? await vault.unlock(.keyFile(key))
    if tokens.isEmpty { try await learn(vault) }

    for (id, value) in tokens {
      do throws(VaultError) {
        let found = try await vault.get(GetRequest(id: id)).secret.withBytes { $0.array }
        require(found == value, "another value of \(id)")
      } catch {
        // Somebody who writes `state.db` may say that a key was cleared.
        require(error.outcome != .notFound || stateIsChanged, "\(id) is missing: \(vault.storeStatuses)")
        require(error.outcome != .internal, "\(error)")
      }
    }
    for entry in (try? await vault.list(nil)) ?? [] { tell(entry) }
    _ = try? await vault.verify()
    _ = vault.storeStatuses
    let new = EntryID(try Key("Fuzz.new"))
    let secret = SharedSecret(try SecretBytes(copying: "new"))
    if let entry = try? await vault.set(SetRequest(id: new, secret: secret)) {
      tell(entry)
      let isThere = (try? await vault.get(GetRequest(id: new)))?.secret.withBytes { $0.count } == 3
      require(isThere, "what was set is not there")
      _ = try? await vault.clear(new, ifVersion: nil)
    }
    _ = try? await vault.clearNamespace(new.key.namespace, account: nil)
    let isOpen = file.isUnlocked
    vault.lock()
    await file.close()
    await state.close()
    let after = try contents(of: data + "/vault.db")
    require(isOpen || after == before, "a file that is closed was written to")
  }

  /// What the Secret Service has, as `state.db` knows.
  private func kept() throws -> [EntryID: Token] {
    let id = EntryID(try Key("App.one"))
    let entry = Entry(
      id: id, version: clock.wall.milliseconds, created: clock.wall, modified: clock.wall, size: 5,
      store: .secretService)
    return [id: Token(entry: entry, secret: SharedSecret(try SecretBytes(copying: "first")))]
  }

  /// What is there before anything is changed is what was stored.
  private func learn(_ vault: Vault) async throws {
    for entry in try await vault.list(nil) {
      tokens[entry.id] = try await vault.get(GetRequest(id: entry.id)).secret.withBytes { $0.array }
    }
    require(tokens.count == 6, "the seeds are others: \(tokens.keys)")
  }

  /// Does with an entry what the daemon does.
  private func tell(_ entry: Entry) {
    _ = (entry.created.seconds, entry.modified.rfc3339, entry.expires?.rfc3339, EntryForm.bytes(of: entry))
  }
}
