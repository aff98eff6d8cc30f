// What is owed to the Secret Service, and done as soon as it answers, without anyone asking: removals that
// could not be carried out, and values that wait in the file. And what the Secret Service tells by itself.
// Each key is settled in its turn and by itself; what fails stays owed and is tried again at the next sign of
// life. It never prompts.

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
        Task { await deletedElsewhere(id) }
      case .available, .unlocked:
        // That somebody has the bus name now is noted with the first answer that a request gets.
        settle()
      case .itemChanged, .locked, .unavailable:
        break  // nothing of the Secret Service is kept in memory
      }
    }
  }

  /// Another program removed the last item of a key while we were watching: that is a clear.
  private func deletedElsewhere(_ id: EntryID) async {
    guard preference != .file, state.trouble == nil else { return }
    await turns.take(id) {
      guard case .present? = try? record(id)?.standing else { return }
      // Where this can't be written the key stays known, and reads of it say that the provider lost it.
      try? await state.drop(id, version: nextVersion())
    }
  }

  /// Begins to do what is owed, unless that is under way or failed a moment ago.
  func settle() {
    guard owesSecretService, !isSettling, !isLocked, clock.boot >= settleAgainAt else { return }
    isSettling = true
    Task {
      let done = await settleAll()
      isSettling = false
      if !done { settleAgainAt = clock.boot.advanced(by: Limits.settleMilliseconds) }
    }
  }

  private var owesSecretService: Bool {
    preference != .file && state.trouble == nil
      && (state.removalCount > 0 || (preference == .auto && file.isUnlocked && file.status.pending > 0))
  }

  /// - Returns: whether nothing is owed any more.
  func settleAll() async -> Bool {
    do throws(VaultError) {
      for record in try state.records(nil) {
        if case .removed = record.standing { try await settleRemoval(record.id) }
      }
      if preference == .auto, file.isUnlocked {
        for entry in try await file.list(nil, patience(interactive: false)) where entry.pending {
          try await settlePending(entry.id)
        }
      }
      return !owesSecretService
    } catch {
      return false
    }
  }

  private func settleRemoval(_ id: EntryID) async throws(VaultError) {
    try await turns.take(id) { () async throws(VaultError) in
      guard let known = try record(id), case .removed = known.standing else { return }
      // While the file is closed it may have a copy, which only this record keeps from being read.
      guard !fileMayHoldRecords || file.isUnlocked else { return }
      do throws(WriteFailure) {
        _ = try await secretService.remove(id, version: known.version, patience(interactive: false))
      } catch {
        throw error.error
      }
      await removeStaleCopy(id, below: known.version)
      if case .found = file.lookUp(id) { return }
      try await state.drop(id, version: known.version)
    }
  }

  private func settlePending(_ id: EntryID) async throws(VaultError) {
    try await turns.take(id) { () async throws(VaultError) in
      guard case .found(let token) = file.lookUp(id), token.entry.pending else { return }
      let patience = patience(interactive: false)
      if let other = try await secretService.read(id, patience)?.entry.dated,
        other.version > token.entry.version
      {
        // Another program changed it in the keyring after our change: the later one wins.
        try await state.keep(
          StateRecord(id: id, version: other.version, standing: .present(other)))
        await removeStaleCopy(id, below: other.version)
        return
      }
      do throws(WriteFailure) {
        // Moving is no change of the key: the version stays.
        _ = try await setInSecretService(token.entry, token.secret, try knownForMove(id), patience)
      } catch {
        throw error.error
      }
    }
  }

  private func knownForMove(_ id: EntryID) throws(WriteFailure) -> StateRecord? {
    do throws(VaultError) {
      return try record(id)
    } catch {
      throw WriteFailure(error)
    }
  }
}
