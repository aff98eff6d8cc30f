// Removing: clear and logout, and copies that no longer count. The word about a removal is on the disk before anything
// is removed, so that from then on no copy is read again, wherever it is left. Never prompts.

import VaultModel

extension Vault {
  // MARK: Clear and logout

  /// Removes a key. Succeeds where nothing is stored.
  /// - Throws: `.conflict` where the key has another version than `ifVersion`.
  public func clear(
    _ id: EntryID, ifVersion: Version?, caller: CallerID? = nil
  ) async throws(VaultError) -> Clearance {
    if let trouble = state.trouble { throw trouble }
    let patience = patience(interactive: false)
    return try await deadlines.run(patience, late: self.late(.vault, id, isChange: true)) {
      life async throws(VaultError) in
      try await self.turns.take(id) { () async throws(VaultError) in
        try self.requireTime(life, id)
        defer { self.forgetRead(id) }
        if let ifVersion { try await self.require(ifVersion, id, patience) }
        return try await self.clearInTurn(id, caller)
      }
    }
  }

  /// Removes every key of exactly this namespace, of one account or of all.
  public func clearNamespace(
    _ namespace: Namespace, account: Account?, caller: CallerID? = nil
  ) async throws(VaultError) -> Clearance {
    if let trouble = state.trouble { throw trouble }
    let patience = patience(interactive: false)
    return try await deadlines.run(patience, late: self.late(.vault, nil, isChange: true)) {
      life async throws(VaultError) in
      try await self.clearNamespaceNow(namespace, account, caller, patience, life)
    }
  }

  private func clearNamespaceNow(
    _ namespace: Namespace, _ account: Account?, _ caller: CallerID?, _ patience: Patience, _ life: Life
  ) async throws(VaultError) -> Clearance {
    var keys = KeysToClear(account)
    let isFileClosed = fileMayHoldRecords && file.status.state == .locked
    let isClosed = isFileClosed || isSessionClosed
    var trouble: VaultError?
    if isClosed {
      // Which keys are there can't be told: the word about all of them.
      try await state.keep(NamespaceRemoval(namespace: namespace, account: account, version: nextVersion()))
    }
    if fileMayHoldRecords, !isFileClosed {
      do throws(VaultError) {
        try await file.forEach(in: namespace, patience) { keys.add($0.id) }
      } catch {
        trouble = error
      }
    }
    for record in try state.records(namespace) { keys.add(record.id) }
    if session.isUnlocked {
      try await session.forEach(in: namespace, patience) { keys.add($0.id) }
    }
    if preference != .file {
      // What can't be listed and is not recorded is not known to be there.
      let found = try? await secretService.list(namespace, patience)
      for entry in found ?? [] { keys.add(entry.id) }
    }
    var total = try await clearAll(keys.inOrder, caller, life)
    if let trouble { throw trouble }
    if isClosed { total.pending = true }
    return total
  }

  /// The keys that a logout is about, each once.
  private struct KeysToClear {
    private var list: [EntryID] = []
    private var known: Set<EntryID> = []
    private let account: Account?

    /// None yet; of `account` alone, where there is one.
    init(_ account: Account?) {
      self.account = account
    }

    /// By name; where they are more than fit into one commit, in the order in which the file tells them, so that
    /// neighbours in the file are removed together.
    var inOrder: [EntryID] { list.count > Limits.keysClearedAtOnce ? list : list.sorted() }

    /// Adds a key that is not known yet.
    mutating func add(_ id: EntryID) {
      guard account == nil || id.account == account else { return }
      if known.insert(id).inserted { list.append(id) }
    }
  }

  /// What clearing many keys has come to.
  @VaultActor
  private final class ClearingOfMany {
    var total = Clearance(cleared: 0, pending: false)
    var trouble: VaultError?
  }

  /// Clears keys side by side, so that the file commits them together, but never more at once than fill its commits.
  /// Each is tried, whatever befalls another, as long as somebody waits for the outcome: whoever was told that it did
  /// not end in time may store a key anew.
  private func clearAll(
    _ ids: [EntryID], _ caller: CallerID?, _ life: Life
  ) async throws(VaultError) -> Clearance {
    let work = ClearingOfMany()
    await sideBySide(ids, until: { life.isOver }) { id in
      do throws(VaultError) {
        let one = try await self.turns.take(id) { () async throws(VaultError) in
          try self.requireTime(life, id)
          defer { self.forgetRead(id) }
          return try await self.clearInTurn(id, caller)
        }
        work.total.cleared += one.cleared
        work.total.pending = work.total.pending || one.pending
      } catch {
        work.trouble = work.trouble ?? error
      }
    }
    if let trouble = work.trouble { throw trouble }
    return work.total
  }

  /// What is left of many things to do.
  @VaultActor
  private final class Remainder<Item: Sendable> {
    var items: ArraySlice<Item>

    init(_ items: [Item]) {
      self.items = items[...]
    }
  }

  /// Removes things side by side, in their order, never more at once than fill the file's commits.
  private func sideBySide<Item: Sendable>(
    _ items: [Item], until isOver: @escaping @VaultActor () -> Bool = { false },
    _ body: @escaping @VaultActor (Item) async -> Void
  ) async {
    let left = Remainder(items)
    let lanes = (0..<min(items.count, Limits.keysClearedAtOnce)).map { _ in
      let done = Promise<Void>()
      Task {
        while !isOver(), let item = left.items.popFirst() { await body(item) }
        done.resume()
      }
      return done
    }
    for lane in lanes { await lane.value() }
  }

  private func clearInTurn(_ id: EntryID, _ caller: CallerID?) async throws(VaultError) -> Clearance {
    let known = try record(id)
    let version = nextVersion()
    var wasInSession = false
    if case .found = session.lookUp(id) { wasInSession = true }
    // The others first: while the session store's copy is there it is the one that counts.
    var cleared = try await withdraw(id, known, version)
    if wasInSession {
      _ = try await orOutcome { () async throws(WriteFailure) in
        try await session.remove(id, version: version, patience(interactive: false))
      }
      cleared.cleared = 1
      try await keepVersion(version, of: id)
    }
    unsettled.remove(id)
    // A log-out in the middle of a renewal must not be undone by it.
    if !leases.isHolder(caller, of: id) { leases.end(id, .ended) }
    changed(id, .cleared, version, in: nil)
    return cleared
  }

  /// Sees that a version is never given again, also after the session store is gone.
  func keepVersion(_ version: Version, of id: EntryID) async throws(VaultError) {
    // Where more is recorded of the key, that has the version.
    if state.highestVersion < version { try await state.drop(id, version: version) }
  }

  /// Removes all copies of a key from file and Secret Service, or records that they are to be removed: none with a
  /// version below `version` counts any more.
  func withdraw(_ id: EntryID, _ known: StateRecord?, _ version: Version) async throws(VaultError)
    -> Clearance
  {
    let asksProvider = preference != .file
    let mayBeInFile = fileMayHoldRecords
    let provider = copyInSecretService(known)
    if provider == .counts, !state.providerAnswered { try await state.noteProvider() }

    // The word about the removal first: from here on no copy counts.
    // Whatever was known of it is known no more.
    let recorded =
      known != nil || provider != .none || asksProvider || (mayBeInFile && !file.isUnlocked)
      || isSessionClosed
    if recorded {
      try await state.keep(
        StateRecord(
          id: id, version: version, standing: .removed(at: clock.wall), intent: known?.intent))
    }

    var cleared = provider == .counts
    var left = false
    if mayBeInFile {
      do throws(WriteFailure) {
        if try await file.remove(id, version: version, patience(interactive: false)) { cleared = true }
      } catch {
        // Locked: it stays older than the word about it, and is removed when the file is opened.
        guard error.error.outcome == .locked else {
          if recorded { await restore(known, id: id) }
          throw error.error
        }
        // It was open a moment ago, and nothing is recorded yet of what is still in it.
        if !recorded {
          try await state.keep(StateRecord(id: id, version: version, standing: .removed(at: clock.wall)))
        }
        left = true
      }
    }
    left = left || isSessionClosed
    var outstanding = left
    if asksProvider {
      do throws(WriteFailure) {
        if try await secretService.remove(id, version: version, patience(interactive: false)) {
          cleared = cleared || known == nil
        }
        await noteProvider()
      } catch {
        // Pending is said where a copy is known; the removal stays recorded wherever there may be one.
        left = left || provider != .none || error.mayTakeEffect
        outstanding = left || state.providerAnswered
      }
    } else if provider != .none {
      (left, outstanding) = (true, true)
    }
    if recorded, !outstanding {
      try await state.drop(id, version: version)
    }
    return Clearance(cleared: cleared ? 1 : 0, pending: left)
  }

  /// What the state knows of a copy in the Secret Service.
  private enum ProviderCopy {
    /// There is none.
    case none
    /// There may be one, and it is not what the key's value is.
    case stale
    /// There is one, and it is the key's value.
    case counts
  }

  private func copyInSecretService(_ known: StateRecord?) -> ProviderCopy {
    guard let known else { return .none }
    return switch known.standing {
    case .present: .counts
    case .superseded(let old): old != nil || known.intent != nil ? .stale : .none
    // Where none ever answered, there never was one.
    case .removed: known.intent != nil || state.providerAnswered ? .stale : .none
    // Its secret was removed when its time was over.
    case .expired: .none
    case .absent: known.intent != nil ? .stale : .none
    }
  }

  // MARK: Copies that no longer count

  /// Removes what the file has of a key that was changed elsewhere, unless that came later than `version`. Where it
  /// fails, the copy stays older than the word about it, and is removed when the file is opened next.
  func removeStaleCopy(_ id: EntryID, upTo version: Version) async {
    switch file.lookUp(id) {
    case .found(let token) where token.entry.version > version: break
    case .found, .failed(.damaged):
      _ = try? await file.remove(id, version: version, patience(interactive: false))
    case .missing, .failed, .mustWait:
      break
    }
  }

  /// Removes from our own stores all that does not count any more, and finishes changes that a crash cut off between
  /// two of them.
  func removeStaleCopies() async {
    for entry in (try? await session.list(nil, patience(interactive: false))) ?? [] {
      await finishSession(entry)
    }
    guard !state.isEmpty, file.isUnlocked, let records = try? state.records(nil) else { return }
    await sideBySide(records) { record in
      switch record.standing {
      case .present, .expired:
        await self.turns.take(record.id) { await self.removeStaleCopy(record.id, upTo: record.version) }
      case .removed: await self.finishRemoval(record)
      case .superseded, .absent: break
      }
    }
  }

  /// Removes what the file has of a key that was cleared. Where no provider ever answered, that was all that was owed.
  private func finishRemoval(_ record: StateRecord) async {
    await turns.take(record.id) {
      await removeStaleCopy(record.id, upTo: record.version)
      guard !state.providerAnswered, record.intent == nil, !isSessionClosed,
        (try? self.record(record.id)) == record,
        case .missing = file.lookUp(record.id)
      else { return }
      try? await state.drop(record.id, version: record.version)
    }
  }

  /// A value of the session store counts more than all others, or less: what should be gone goes.
  private func finishSession(_ entry: Entry) async {
    await turns.take(entry.id) {
      guard case .found(let token) = session.lookUp(entry.id), token.entry.version == entry.version else {
        return
      }
      let known = try? record(entry.id)
      var newest = known?.version ?? 0
      if case .found(let other) = lookUpFile(entry.id) { newest = max(newest, other.entry.version) }
      if newest > entry.version {
        _ = try? await session.remove(entry.id, version: newest, patience(interactive: false))
      } else if newest > 0, newest < entry.version, !entry.pending {
        _ = try? await withdraw(entry.id, known, entry.version)
      }
    }
  }

  /// Whether the session store may have what can't be reached now.
  var isSessionClosed: Bool { session.status.state == .locked }

  /// Does what a logout could not do while stores of ours were closed.
  func carryOutNamespaceRemovals() async {
    guard !fileMayHoldRecords || file.isUnlocked, !isSessionClosed else { return }
    for removal in state.namespaceRemovals {
      var isDone = await carryOut(removal, in: session)
      if file.isUnlocked { isDone = await carryOut(removal, in: file) && isDone }
      if isDone { try? await state.drop(removal) }
    }
  }

  /// - Returns: whether nothing is left that the removal is about.
  private func carryOut(_ removal: NamespaceRemoval, in store: any OwnStore) async -> Bool {
    let patience = patience(interactive: false)
    var stale: [Entry] = []
    do throws(VaultError) {
      try await store.forEach(in: removal.namespace, patience) { entry in
        guard entry.version < removal.version else { return }
        if removal.account == nil || entry.id.account == removal.account { stale.append(entry) }
      }
    } catch {
      return false
    }
    var isDone = true
    await sideBySide(stale) { entry in
      do throws(WriteFailure) {
        try await self.turns.take(entry.id) { () async throws(WriteFailure) in
          guard case .found(let token) = store.lookUp(entry.id), token.entry.version < removal.version else {
            return
          }
          _ = try await store.remove(entry.id, version: removal.version, patience)
        }
      } catch {
        isDone = false
      }
    }
    return isDone
  }
}
