// What follows from the end of entries: watchers are told, the secret is removed a while later, and uses of a token that
// ends when it is idle are written down. That an entry which is over is never handed out does not depend on any of
// this: `Reading` judges each time. With nothing that has an end there is no alarm.

import SecretMemory
import VaultModel

extension Vault {
  // MARK: Validity

  /// How it stands with the time of an entry now.
  func validity(_ entry: Entry) -> Validity {
    guard entry.hasEnd || entry.isPurged else { return .forever }
    return entry.validity(use: uses[entry.id], now: clock.moment, latest: state.latestTime)
  }

  /// The token, if so many seconds are left of it.
  func judge(_ token: Token, minValidity: Int64?) throws(VaultError) -> Token {
    guard token.entry.hasEnd || token.entry.isPurged else { return token }
    let least = max(1, (minValidity ?? 0) * 1_000)
    switch validity(token.entry) {
    case .forever: return token
    case .left(let left):
      // Over is when nothing is left; of a validity that is asked for, exactly so much will do.
      guard left >= least else {
        let end = WallTime(milliseconds: clock.wall.milliseconds + left)
        throw .expired(token.entry.id, at: end)
      }
      return token
    case .over(let end), .doubtful(let end, _): throw .expired(token.entry.id, at: end)
    }
  }

  // MARK: Uses

  /// A token was handed out or touched: its idle time begins anew.
  func noteUse(of entry: Entry) {
    guard let idle = entry.idle else { return }
    let now = clock.moment
    uses[entry.id] = now
    guard let recorded = entry.lastUse ?? entry.setAt else { return recordUse(of: entry.id) }
    let since =
      recorded.bootID == now.bootID
      ? now.boot.milliseconds - recorded.boot.milliseconds
      : now.wall.milliseconds - recorded.wall.milliseconds
    if since >= idle * 1_000 / Limits.idleParts { recordUse(of: entry.id) }
  }

  private func recordUse(of id: EntryID) {
    guard recordingUse.insert(id).inserted else { return }
    Task {
      // Where it can't be written down, the token ends early after a crash, never late.
      try? await turns.take(id) { () async throws(VaultError) in
        guard let use = uses[id], let (entry, place) = try own(id) else { return }
        var used = entry
        used.lastUse = use
        try await rewrite(used, in: place)
      }
      recordingUse.remove(id)
    }
  }

  /// Where what counts of a key is recorded.
  enum Record {
    case session, file
    case state(StateRecord)
  }

  /// What is recorded of a key, without asking the Secret Service; `nil` where nothing that counts is.
  func own(_ id: EntryID) throws(VaultError) -> (Entry, Record)? {
    switch route(id) {
    case .answer(.success(let token)):
      switch token.entry.store {
      case .session: return (token.entry, .session)
      case .file: return (token.entry, .file)
      case .secretService: return nil  // what is left of one that was purged
      }
    case .answer(.failure): return nil
    case .secretService(let known, _):
      guard let known, case .present(let entry) = known.standing else { return nil }
      return (entry, .state(known))
    }
  }

  /// Replaces what is recorded of an entry beside its secret, under the same version.
  private func rewrite(_ entry: Entry, in place: Record) async throws(VaultError) {
    switch place {
    case .session:
      try await orOutcome { () async throws(WriteFailure) in
        try await session.update(entry, patience(interactive: false))
      }
    case .file:
      try await orOutcome { () async throws(WriteFailure) in
        try await file.update(entry, patience(interactive: false))
      }
    case .state(var record):
      record.standing = entry.isPurged ? .expired(entry) : .present(entry)
      try await state.keep(record)
      cache.forget(entry.id)
    }
  }

  // MARK: The schedule

  /// Has the end of an entry noticed, where it has one.
  func schedule(_ entry: Entry) {
    guard entry.hasEnd, !entry.isPurged else { return }
    let wait: Int64 =
      switch validity(entry) {
      case .forever: 0
      case .left(let left): left
      case .over: 0
      case .doubtful(_, let until): until.milliseconds - clock.wall.milliseconds
      }
    // A clock that is years off must not overflow.
    let most = Limits.longestDuration * 1_000
    add(
      Due(
        time: clock.boot.advanced(by: min(max(0, wait), most)), id: entry.id, version: entry.version,
        step: .end))
  }

  private func add(_ due: Due) {
    scheduled.add(due)
    orderExpiry()
  }

  private func orderExpiry() {
    guard let next = scheduled.next else { return }
    if let ordered = expiryOrdered, ordered <= next { return }
    expiryOrdered = next
    clock.alarms.set(next) { [weak self] in
      guard let self, expiryOrdered == next else { return }
      expiryOrdered = nil
      handleDue()
    }
  }

  private func handleDue() {
    let isSteady = isClockSteady()
    while let due = scheduled.take(now: clock.boot) {
      // Cleared, set anew, or out of sight: whatever it is now has a line of its own, or gets one when it is seen.
      guard let (entry, _) = try? own(due.id), entry.version == due.version, !entry.isPurged else { continue }
      switch (validity(entry), due.step) {
      case (.forever, _): break
      case (.left, _), (.doubtful, _): schedule(entry)
      case (.over, .end):
        cache.forget(due.id)
        if toldExpired.updateValue(entry.version, forKey: due.id) != entry.version {
          watchers.tell(VaultEvent(.expired, id: due.id, version: entry.version, store: entry.store))
        }
        addPurge(due)
      case (.over, .purge):
        if isSteady { purge(due) } else { addPurge(due) }
      }
    }
    orderExpiry()
  }

  private func addPurge(_ due: Due) {
    var purge = due
    (purge.step, purge.time) = (.purge, clock.boot.advanced(by: Limits.purgeMilliseconds))
    add(purge)
  }

  /// Schedules everything that has an end: at the start, once the file is open, and after the clock was set.
  func scheduleAll() async {
    scheduled.removeAll()
    expiryOrdered = nil
    for record in (try? state.records(nil)) ?? [] {
      if case .present(let entry) = record.standing { schedule(entry) }
    }
    let patience = patience(interactive: false)
    try? await session.forEach(in: nil, patience) { schedule($0) }
    if file.isUnlocked { try? await file.forEach(in: nil, patience) { schedule($0) } }
  }

  /// The wall clock was set: entries may be over earlier than was thought.
  public func clockJumped() {
    _ = isClockSteady()
    Task { await scheduleAll() }
  }

  // MARK: Purging

  /// Whether the two clocks have gone on together for `Limits.purgeMilliseconds`.
  func isClockSteady() -> Bool {
    let offset = clock.wall.milliseconds - clock.boot.milliseconds
    if abs(offset - clockOffset) > Limits.jumpMilliseconds {
      (clockOffset, steadySince) = (offset, clock.boot)
    }
    return clock.boot.milliseconds - steadySince.milliseconds >= Limits.purgeMilliseconds
  }

  private func purge(_ due: Due) {
    Task {
      do throws(VaultError) {
        try await turns.take(due.id) { () async throws(VaultError) in
          try await purgeInTurn(due.id, due.version)
        }
      } catch {
        // It stays hidden; a Secret Service that is away gets another visit when it is back (`settleAll`).
      }
    }
  }

  /// Removes the secret of an entry that is over, and keeps that it is.
  func purgeInTurn(_ id: EntryID, _ version: Version) async throws(VaultError) {
    guard let (entry, place) = try own(id), entry.version == version, case .over = validity(entry),
      isClockSteady()
    else { return }
    cache.forget(id)
    if case .state = place {
      _ = try await orOutcome { () async throws(WriteFailure) in
        try await secretService.remove(id, version: version, patience(interactive: false))
      }
    }
    var purged = entry
    purged.isPurged = true
    purged.lastUse = uses[id] ?? entry.lastUse
    try await rewrite(purged, in: place)
    forgetTime(of: id)
  }

  /// Nothing is left to be known of the end of an entry.
  func forgetTime(of id: EntryID) {
    uses[id] = nil
    toldExpired[id] = nil
  }

  /// Whether the secrets of entries that are over are still in the Secret Service.
  func overdue() -> [(EntryID, Version)] {
    guard isClockSteady(), let records = try? state.records(nil) else { return [] }
    return records.compactMap { record in
      guard case .present(let entry) = record.standing, entry.hasEnd, case .over = validity(entry) else {
        return nil
      }
      return (record.id, entry.version)
    }
  }

  /// Writes down what time it is, now and then, while there are changes: after a restart of the machine a clock that is
  /// behind shows by it.
  func noteTime() {
    guard isClockSteady(), state.trouble == nil, !isNotingTime,
      clock.wall.milliseconds - state.latestTime.milliseconds >= Limits.timeRecordMilliseconds
    else { return }
    isNotingTime = true
    Task {
      try? await state.noteTime()
      isNotingTime = false
    }
  }
}
