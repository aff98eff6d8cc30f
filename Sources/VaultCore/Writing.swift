// Changing: set, clear, logout. The order of the steps is what keeps the promises: an intent is on the disk
// before the Secret Service is asked to change, the word about a removal before anything is removed, and
// nothing is acknowledged before its last step. A crash between two steps leaves the old value or the new.

import SecretMemory
import VaultModel

extension Vault {
  /// Stores a secret and returns its entry.
  public func set(_ request: SetRequest) async throws(VaultError) -> Entry {
    try requireUnlocked()
    try requireSupported(request)
    guard request.secret.count <= Limits.secretBytes else {
      throw .tooLarge(size: request.secret.count, limit: Limits.secretBytes)
    }
    if let trouble = state.trouble { throw trouble }
    let patience = patience(interactive: request.interactive)
    return try await turns.take(request.id) { () async throws(VaultError) in
      try requireUnlocked()
      let known = try record(request.id)
      let entry = makeEntry(for: request, known)
      switch preference {
      case .file:
        return try await setInFile(entry, request.secret, known, pending: false, patience)
      case .secretService:
        do throws(WriteFailure) {
          return try await setInSecretService(entry, request.secret, known, patience)
        } catch {
          throw error.error
        }
      case .auto:
        return try await setWherePossible(entry, request.secret, known, patience)
      }
    }
  }

  private func makeEntry(for request: SetRequest, _ known: StateRecord?) -> Entry {
    let now = clock.wall
    var created = now
    if case .present(let entry) = known?.standing { created = entry.created }
    if case .found(let token) = file.lookUp(request.id) { created = token.entry.created }
    return Entry(
      id: request.id, version: nextVersion(), created: created, modified: now, label: request.label,
      size: request.secret.count, store: .secretService)
  }

  private func setWherePossible(
    _ entry: Entry, _ secret: SharedSecret, _ known: StateRecord?, _ patience: Patience
  ) async throws(VaultError) -> Entry {
    do throws(WriteFailure) {
      return try await setInSecretService(entry, secret, known, patience)
    } catch {
      guard error.error.outcome == .locked || error.error.outcome == .unavailable else { throw error.error }
      guard file.exists else { throw withHintToInitialise(error.error) }
      guard file.isUnlocked else { throw error.error }
      let known = try record(entry.id)
      return try await setInFile(entry, secret, known, pending: true, self.patience(interactive: false))
    }
  }

  /// Writes into the Secret Service; afterwards that is where the key is.
  func setInSecretService(
    _ entry: Entry, _ secret: SharedSecret, _ known: StateRecord?, _ patience: Patience
  ) async throws(WriteFailure) -> Entry {
    var entry = entry
    entry.store = .secretService
    entry.pending = false
    do throws(VaultError) {
      // The standing stays what it was until the write is acknowledged.
      try await state.keep(
        StateRecord(
          id: entry.id, version: known?.version ?? 0, standing: known?.standing ?? .absent, intent: entry))
    } catch {
      throw WriteFailure(error)
    }
    do throws(WriteFailure) {
      try await secretService.write(entry, secret, patience)
    } catch {
      if !error.mayTakeEffect { await restore(known, id: entry.id) }
      throw error
    }
    await noteProvider()
    do throws(VaultError) {
      try await state.keep(StateRecord(id: entry.id, version: entry.version, standing: .present(entry)))
    } catch {
      throw WriteFailure(error, mayTakeEffect: true)
    }
    await removeStaleCopy(entry.id, below: entry.version)
    return entry
  }

  /// Writes into the file; afterwards that is where the key is.
  private func setInFile(
    _ entry: Entry, _ secret: SharedSecret, _ known: StateRecord?, pending: Bool, _ patience: Patience
  ) async throws(VaultError) -> Entry {
    var entry = entry
    entry.store = .file
    entry.pending = pending
    do throws(WriteFailure) {
      try await file.write(entry, secret, patience)
    } catch {
      throw error.error
    }
    if let known {
      // From here on the copy in the Secret Service does not count, also while the file is locked.
      let old: Entry? =
        switch known.standing {
        case .present(let entry): entry
        case .superseded(let old): old
        case .removed, .absent, .expired: nil
        }
      try await state.keep(
        StateRecord(
          id: entry.id, version: entry.version, standing: .superseded(old: old), intent: known.intent))
    }
    return entry
  }

  /// Puts back what was recorded before an intent that came to nothing.
  private func restore(_ known: StateRecord?, id: EntryID) async {
    // If this fails the intent stays on record: then a reader is told what the provider has, which is true.
    if let known {
      try? await state.keep(known)
    } else {
      try? await state.drop(id, version: 0)
    }
  }

  // MARK: Clear and logout

  /// Removes a key. Succeeds where nothing is stored. Never prompts.
  public func clear(_ id: EntryID, ifVersion: Version?) async throws(VaultError) -> Clearance {
    try requireSupported(ifVersion: ifVersion)
    if let trouble = state.trouble { throw trouble }
    return try await turns.take(id) { () async throws(VaultError) in try await clearInTurn(id) }
  }

  /// Removes every key of exactly this namespace, of one account or of all.
  public func clearNamespace(
    _ namespace: Namespace, account: Account?
  ) async throws(VaultError) -> Clearance {
    if let trouble = state.trouble { throw trouble }
    var ids = Set(try state.records(namespace).map(\.id))
    if fileMayHoldRecords {
      for entry in try await file.list(namespace, patience(interactive: false)) { ids.insert(entry.id) }
    }
    if preference != .file {
      // What can't be listed and is not recorded is not known to be there.
      let found = try? await secretService.list(namespace, patience(interactive: false))
      for entry in found ?? [] { ids.insert(entry.id) }
    }
    if let account { ids = ids.filter { $0.account == account } }
    return try await clearAll(ids.sorted())
  }

  /// Clears keys side by side, so that the file commits them together. Each is tried, whatever befalls another.
  private func clearAll(_ ids: [EntryID]) async throws(VaultError) -> Clearance {
    let clears = ids.map { id in
      Task { () -> Result<Clearance, VaultError> in
        do throws(VaultError) {
          return .success(try await clear(id, ifVersion: nil))
        } catch {
          return .failure(error)
        }
      }
    }
    var total = Clearance(cleared: 0, pending: false)
    var trouble: VaultError?
    for clear in clears {
      switch await clear.value {
      case .success(let one):
        total.cleared += one.cleared
        total.pending = total.pending || one.pending
      case .failure(let error):
        trouble = trouble ?? error
      }
    }
    if let trouble { throw trouble }
    return total
  }

  private func clearInTurn(_ id: EntryID) async throws(VaultError) -> Clearance {
    let known = try record(id)
    let version = nextVersion()
    let asksProvider = preference != .file
    let mayBeInFile = fileMayHoldRecords
    let provider = copyInSecretService(known)

    // The word about the removal first: from here on no copy counts.
    let recorded = provider != .none || asksProvider || (mayBeInFile && !file.isUnlocked)
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
        left = true
      }
    }
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
    case .removed: .stale
    case .expired: .none
    case .absent: known.intent != nil ? .stale : .none
    }
  }

  // MARK: Copies that no longer count

  /// Removes what the file has of a key whose value is elsewhere now. Where that fails, the copy stays older
  /// than the word about it, and is removed when the file is opened next.
  func removeStaleCopy(_ id: EntryID, below version: Version) async {
    switch file.lookUp(id) {
    case .found, .failed(.damaged):
      _ = try? await file.remove(id, version: version, patience(interactive: false))
    case .missing, .failed, .mustWait:
      break
    }
  }

  /// Removes from the file all that does not count any more.
  func removeStaleCopies() async {
    guard !state.isEmpty, file.isUnlocked, let records = try? state.records(nil) else { return }
    for record in records {
      switch record.standing {
      case .present, .removed: await removeStaleCopy(record, unlessNewerThan: record.version)
      case .superseded, .absent, .expired: break
      }
    }
  }

  private func removeStaleCopy(_ record: StateRecord, unlessNewerThan version: Version) async {
    await turns.take(record.id) {
      if case .found(let token) = file.lookUp(record.id), token.entry.version > version { return }
      await removeStaleCopy(record.id, below: version)
    }
  }
}
