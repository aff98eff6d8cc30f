// Changing: set. The order of the steps is what keeps the promises: an intent is on the disk before the Secret Service
// is asked to change, and nothing is acknowledged before its last step. A crash between two steps leaves the old value
// or the new. What removes is in `Clearing`.

import SecretMemory
import VaultModel

extension Vault {
  /// Stores a secret and returns its entry.
  /// - Throws: `.conflict` where the key has another version than the one that the request names, or the lease that it
  ///   names has ended.
  public func set(_ request: SetRequest, caller: CallerID? = nil) async throws(VaultError) -> Entry {
    try requireUnlocked()
    guard request.secret.count <= Limits.secretBytes else {
      throw .tooLarge(size: request.secret.count, limit: Limits.secretBytes)
    }
    // A duration counts from the request, and not from its turn.
    let now = clock.moment
    let expires = try end(of: request, now)
    if let trouble = state.trouble { throw trouble }
    let patience = patience(interactive: request.interactive)
    return try await deadlines.run(patience, late: self.late(.vault, request.id, isChange: true)) {
      life async throws(VaultError) in
      try await self.turns.take(request.id) { () async throws(VaultError) in
        try self.requireUnlocked()
        try self.requireTime(life, request.id)
        do throws(VaultError) {
          return try await self.setInTurn(request, expires, now, self.renewed(patience))
        } catch {
          // It may have been done all the same.
          self.forgetRead(request.id)
          throw error
        }
      }
    }
  }

  private func setInTurn(
    _ request: SetRequest, _ expires: WallTime?, _ now: Moment, _ patience: Patience
  ) async throws(VaultError) -> Entry {
    let id = request.id
    if let lease = request.lease, !leases.isPresent(lease, of: id) {
      throw .conflict(id, version: try await presentVersion(id, patience).version)
    }
    if let expected = request.ifVersion { try await require(expected, id, patience) }
    let doubt = await settleBeforeSet(request, patience)
    let known = try record(id)
    let entry = makeEntry(for: request, expires, now, known)
    let begun = clock.boot
    let stored = try await store(entry, request.secret, known, doubt, patience)
    changed(id, .set, stored.version, in: stored.store)
    leases.end(id, .renewed)
    schedule(stored)
    if stored.store == .secretService, !isLocked {
      cache.keep(Token(entry: stored, secret: request.secret), readAt: begun)
    }
    return stored
  }

  /// Finds out what an earlier write into the Secret Service did whose outcome is unknown, where it may be the key's
  /// value: so an item is never of more than two.
  /// - Returns: why that can't be found out: then nothing may be written there.
  private func settleBeforeSet(_ request: SetRequest, _ patience: Patience) async -> VaultError? {
    guard preference != .file, !request.untilLogout, case .secretService(let known?, _) = route(request.id),
      known.intent != nil
    else { return nil }
    do throws(VaultError) {
      try await settleInTurn(request.id, known, patience)
      return nil
    } catch {
      return error
    }
  }

  /// `doubt`: why nothing may be written into the Secret Service.
  private func store(
    _ entry: Entry, _ secret: SharedSecret, _ known: StateRecord?, _ doubt: VaultError?, _ patience: Patience
  ) async throws(VaultError) -> Entry {
    if entry.untilLogout { return try await setInSession(entry, secret, known, patience) }
    let marked = try await markSessionCopy(entry.id, patience)
    let stored: Entry
    do throws(VaultError) {
      stored =
        switch preference {
        case .file: try await setInFile(entry, secret, known, pending: false, patience)
        case .secretService:
          try await orOutcome { () async throws(WriteFailure) in
            if let doubt { throw WriteFailure(doubt) }
            return try await setInSecretService(entry, secret, known, patience)
          }
        case .auto: try await setWherePossible(entry, secret, known, doubt, patience)
        }
    } catch {
      await unmarkSessionCopy(marked, patience)
      throw error
    }
    if marked != nil { _ = try? await session.remove(entry.id, version: entry.version, patience) }
    return stored
  }

  private func makeEntry(
    for request: SetRequest, _ expires: WallTime?, _ now: Moment, _ known: StateRecord?
  ) -> Entry {
    // The time of its turn: what another change of the key did to the item before that is no later change.
    let modified = clock.wall
    var created = modified
    if let token = sealedToken(request.id) {
      created = token.facts.created
    } else {
      switch route(request.id) {
      case .answer(.success(let token)): created = token.entry.created
      case .answer(.failure): break
      case .secretService: if case .present(let entry) = known?.standing { created = entry.created }
      }
    }
    return Entry(
      id: request.id, version: nextVersion(), created: created, modified: modified, expires: expires,
      idle: request.idle, untilLogout: request.untilLogout, label: request.label, size: request.secret.count,
      store: .secretService, setAt: now)
  }

  /// When the entry of a request is over.
  private func end(of request: SetRequest, _ now: Moment) throws(VaultError) -> WallTime? {
    if let seconds = request.expiresIn {
      guard (1...Limits.longestDuration).contains(seconds) else {
        throw .invalidArgument(argument: "expiresIn", reason: "is not between a second and 1,000 years")
      }
      return WallTime(milliseconds: now.wall.milliseconds + seconds * 1_000)
    }
    guard let seconds = request.expires else { return nil }
    guard (1...Limits.latestTime).contains(seconds) else {
      throw .invalidArgument(argument: "expires", reason: "is no time between 1970 and 9999")
    }
    let end = WallTime(seconds: seconds)
    guard end > now.wall else {
      throw .invalidArgument(
        argument: "expires", reason: "is over already: \(end.rfc3339); a token is stored while it is valid")
    }
    return end
  }

  // MARK: Versions

  /// The version that a key has now, 0 where nothing is stored; and whether its time is over.
  private func presentVersion(
    _ id: EntryID, _ patience: Patience
  ) async throws(VaultError) -> (version: Version, isOver: Bool) {
    do throws(VaultError) {
      let entry: Entry
      switch route(id) {
      case .answer(let answer): entry = try answer.get().entry
      case .secretService(let known, _):
        // Another program may have changed it. Where nobody can say, what is recorded counts.
        forgetRead(id)
        do throws(VaultError) {
          entry = try await readPresent(id, patience)
        } catch {
          switch known?.standing {
          case .present(let recorded), .expired(let recorded): entry = recorded
          case .superseded, .absent, .removed, nil: throw error
          }
        }
      }
      return (entry.version, validity(entry).milliseconds == 0)
    } catch {
      if case .notFound = error { return (0, false) }
      throw error
    }
  }

  private func readPresent(_ id: EntryID, _ patience: Patience) async throws(VaultError) -> Entry {
    guard case .secretService(let known, let ifMissing) = route(id) else { throw .notFound(id) }
    var quiet = patience
    quiet.interactive = false
    guard let found = try await secretService.read(id, quiet) else {
      switch known?.standing {
      case .present(let entry), .expired(let entry): return entry
      case .superseded, .absent, .removed, nil: break
      }
      throw ifMissing ?? .notFound(id)
    }
    return recognised(found, known)
  }

  /// Sees that a key has the version that a request names; 0: that nothing is stored there.
  func require(_ expected: Version, _ id: EntryID, _ patience: Patience) async throws(VaultError) {
    let present = try await presentVersion(id, patience)
    if present.version == expected { return }
    // What is over is hidden: for who has never seen it nothing is there.
    if expected == 0, present.isOver { return }
    throw .conflict(id, version: present.version)
  }

  // MARK: The session store

  private func setInSession(
    _ entry: Entry, _ secret: SharedSecret, _ known: StateRecord?, _ patience: Patience
  ) async throws(VaultError) -> Entry {
    var entry = entry
    entry.store = .session
    try await orOutcome { () async throws(WriteFailure) in
      try await session.write(entry, secret, patience)
    }
    // From here on it is the newest of all copies. The others go, and the version stays known when it goes itself.
    _ = try await withdraw(entry.id, known, entry.version)
    try await keepVersion(entry.version, of: entry.id)
    return entry
  }

  /// Marks the session store's copy of a key: a value that counts more is on its way into another store, which may be
  /// closed when somebody asks after a crash.
  private func markSessionCopy(_ id: EntryID, _ patience: Patience) async throws(VaultError) -> Entry? {
    guard case .found(let token) = session.lookUp(id) else { return nil }
    var marked = token.entry
    marked.pending = true
    try await orOutcome { () async throws(WriteFailure) in try await session.update(marked, patience) }
    return token.entry
  }

  private func unmarkSessionCopy(_ entry: Entry?, _ patience: Patience) async {
    guard let entry else { return }
    // Where this fails the mark costs an answer while the file is closed, and no value.
    try? await session.update(entry, patience)
  }

  // MARK: The other stores

  private func setWherePossible(
    _ entry: Entry, _ secret: SharedSecret, _ known: StateRecord?, _ doubt: VaultError?, _ patience: Patience
  ) async throws(VaultError) -> Entry {
    do throws(WriteFailure) {
      if let doubt { throw WriteFailure(doubt) }
      return try await setInSecretService(entry, secret, known, patience)
    } catch {
      // Somebody locked the vault meanwhile: that is what it is about, and not that one of its stores is closed or away.
      if !error.mayTakeEffect { try requireUnlocked() }
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
          id: entry.id, version: known?.version ?? 0, standing: known?.standing ?? .absent,
          intent: Intent(entry, fingerprint(of: secret, in: entry))))
    } catch {
      throw WriteFailure(error)
    }
    do throws(WriteFailure) {
      try await secretService.write(entry, secret, patience)
    } catch {
      if error.mayTakeEffect { unsettled.insert(entry.id) } else { await restore(known, id: entry.id) }
      throw error
    }
    await noteProvider()
    do throws(VaultError) {
      try await state.keep(StateRecord(id: entry.id, version: entry.version, standing: .present(entry)))
    } catch {
      unsettled.insert(entry.id)
      throw WriteFailure(error, mayTakeEffect: true)
    }
    unsettled.remove(entry.id)
    await removeStaleCopy(entry.id, upTo: entry.version)
    return entry
  }

  /// Writes into the file; afterwards that is where the key is.
  private func setInFile(
    _ entry: Entry, _ secret: SharedSecret, _ known: StateRecord?, pending: Bool, _ patience: Patience
  ) async throws(VaultError) -> Entry {
    var entry = entry
    entry.store = .file
    entry.pending = pending
    try await orOutcome { () async throws(WriteFailure) in try await file.write(entry, secret, patience) }
    if let known {
      // From here on the copy in the Secret Service does not count, also while the file is locked.
      let old: Entry? =
        switch known.standing {
        case .present(let entry): entry
        case .superseded(let old): old
        // Nobody has seen it go: it may be there still, and of it no more is known than when it was cleared.
        case .removed(let time) where state.providerAnswered:
          Entry(
            id: entry.id, version: known.version, created: time, modified: time, size: 0,
            store: .secretService)
        case .removed, .absent, .expired: nil
        }
      try await state.keep(
        StateRecord(
          id: entry.id, version: entry.version, standing: .superseded(old: old), intent: known.intent))
    }
    return entry
  }

  /// Puts back what was recorded before an intent that came to nothing.
  func restore(_ known: StateRecord?, id: EntryID) async {
    // If this fails the intent stays on record: then a reader is told what the provider has, which is true.
    if let known {
      try? await state.keep(known)
    } else {
      try? await state.drop(id, version: 0)
    }
  }
}
