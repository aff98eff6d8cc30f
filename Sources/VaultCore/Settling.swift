// What is owed to the Secret Service, and done as soon as it answers, without anyone asking: removals that could not be
// carried out, values that wait in the file, writes whose outcome is unknown, secrets whose time is over. And what the
// Secret Service tells by itself. Each key is settled in its turn and by itself; what fails stays owed and is tried
// again at the next sign of life. It never prompts.

import VaultModel

extension Vault {
  /// Listens to the Secret Service and to what it tells of changes by other programs.
  func watchSecretService() {
    secretService.onChange = { [weak self] changes in self?.secretServiceChanged(changes) }
  }

  private func secretServiceChanged(_ changes: [StoreChange]) {
    for change in changes {
      switch change {
      case .itemDeleted(let id):
        forgetRead(id)
        let known = try? record(id)
        // At once: who finds nothing just now waits for its turn.
        Task.immediate { await deletedElsewhere(id, known) }
      case .itemChanged(let id?):
        forgetRead(id)
        changedElsewhere(id)
      case .itemChanged(nil):
        forgetReads()
      case .available, .unlocked:
        forgetReads()
        tellOfSecretService(change == .available ? .available : .unlocked)
        // That somebody has the bus name now is noted with the first answer that a request gets.
        settleNow()
      case .locked:
        forgetReads()
        tellOfSecretService(.locked)
      case .unavailable:
        forgetReads()
        tellOfSecretService(.unavailable)
      }
    }
  }

  private func tellOfSecretService(_ kind: VaultEvent.Kind) {
    guard preference != .file else { return }
    watchers.tell(VaultEvent(kind, store: .secretService))
  }

  /// Another program made or changed an item: who watches is told what it is now.
  private func changedElsewhere(_ id: EntryID) {
    if case .found(let token) = lookUpFile(id), token.entry.pending { settle() }
    guard !watchers.isEmpty, preference != .file, !isLocked, case .secretService = route(id) else { return }
    // The read itself recognises the change.
    Task { _ = try? await unjudged(GetRequest(id: id, interactive: false)) }
  }

  /// Another program removed the last item of a key while we were watching: that is a clear.
  /// `known` is what was recorded when it was told: what was set since then is not what was removed.
  private func deletedElsewhere(_ id: EntryID, _ known: StateRecord?) async {
    guard preference != .file, state.trouble == nil, case .present = known?.standing else { return }
    await turns.take(id) {
      guard (try? record(id)) == known else { return }
      let version = nextVersion()
      // Where this can't be written the key stays known, and reads of it say that the provider lost it.
      guard (try? await state.drop(id, version: version)) != nil else { return }
      changed(id, .cleared, version, in: .secretService)
    }
  }

  /// Begins to do what is owed, unless that is under way or failed a moment ago.
  func settle() {
    guard owesSecretService, !isSettling, !isLocked, clock.boot >= settleAgainAt else { return }
    isSettling = true
    Task {
      let done = await settleAll()
      isSettling = false
      if done {
        settleWait = Limits.settleMilliseconds
      } else {
        settleLater()
      }
    }
  }

  /// Something failed. A provider that is away or locked tells when it is not any more; one that answers and refuses is
  /// asked again by itself, ever more seldom.
  private func settleLater() {
    settleAgainAt = clock.boot.advanced(by: settleWait)
    settleWait = min(2 * settleWait, Limits.longestSettleMilliseconds)
    guard secretService.status.state == .available else { return }
    clock.alarms.set(settleAgainAt) { [weak self] in self?.settle() }
  }

  /// The provider answers again: what failed before is no reason to wait.
  private func settleNow() {
    settleAgainAt = clock.boot
    settleWait = Limits.settleMilliseconds
    settle()
  }

  private var owesSecretService: Bool {
    preference != .file && state.trouble == nil
      && (state.removalCount > 0 || !unsettled.isEmpty || !overdue().isEmpty
        || (preference == .auto && file.isUnlocked && file.status.pending > 0))
  }

  /// Each by itself: one that is refused does not keep the others from being done.
  /// - Returns: whether nothing is owed any more.
  func settleAll() async -> Bool {
    do throws(VaultError) {
      for record in try state.records(nil) {
        if case .removed = record.standing {
          try await settle { () async throws(VaultError) in
            try await self.settleRemoval(record.id)
          }
        }
      }
      if preference == .auto, file.isUnlocked {
        for entry in try await file.list(nil, patience(interactive: false)) where entry.pending {
          try await settle { () async throws(VaultError) in try await self.settlePending(entry.id) }
        }
      }
      for id in unsettled {
        try await settle { () async throws(VaultError) in try await self.settleOutcome(id) }
      }
      for (id, version) in overdue() {
        try await settle { () async throws(VaultError) in
          try await self.turns.take(id) { () async throws(VaultError) in
            try await self.purgeInTurn(id, version)
          }
        }
      }
      return !owesSecretService
    } catch {
      return false
    }
  }

  /// - Throws: where it failed and so would all the others.
  private func settle(_ one: @VaultActor () async throws(VaultError) -> Void) async throws(VaultError) {
    do throws(VaultError) {
      try await one()
    } catch {
      guard secretService.status.state == .available, error.outcome != .locked else { throw error }
    }
  }

  private func settleRemoval(_ id: EntryID) async throws(VaultError) {
    try await turns.take(id) { () async throws(VaultError) in
      guard let known = try record(id), case .removed(let removedAt) = known.standing else { return }
      // While the file is closed it may have a copy, which only this record keeps from being read.
      guard !fileMayHoldRecords || file.isUnlocked, !isSessionClosed else { return }
      let patience = patience(interactive: false)
      if known.intent == nil, let date = try await secretService.lastChange(id, patience),
        date.seconds > removedAt.seconds
      {
        // Another program set it after the clear: that is the later change. Not with a write of ours on its way, which
        // may be what changed it.
        await removeStaleCopy(id, upTo: known.version)
        try await state.drop(id, version: known.version)
        forgetRead(id)
        watchers.tell(VaultEvent(.lost, id: id, version: known.version, store: .secretService))
        return
      }
      _ = try await orOutcome { () async throws(WriteFailure) in
        try await secretService.remove(id, version: known.version, patience)
      }
      await removeStaleCopy(id, upTo: known.version)
      // Still there: the disk would not let it go, and this record keeps it from being read.
      if case .found(let token) = file.lookUp(id), token.entry.version <= known.version { return }
      try await state.drop(id, version: known.version)
    }
  }

  private func settlePending(_ id: EntryID) async throws(VaultError) {
    try await turns.take(id) { () async throws(VaultError) in
      guard case .found(let token) = file.lookUp(id), token.entry.pending else { return }
      let patience = patience(interactive: false)
      let known = try record(id)
      if let known, known.version > token.entry.version {
        await removeStaleCopy(id, upTo: known.version)
        return
      }
      if let later = try await laterChange(than: token.entry, known, patience) {
        // Another program changed it in the keyring after our change: the later one wins.
        try await state.keep(StateRecord(id: id, version: later.version, standing: .present(later)))
        await removeStaleCopy(id, upTo: later.version)
        changed(id, .lost, later.version, in: .secretService)
        return
      }
      // Moving is no change of the key: the version stays.
      _ = try await orOutcome { () async throws(WriteFailure) in
        try await setInSecretService(token.entry, token.secret, known, patience)
      }
      forgetRead(id)
    }
  }

  /// What another program made of a key in the Secret Service after a change that is still pending; `nil` where it did
  /// not.
  private func laterChange(
    than pending: Entry, _ known: StateRecord?, _ patience: Patience
  ) async throws(VaultError) -> Entry? {
    guard var other = try await secretService.read(pending.id, patience)?.entry else { return nil }
    if other.version > pending.version { return other }
    // With a write of ours on its way, that may be what changed the item.
    guard known?.intent == nil, let date = try await secretService.lastChange(pending.id, patience),
      date.seconds > pending.modified.seconds, other.version != pending.version
    else { return nil }
    other.version = max(pending.version + 1, date.milliseconds)
    other.setAt = nil
    return other
  }

  /// Looks what a write did whose answer never came; the read that finds out records it.
  private func settleOutcome(_ id: EntryID) async throws(VaultError) {
    guard case .secretService(let known, _) = route(id), known?.intent != nil else {
      unsettled.remove(id)
      return
    }
    forgetRead(id)
    do throws(VaultError) {
      _ = try await unjudged(GetRequest(id: id, interactive: false))
    } catch {
      // Not there: it did not happen, or the provider that answers is another one, and a read will say so.
      if error.outcome != .notFound, case .unavailable(_, _, stored: nil) = error { throw error }
      if error.outcome == .locked { throw error }
    }
    unsettled.remove(id)
  }
}
