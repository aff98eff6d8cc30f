// What lives until logout: a file like the vault file, in the user's runtime folder and nowhere but in memory, whose
// data key is in the kernel's keyring. It makes itself with the first write, is there again after a restart of the
// daemon, and is empty once the folder or the key is gone. Never asks anybody for anything.

import CLinux
import Database
import Glibc
import SecretMemory
import Synchronization
import VaultCore
import VaultCrypto
import VaultModel

/// The session store (design.md, "The vault file").
@VaultActor
public final class SessionStore: SessionKeeper {
  public nonisolated let name = StoreName.session

  private enum Condition {
    /// There is no place for it.
    case nowhere(VaultError)
    /// There is a file that cannot be had, because another daemon has it: nobody can say what is in it.
    case barred(VaultError)
    /// There is a place, and nothing in it that anybody has the key of.
    case empty
    /// There is a file, and its key was there.
    case kept(FileStore)

    /// Whether it is known that nothing is in it.
    var isBlank: Bool {
      switch self {
      case .nowhere, .empty: true
      case .barred, .kept: false
      }
    }
  }

  private let runtimeFolder: String?
  private let folder: String
  private let clock: any Clock
  private let ring: SessionRing
  private let fingerprintRing: SessionRing
  private var condition = Condition.empty { didSet { blank.store(condition.isBlank, ordering: .relaxed) } }
  // Asked by every get.
  private let blank = Atomic(false)
  /// The file of a session that has ended; it holds the folder's lock until it is closed.
  private var ended: FileStore?
  /// One makes or opens the file at a time.
  private let turn = Turn()

  /// The store in the runtime folder.
  /// - Parameters:
  ///   - runtimeFolder: the user's runtime folder (`XDG_RUNTIME_DIR`); `nil` where there is none.
  ///   - clock: the clock of the vault.
  ///   - startedByManager: whether this process is a service of the user's systemd.
  public init(runtimeFolder: String?, clock: any Clock, startedByManager: Bool) {
    self.runtimeFolder = runtimeFolder
    self.clock = clock
    folder = "\(runtimeFolder ?? "")/vault"
    ring = SessionRing(folder: folder, startedByManager: startedByManager)
    fingerprintRing = SessionRing(.fingerprints, folder: folder, startedByManager: startedByManager)
    condition = look()
    blank.store(condition.isBlank, ordering: .relaxed)
  }

  // MARK: How it is

  private var path: String { "\(folder)/\(Blueprint.session.name)" }

  /// Throws where nothing may be written.
  private func checkPlace() throws(VaultError) {
    guard let runtimeFolder else {
      throw .unavailable(
        store: .session, reason: "there is no runtime folder (XDG_RUNTIME_DIR) for tokens until logout")
    }
    guard unsafe clinux_folder_is_memory(runtimeFolder) else {
      throw .unavailable(
        store: .session,
        reason:
          "tokens until logout are kept in memory alone, and \(runtimeFolder) is no folder there (tmpfs)")
    }
  }

  private var fileIsThere: Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
  }

  private func look() -> Condition {
    do throws(VaultError) {
      try checkPlace()
      guard fileIsThere, try ring.read() != nil else { return .empty }
      let folder = DataFolder(folder)
      if let fault = folder.fault { return .barred(fault.outcome(in: .session)) }
      return .kept(FileStore(.session, folder: folder, clock: clock))
    } catch {
      return .nowhere(error)
    }
  }

  /// The condition now: a login session that has ended took the folder or the key with it.
  private var present: Condition {
    if case .kept(let file) = condition, !fileIsThere || !ring.holdsKey {
      file.forget()
      (condition, ended) = (.empty, file)
    }
    return condition
  }

  public var status: StoreStatus {
    switch present {
    case .nowhere(let error), .barred(let error):
      StoreStatus(store: .session, state: .unavailable, detail: "\(error)", entries: 0, pending: 0)
    case .empty: StoreStatus(store: .session, state: .available, detail: path, entries: 0, pending: 0)
    case .kept(let file): file.status
    }
  }

  public var highestVersion: Version {
    if case .kept(let file) = condition { file.highestVersion } else { 0 }
  }

  public var isUnlocked: Bool {
    switch present {
    case .nowhere, .barred: false
    case .empty: true
    case .kept(let file): file.isUnlocked
    }
  }

  public var isBlank: Bool { blank.load(ordering: .relaxed) }

  // MARK: Opening

  public func forget() {
    if case .kept(let file) = condition { file.forget() }
  }

  public func rest() {
    if case .kept(let file) = condition { file.rest() }
  }

  public func unlock() async throws(VaultError) {
    try await turn.take { () async throws(VaultError) in try await openNow() }
  }

  private func openNow() async throws(VaultError) {
    if case .kept = present {} else { condition = look() }
    switch condition {
    case .nowhere(let error), .barred(let error): throw error
    case .empty: break
    case .kept(let file):
      guard let key = try ring.read() else {
        (condition, ended) = (.empty, file)
        return
      }
      try await file.open(key)
    }
  }

  /// The file, made where there is none.
  private func file() async throws(VaultError) -> FileStore {
    try await turn.take { () async throws(VaultError) in try await fileNow() }
  }

  private func fileNow() async throws(VaultError) -> FileStore {
    switch present {
    case .nowhere, .barred: condition = look()
    case .empty, .kept: break
    }
    switch condition {
    case .nowhere(let error), .barred(let error): throw error
    case .empty: return try await make()
    case .kept(let file):
      if !file.isUnlocked, file.era == 0, let key = try ring.read() { try await file.open(key) }
      return file
    }
  }

  private func make() async throws(VaultError) -> FileStore {
    try checkPlace()
    await closeEnded()
    let folder = DataFolder(folder)
    if let fault = folder.fault { throw fault.outcome(in: .session) }
    // What is left of a session whose key is gone can be read by nobody.
    for file in Blueprint.session.files { folder.remove(file) }
    let key = try Place.session.judge { () throws(CryptoError) in
      SharedSecret(try SecretBytes(random: SealingKey.size))
    }
    // The key first: a file without one is replaced, a key without a file is used again for nothing.
    try ring.keep(key)
    let file = FileStore(.session, folder: folder, clock: clock)
    try await file.make(key)
    condition = .kept(file)
    return file
  }

  private func closeEnded() async {
    let file = ended
    ended = nil
    await file?.close()
  }

  /// Ends the store in order; what is in it stays until logout.
  public func close() async {
    await closeEnded()
    guard case .kept(let file) = condition else { return }
    condition = .nowhere(.unavailable(store: .session, reason: "vaultd is ending"))
    await file.close()
  }

  // MARK: Fingerprints

  public func fingerprintKey(making: Bool) -> SharedSecret? {
    guard runtimeFolder != nil else { return nil }
    do throws(VaultError) {
      if let key = try fingerprintRing.read() { return key }
      guard making else { return nil }
      let key = try Place.session.judge { () throws(CryptoError) in
        SharedSecret(try SecretBytes(random: SealingKey.size))
      }
      try fingerprintRing.keep(key)
      return key
    } catch {
      // The kernel keeps none here: what depends on it does without.
      return nil
    }
  }

  // MARK: Tokens

  public func lookUp(_ id: EntryID) -> LookUp {
    switch present {
    case .nowhere, .empty: .missing
    case .barred(let error): .failed(error)
    case .kept(let file): file.lookUp(id)
    }
  }

  public func read(_ id: EntryID, _ patience: Patience) async throws(VaultError) -> Token? {
    switch present {
    case .nowhere, .empty: return nil
    case .barred(let error): throw error
    case .kept(let file): return try await file.read(id, patience)
    }
  }

  public func list(_ namespace: Namespace?, _ patience: Patience) async throws(VaultError) -> [Entry] {
    switch present {
    case .nowhere, .empty: return []
    case .barred(let error): throw error
    case .kept(let file): return try await file.list(namespace, patience)
    }
  }

  public func forEach(
    in namespace: Namespace?, _ patience: Patience, _ body: (Entry) -> Void
  ) async throws(VaultError) {
    switch present {
    case .nowhere, .empty: break
    case .barred(let error): throw error
    case .kept(let file): try await file.forEach(in: namespace, patience, body)
    }
  }

  public func write(
    _ entry: Entry, _ secret: SharedSecret, _ patience: Patience
  ) async throws(WriteFailure) {
    let file: FileStore
    do throws(VaultError) { file = try await self.file() } catch { throw WriteFailure(error) }
    try await file.write(entry, secret, patience)
  }

  public func update(_ entry: Entry, _ patience: Patience) async throws(WriteFailure) {
    switch present {
    case .nowhere(let error), .barred(let error): throw WriteFailure(error)
    case .empty: break
    case .kept(let file): try await file.update(entry, patience)
    }
  }

  public func remove(
    _ id: EntryID, version: Version, _ patience: Patience
  ) async throws(WriteFailure) -> Bool {
    switch present {
    case .nowhere, .empty: return false
    case .barred(let error): throw WriteFailure(error)
    case .kept(let file): return try await file.remove(id, version: version, patience)
    }
  }
}
