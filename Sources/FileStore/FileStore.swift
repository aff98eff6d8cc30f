// A file of ours as a store, the vault file or that of the session: the front half on the main thread. It names,
// seals and opens, asks the ledger what to believe, and leaves writing to the file thread. A token is looked up
// without a hop. What belongs to slots is in `FileStore+Slots`. Serves nothing that does not authenticate, and
// touches no file that is not ours.

import Database
import SecretMemory
import VaultCore
import VaultCrypto
import VaultModel

/// The vault file in the data folder; with another plan, the session store's file in its folder.
@VaultActor
public final class FileStore: VaultFile {
  public nonisolated let name: StoreName

  /// How the file is.
  enum Condition {
    /// There is none.
    case absent
    /// It cannot be used: every request gets this.
    case refused(VaultError)
    /// It needs a slot opened.
    case locked(OpenedFile)
    /// Its keys are in memory.
    case unlocked(UnlockedFile)
  }

  let blueprint: Blueprint
  let folder: DataFolder
  let clock: any Clock
  /// The folder of systemd's credentials; `nil` where there is none.
  let credentials: String?
  /// For scrypt and for making the file: one thing at a time.
  let slowly = WorkThread<Void>(name: "scrypt") {}
  /// For passphrases and credentials that are tried.
  let slowTurn = Turn()
  var condition: Condition {
    didSet {
      records.forgetAll()
      if case .unlocked(let file) = condition { unlockedNow = file } else { unlockedNow = nil }
    }
  }
  // What `condition` holds where it is unlocked: asked by every get.
  private var unlockedNow: UnlockedFile?
  /// Whether the folder could not be had, and is tried again.
  var lacksFolder: Bool
  public var onOpened: (@VaultActor () async -> Void)?
  /// Counts locks: an unlock that was begun before one is void.
  var era = 0
  /// The number of the last slot that was begun.
  var lastSlot: Int64 = 0
  private var highestBeforeLock: Version = 0
  /// What was read before, for as long as the file is unlocked.
  private let records = RecordCache()

  /// The file in `folder`; what is wrong with it is its status. It is locked until `unlock`.
  /// - Parameters:
  ///   - folder: the data folder.
  ///   - clock: dates slots.
  ///   - credentials: the folder of systemd's credentials; `nil` where the daemon has none.
  public convenience init(folder: DataFolder, clock: any Clock, credentials: String?) {
    self.init(.vault, folder: folder, clock: clock, credentials: credentials)
  }

  init(_ blueprint: Blueprint, folder: DataFolder, clock: any Clock, credentials: String? = nil) {
    self.blueprint = blueprint
    name = blueprint.store
    self.folder = folder
    self.clock = clock
    self.credentials = credentials
    lacksFolder = folder.fault != nil
    condition = Self.examine(blueprint, folder)
  }

  static func examine(_ blueprint: Blueprint, _ folder: DataFolder) -> Condition {
    do throws(VaultError) {
      return try OpenedFile.open(blueprint, in: folder).map { .locked($0) } ?? .absent
    } catch {
      return .refused(error)
    }
  }

  /// Ends the store in order: what was begun is on the disk, and the files are closed.
  public func close() async {
    let (present, ending) = (condition, VaultError.unavailable(store: place, reason: "vaultd is ending"))
    era += 1
    lacksFolder = false
    condition = .refused(ending)
    switch present {
    case .absent, .refused: break
    case .locked(let file): await file.commits.end()
    case .unlocked(let open):
      await open.file.commits.end()
      open.ledger.close()
    }
  }

  // MARK: How it is

  /// The file's path as the user knows it.
  var path: String { "\(folder.path)/\(blueprint.name)" }

  /// What outcomes call the store.
  var place: Place { blueprint.place }

  public var exists: Bool {
    // Where the folder cannot be used there may be one.
    if case .absent = condition { false } else { true }
  }

  public var isUnlocked: Bool {
    if case .unlocked = condition { true } else { false }
  }

  public var recordCount: Int? {
    switch condition {
    case .absent: 0
    case .refused: nil
    case .locked(let file): file.recordCount
    case .unlocked(let open): open.ledger.recordCount
    }
  }

  /// The daemon that had the folder may be gone by now. What needs nobody is opened then; who asks meanwhile is told
  /// that it is locked.
  private func tryFolderAgain() {
    guard lacksFolder, folder.tryAgain(at: clock.boot) else { return }
    lacksFolder = false
    condition = Self.examine(blueprint, folder)
    guard case .locked = condition else { return }
    let forever = BootTime(milliseconds: .max)
    let patience = Patience(deadline: forever, promptDeadline: forever, interactive: false)
    Task { @VaultActor in
      try? await unlock(nil, patience)
      if isUnlocked { await onOpened?() }
    }
  }

  public var status: StoreStatus {
    tryFolderAgain()
    let (state, detail, entries, pending): (StoreStatus.State, String, Int, Int) =
      switch condition {
      case .absent: (.absent, path, 0, 0)
      case .refused(let error): (error.outcome == .damaged ? .damaged : .unavailable, "\(error)", 0, 0)
      case .locked(let file): (.locked, path, file.recordCount ?? 0, 0)
      case .unlocked(let open):
        (
          .available, open.ledger.anchorWasDamaged ? "\(path); its anchor was damaged, and is new" : path,
          open.ledger.numbers.tokens, open.ledger.numbers.pending
        )
      }
    return StoreStatus(store: name, state: state, detail: detail, entries: entries, pending: pending)
  }

  public var highestVersion: Version {
    switch condition {
    case .unlocked(let open): open.ledger.highest
    case .locked(let file): max(largestVersion(of: file), highestBeforeLock)
    case .absent, .refused: highestBeforeLock
    }
  }

  /// A file that can't tell is of no use to who has to change it: as if that had been found when it was opened.
  private func largestVersion(of file: OpenedFile) -> Version {
    do throws(DatabaseFault) { return try file.largestVersion() } catch {
      condition = .refused(error.outcome(in: place))
      return 0
    }
  }

  public func forget() {
    era += 1
    guard case .unlocked(let open) = condition else { return }
    highestBeforeLock = open.ledger.highest
    open.file.lock(at: highestBeforeLock, recordCount: open.ledger.recordCount)
    open.ledger.close()
    condition = .locked(open.file)
  }

  public func rest() { records.forgetAll() }

  /// The file with its keys, or why it cannot be used.
  func unlocked() throws(VaultError) -> UnlockedFile {
    tryFolderAgain()
    switch condition {
    case .absent: throw .unavailable(store: place, reason: "there is no vault file: run `vault init`")
    case .refused(let error): throw error
    case .locked: throw .locked(store: place, reason: "\(path) is locked: run `vault unlock`")
    case .unlocked(let open): return open
    }
  }

  // MARK: Reading

  public func lookUp(_ id: EntryID) -> LookUp {
    do throws(VaultError) {
      return try token(of: id).map { .found($0) } ?? .missing
    } catch {
      return .failed(error)
    }
  }

  public func sealedToken(_ key: Span<UInt8>, _ account: Span<UInt8>) -> (any SealedToken)? {
    guard let others = unlockedNow?.othersUntilNow, let kept = records.record(key, account, others),
      kept.isEndless
    else { return nil }
    return kept
  }

  public func read(_ id: EntryID, _ patience: Patience) async throws(VaultError) -> Token? {
    try token(of: id)
  }

  private func token(of id: EntryID) throws(VaultError) -> Token? {
    let open = try unlocked()
    let keys = open.keys
    // Where somebody else changes the file, it is asked each time.
    let others = open.othersUntilNow
    if let others, let kept = records.record(id.key.text.utf8.span, id.account.text.utf8.span, others),
      let entry = kept.withForm({ keys.entry($0, kept.name, of: id) }), let secret = try? kept.opened()
    {
      return Token(entry: entry, secret: SharedSecret(secret))
    }
    let record = try place.judge { () throws(CryptoError) in try keys.id(of: id) }
    return try row(record, "the record of \(id)") { name, entry, secret in
      guard let form = try? keys.open(entry, .entry, of: name) else { return nil }
      return form.withBytes { form in
        guard let token = token(name, form, secret, of: id, keys) else { return nil }
        if let others {
          token.secret.withBytes { records.keep(name, token.entry, others, form: form, secret: $0) }
        }
        return token
      }
    }
  }

  /// The token that a record of the file holds; `nil` where it is not what was sealed for `id`.
  private func token(
    _ name: RecordName, _ form: Span<UInt8>, _ secret: Span<UInt8>, of id: EntryID, _ keys: VaultKeys
  ) -> Token? {
    guard let entry = keys.entry(form, name, of: id), let secret = try? keys.open(secret, .secret, of: name),
      secret.count == (entry.isPurged ? 0 : entry.size)
    else { return nil }
    return Token(entry: entry, secret: SharedSecret(secret))
  }

  public func list(_ namespace: Namespace?, _ patience: Patience) async throws(VaultError) -> [Entry] {
    var entries: [Entry] = []
    try await forEach(in: namespace, patience) { entries.append($0) }
    return entries
  }

  public func forEach(
    in namespace: Namespace?, _ patience: Patience, _ body: (Entry) -> Void
  ) async throws(VaultError) {
    var first: Int64? = .min
    while let start = first {
      first = try listSome(namespace, from: start, body)
      // Other requests have their turn; a list is no snapshot, and each entry of it is as it was when it was
      // read.
      await VaultActor.giveWay()
    }
  }

  /// Gives `body` some entries, from a row on, and returns the row to go on from. Records that fail
  /// authentication are not among them: `verify` counts them.
  private func listSome(
    _ namespace: Namespace?, from first: Int64, _ body: (Entry) -> Void
  ) throws(VaultError) -> Int64? {
    let (file, keys, ledger) = try unlocked().parts
    var unsettled: [RecordID] = []
    func add(_ entry: Entry?) {
      // Two namespaces may share an id.
      guard let entry, namespace == nil || entry.id.key.namespace == namespace else { return }
      body(entry)
    }
    let of = try place.judge { () throws(CryptoError) in try namespace.map(keys.id(of:)) }
    let next = try place.judge { () throws(DatabaseFault) in
      try file.reader.forEachRow(of: of, from: first, count: Limits.rowsListedAtOnce) { name, sealed in
        guard let name, !name.standing.marks.contains(.tombstone) else { return }
        if ledger.belief(name.id).allows(name.standing) {
          add(keys.openEntry(sealed, name))
        } else {
          unsettled.append(name.id)
        }
      }
    }
    for id in unsettled {
      let entry = try? row(id, "a record") { name, sealed, _ in keys.openEntry(sealed, name) }
      add(entry.flatMap { $0 })
    }
    return next
  }

  /// What a row turned out to be.
  private enum Reading<Value> {
    case value(Value)
    case tombstone
    case unbelievable
  }

  /// Reads a row as it is believed to be.
  /// - Parameters:
  ///   - record: its id.
  ///   - what: how an error calls it.
  ///   - open: opens it; `nil` where it fails authentication.
  /// - Throws: `.damaged` where the file is not as it is believed to be.
  /// - Returns: what `open` gives; `nil` where there is no record.
  private func row<Value>(
    _ record: RecordID, _ what: @autoclosure () -> String,
    _ open: (RecordName, Span<UInt8>, Span<UInt8>) -> Value?
  ) throws(VaultError) -> Value? {
    let (file, keys, ledger) = try unlocked().parts
    func damaged() -> VaultError {
      ledger.noteDamage()
      return .damaged(
        store: place,
        reason: "\(what()) in \(path) is damaged: set it again, or restore the file from a backup")
    }
    while true {
      let belief = ledger.belief(record)
      if belief.committed == nil, belief.underway == nil {
        if belief.isDoubted { throw damaged() }
        guard let missing = belief.missing else { return nil }
        let multiplier = try place.judge { () throws(CryptoError) in try keys.multiplier(of: record) }
        if multiplier == missing { throw damaged() }
        return nil
      }
      let reading: Reading<Value>?
      do throws(DatabaseFault) {
        reading = try file.reader.withRow(record) { name, entry, secret in
          guard let name, name.id == record, belief.allows(name.standing) else { return .unbelievable }
          if name.standing.marks.contains(.tombstone) {
            return keys.openEntry(entry, name) == nil ? .unbelievable : .tombstone
          }
          return open(name, entry, secret).map(Reading.value) ?? .unbelievable
        }
      } catch {
        throw error.kind == .corrupt ? damaged() : error.outcome(in: place)
      }
      switch reading {
      case .value(let value): return value
      case .tombstone: return nil
      case nil where belief.allowsNone: return nil
      // A commit may lie between what was believed and what was read: then look again.
      case .unbelievable, nil: if ledger.generation == belief.generation { throw damaged() }
      }
    }
  }

  // MARK: Writing

  public func write(
    _ entry: Entry, _ secret: SharedSecret, _ patience: Patience
  ) async throws(WriteFailure) {
    var entry = entry
    (entry.size, entry.isPurged, entry.store) = (secret.count, false, name)
    try await place(entry, secret)
  }

  /// Rewrites the record under its own version.
  public func update(_ entry: Entry, _ patience: Patience) async throws(WriteFailure) {
    let present = try orFail { () throws(VaultError) in try token(of: entry.id) }
    guard let present, present.entry.version == entry.version else { return }
    var entry = entry
    entry.store = name
    try await place(entry, entry.isPurged ? .none : present.secret)
  }

  /// Places an entry of this store.
  private func place(_ entry: Entry, _ secret: SharedSecret) async throws(WriteFailure) {
    let (file, form, placement) = try orFail { () throws(VaultError) -> (OpenedFile, [UInt8], Placement) in
      guard secret.count <= Limits.secretBytes else {
        throw .tooLarge(size: secret.count, limit: Limits.secretBytes)
      }
      let (file, keys, _) = try unlocked().parts
      let form = EntryForm.bytes(of: entry)
      var placement = try place.judge { () throws(CryptoError) in
        try secret.withBytes { secret throws(CryptoError) in
          try keys.placement(
            of: entry, form, secret, entry.pending ? .pending : [], known: known(entry.id))
        }
      }
      placement.removesSecret = entry.isPurged
      return (file, form, placement)
    }
    try await commit(placement, of: entry.id, file)
    guard case .unlocked(let open) = condition else { return }
    // In a file that is damaged below its records SQLite may write what it cannot read.
    if open.ledger.wasDamaged {
      do throws(VaultError) { _ = try token(of: entry.id) } catch {
        throw WriteFailure(error, mayTakeEffect: true)
      }
    } else if open.file === file, let row = placement.row, let others = open.othersUntilNow {
      secret.withBytes {
        records.keep(row.name, entry, others, multiplier: placement.multiplier, form: form.span, secret: $0)
      }
    }
  }

  /// What was worked out before of the names of a record.
  private func known(_ id: EntryID) -> KnownNames? {
    guard let record = records.record(id.key.text.utf8.span, id.account.text.utf8.span) else { return nil }
    return KnownNames(id: record.name.id, namespace: record.name.namespace, multiplier: record.multiplier)
  }

  public func remove(
    _ id: EntryID, version: Version, _ patience: Patience
  ) async throws(WriteFailure) -> Bool {
    let found = try orFail { () throws(VaultError) -> Removal? in try removal(of: id, version) }
    guard let (file, placement, wasThere) = found else { return false }
    try await commit(placement, of: id, file)
    return wasThere
  }

  private typealias Removal = (file: OpenedFile, placement: Placement, wasThere: Bool)

  /// What removes a record; `nil` where there is nothing to do.
  private func removal(
    of id: EntryID, _ version: Version
  ) throws(VaultError) -> Removal? {
    let (file, keys, ledger) = try unlocked().parts
    return try place.judge { () throws(CryptoError) in
      let record = try keys.id(of: id)
      let multiplier = try keys.multiplier(of: record)
      let belief = ledger.belief(record)
      var wasThere = belief.missing == multiplier
      if let standing = belief.committed { wasThere = !standing.marks.contains(.tombstone) }
      if let standing = belief.underway ?? nil { wasThere = !standing.marks.contains(.tombstone) }
      if belief.committed == nil, belief.underway == nil, !wasThere {
        // A row that is not believed is removed all the same.
        wasThere = mayHaveRow(record, file)
        if !wasThere, !belief.isDoubted { return nil }
      } else if !wasThere, belief.underway == nil {
        return nil
      }
      var placement = Placement(id: record, multiplier: multiplier, version: version, row: nil)
      if belief.isDoubted {
        let entry = Entry(
          id: id, version: version, created: clock.wall, modified: clock.wall, size: 0, store: name)
        placement = try keys.placement(of: entry, EntryForm.bytes(of: entry), Span(), .tombstone)
      }
      return (file, placement, wasThere)
    }
  }

  private func mayHaveRow(_ record: RecordID, _ file: OpenedFile) -> Bool {
    do throws(DatabaseFault) { return try file.reader.withRow(record) { _, _, _ in true } ?? false } catch {
      return true
    }
  }

  private func commit(
    _ placement: Placement, of id: EntryID, _ file: OpenedFile
  ) async throws(WriteFailure) {
    records.beginChange(of: id)
    let failure = await file.commits.commit(.place(placement))
    records.endChange(of: id)
    guard let failure else { return }
    throw WriteFailure(failure.outcome(in: place), mayTakeEffect: failure.mayHaveCommitted)
  }

  private func orFail<Result>(_ body: () throws(VaultError) -> Result) throws(WriteFailure) -> Result {
    do { return try body() } catch { throw WriteFailure(error) }
  }
}

extension CryptoError: Fault {
  public func outcome(in place: Place) -> VaultError { VaultError(self, in: place) }
}
