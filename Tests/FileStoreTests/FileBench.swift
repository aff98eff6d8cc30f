// A vault file for tests, and the words that they use of it: opened by a key file beside its folder, so that
// no test waits for scrypt unless it is about passphrases.

import Foundation
import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import Database
@testable import FileStore

@VaultActor
final class FileBench {
  let temporary: TemporaryFolder
  let clock = SettableClock()
  let layer: FileLayer
  private(set) var store: FileStore

  nonisolated static let patience = Patience(
    deadline: BootTime(milliseconds: .max), promptDeadline: BootTime(milliseconds: .max), interactive: false)

  var data: String { temporary.path + "/data" }
  var key: String { temporary.path + "/key" }
  var file: String { data + "/vault.db" }

  /// A vault file, initialised and unlocked; with `initialised` false there is none.
  init(initialised: Bool = true, inMemory: Bool = true, layer: FileLayer = .system) async throws {
    temporary = try TemporaryFolder(inMemory: inMemory)
    self.layer = layer
    store = FileStore(
      folder: DataFolder(temporary.path + "/data", layer: layer), clock: clock, credentials: nil)
    if initialised { try await store.initialise(.keyFile(key)) }
  }

  /// Ends the daemon, as it were, and starts it again; `meanwhile` happens in between.
  func restart(unlocking: Bool = true, _ meanwhile: () throws -> Void = {}) async throws {
    await close()
    // The file thread of a file that was refused ends when it comes to it.
    try await until("the file's thread has ended") {
      DataFolder(data, layer: layer).fault?.reason.contains("another vaultd") != true
    }
    try meanwhile()
    store = FileStore(folder: DataFolder(data, layer: layer), clock: clock, credentials: nil)
    if unlocking { try? await store.unlock(nil) }
  }

  /// Ends the daemon and lets go of the folder.
  func close() async {
    await store.close()
    store = FileStore(folder: DataFolder("nowhere"), clock: clock, credentials: nil)
  }

  func id(_ key: String, _ account: String = "") throws -> EntryID {
    EntryID(try Key(key), try Account(account))
  }

  func entry(_ id: EntryID, version: Version? = nil) -> Entry {
    clock.pass(milliseconds: 1)
    let version = version ?? max(store.highestVersion + 1, clock.wall.milliseconds)
    return Entry(id: id, version: version, created: clock.wall, modified: clock.wall, size: 0, store: .file)
  }

  @discardableResult
  func set(_ key: String, _ value: String, account: String = "") async throws(WriteFailure) -> Entry {
    try await set(key, Array(value.utf8), account: account)
  }

  @discardableResult
  func set(_ key: String, _ value: [UInt8], account: String = "") async throws(WriteFailure) -> Entry {
    let secret: SharedSecret
    let entry: Entry
    do {
      secret = SharedSecret(try SecretBytes(copying: value.span))
      entry = self.entry(try id(key, account))
    } catch {
      throw WriteFailure(.internal(reason: "\(error)"))
    }
    try await store.write(entry, secret, Self.patience)
    return entry
  }

  /// Sets many keys, all of them under way at once.
  func setAtOnce(_ all: [(String, String)]) async throws {
    let tasks = all.map { (key, value) in Task { @VaultActor in try await self.set(key, value) } }
    for task in tasks { _ = try await task.value }
  }

  func clear(_ key: String, account: String = "") async throws -> Bool {
    let id = try id(key, account)
    return try await store.remove(id, version: entry(id).version, Self.patience)
  }

  /// What is stored as text; `nil` for nothing.
  func get(_ key: String, account: String = "") throws -> String? {
    try bytes(key, account: account).map { String(decoding: $0, as: UTF8.self) }
  }

  /// What is stored; `nil` for nothing.
  func bytes(_ key: String, account: String = "") throws -> [UInt8]? {
    // What is answered in short has to be what is found.
    let id = try id(key, account)
    if let sealed = store.sealedToken(id.key.text.utf8.span, id.account.text.utf8.span) {
      guard case .found(let token) = store.lookUp(id) else {
        Issue.record("\(id) is answered, and was not found")
        return nil
      }
      #expect(try sealed.isAnswered(as: token))
    }
    return switch store.lookUp(id) {
    case .found(let token): token.secret.withBytes { bytes in bytes.indices.map { bytes[$0] } }
    case .missing: nil
    case .failed(let error): throw error
    case .mustWait: throw VaultError.internal(reason: "the file never waits")
    }
  }

  /// The outcome of a get that is to fail.
  func outcome(_ key: String, account: String = "") throws -> Outcome? {
    do {
      _ = try get(key, account: account)
      return nil
    } catch let error as VaultError {
      return error.outcome
    }
  }

  /// Runs SQL on the file as another program would, with everything in the file itself afterwards.
  func tamper(_ sql: String) throws {
    let connection = try Connection(file, .write, layer: .system)
    try connection.executeText(sql)
    _ = try connection.emptyLog()
  }

  /// Puts everything into the file itself, as a daemon that ended did not need to.
  func settle() throws { try tamper("SELECT 1") }

  /// All bytes of all files in the data folder.
  func everything() throws -> [UInt8] {
    try FileManager.default.contentsOfDirectory(atPath: data).flatMap { try contents(of: "\(data)/\($0)") }
  }
}

/// The failure of a write or removal that is to fail.
@VaultActor
func failure(_ body: () async throws(WriteFailure) -> Void) async -> WriteFailure? {
  do {
    try await body()
    return nil
  } catch {
    return error
  }
}

/// The failure of a call that is to fail.
@VaultActor
func vaultError(_ body: () async throws -> Void) async throws -> VaultError? {
  do {
    try await body()
    return nil
  } catch let error as VaultError {
    return error
  } catch let error as WriteFailure {
    return error.error
  }
}

func passphrase(_ text: String) throws -> SlotKey {
  .passphrase(SharedSecret(try SecretBytes(copying: text)))
}
