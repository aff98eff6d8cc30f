// Reading: get, touch and list. A get that our own stores, the state or the cache can answer is answered at once, on
// the spot; only one that needs the Secret Service waits, together with all who want the same. Changes no value; what
// it learns of the Secret Service is recorded (`Recognising`).

import SecretMemory
import VaultModel

/// A read of one key from the Secret Service that is under way; whoever wants the same joins it.
@VaultActor
final class SharedRead {
  /// Who may share one: those with a prompt wait longer than those without.
  struct Name: Hashable {
    let id: EntryID
    let interactive: Bool
  }

  let begun: BootTime
  /// Whether whoever asked has the key's turn.
  let inTurn: Bool
  /// The key changed since it was begun: what it brings may be told to those who asked before, and is not kept.
  var isStale = false
  /// What it brings.
  let outcome = Promise<Result<Token, VaultError>>()

  init(begun: BootTime, inTurn: Bool = false) {
    self.begun = begun
    self.inTurn = inTurn
  }
}

extension Vault {
  /// The answer to a get where there is nothing to decide: nothing but the vault file can have the key, the token was
  /// read from there before, and its time has no end. `nil`: ask `getAtOnce`, which would give the same token. The names
  /// are any bytes.
  public func sealedToken(_ key: Span<UInt8>, _ account: Span<UInt8>) -> (any SealedToken)? {
    guard fileMayAnswer, state.isBlank, session.isBlank else { return nil }
    return file.sealedToken(key, account)
  }

  /// The same, of an entry.
  public func sealedToken(_ id: EntryID) -> (any SealedToken)? {
    sealedToken(id.key.text.utf8.span, id.account.text.utf8.span)
  }

  /// Answers a get without waiting; `nil` where it has to wait: then call `get`.
  public func getAtOnce(_ request: GetRequest) -> Result<Token, VaultError>? {
    do throws(VaultError) {
      try requireUnlocked()
      let token: Token
      switch route(request.id) {
      case .answer(let answer): token = try answer.get()
      case .secretService:
        guard let cached = cache.token(request.id, now: clock.boot) else { return nil }
        token = cached
      }
      return .success(try handOut(token, request))
    } catch {
      return .failure(error)
    }
  }

  /// The token under a key and account.
  /// - Throws: `.notFound` only where the store that owns the key was reached, unlocked and searched; `.expired` where
  ///   its time is over, or less than `minValidity` is left.
  public func get(_ request: GetRequest) async throws(VaultError) -> Token {
    try handOut(try await unjudged(request), request)
  }

  /// The last look before a secret leaves.
  private func handOut(_ token: Token, _ request: GetRequest) throws(VaultError) -> Token {
    let token = try judge(token, minValidity: request.minValidity)
    noteUse(of: token.entry)
    return token
  }

  /// What is stored, whether its time is over or not. Who has the key's turn says so: such a read shares nothing with
  /// those that may wait for that turn.
  func unjudged(_ request: GetRequest, inTurn: Bool = false) async throws(VaultError) -> Token {
    try requireUnlocked()
    switch route(request.id) {
    case .answer(let answer): return try answer.get()
    case .secretService:
      if let token = cache.token(request.id, now: clock.boot) { return token }
      if inTurn { return try await readInTurn(request.id, interactive: request.interactive) }
      return try await sharedRead(request.id, interactive: request.interactive)
    }
  }

  /// Starts the idle time of a token anew, without reading it where that can be helped.
  public func touch(_ id: EntryID) async throws(VaultError) -> Entry {
    try requireUnlocked()
    if case .secretService(let known, _) = route(id), case .present(let entry) = known?.standing,
      known?.intent == nil
    {
      let token = try judge(Token(entry: entry, secret: SharedSecret.none), minValidity: nil)
      noteUse(of: token.entry)
      return token.entry
    }
    return try await get(GetRequest(id: id, interactive: false)).entry
  }

  // MARK: The Secret Service

  private func readInTurn(_ id: EntryID, interactive: Bool) async throws(VaultError) -> Token {
    let read = SharedRead(begun: clock.boot, inTurn: true)
    let patience = patience(interactive: interactive)
    return try await deadlines.run(patience, late: self.late(.secretService, id, isChange: false)) {
      _ async throws(VaultError) in
      try await self.readNow(id, read, patience)
    }
  }

  private func sharedRead(_ id: EntryID, interactive: Bool) async throws(VaultError) -> Token {
    let name = SharedRead.Name(id: id, interactive: interactive)
    if let read = reads[name] { return try await read.outcome.value().get() }
    let read = SharedRead(begun: clock.boot)
    let patience = patience(interactive: interactive)
    let late = late(.secretService, id, isChange: false)
    reads[name] = read
    Task {
      let outcome: Result<Token, VaultError>
      do throws(VaultError) {
        outcome = .success(
          try await deadlines.run(patience, late: late) { _ async throws(VaultError) in
            try await self.readNow(id, read, patience)
          })
      } catch {
        outcome = .failure(error)
      }
      if reads[name] === read { reads[name] = nil }
      read.outcome.resume(returning: outcome)
    }
    return try await read.outcome.value().get()
  }

  private func readNow(
    _ id: EntryID, _ read: SharedRead, _ patience: Patience
  ) async throws(VaultError) -> Token {
    let (known, ifMissing): (StateRecord?, VaultError?)
    switch route(id) {
    case .answer(let answer): return try answer.get()
    case .secretService(let record, let error): (known, ifMissing) = (record, error)
    }
    let found: Token?
    do {
      found = try await secretService.read(id, patience)
    } catch {
      // That its time is over is known without anybody's help.
      if let over = over(known) { return Token(entry: over, secret: SharedSecret.none) }
      throw outcomeWithoutProvider(id, known, ifMissing, error)
    }
    try requireUnlocked()  // somebody may have locked the vault meanwhile
    await noteProvider()
    guard let found else {
      let known = await recogniseNothing(id, known)
      if let over = over(known) { return Token(entry: over, secret: SharedSecret.none) }
      if case .present(let entry) = known?.standing {
        // It is being changed, or somebody told of its removal a moment ago: what comes of that is the answer.
        if !read.inTurn, !turns.isFree(id) { await turns.take(id) {} }
        if (try? record(id)) != known { return try await readNow(id, read, patience) }
        throw .unavailable(
          store: .secretService,
          reason: "\(id) was stored in the Secret Service, and \(secretService.status.detail), which answers "
            + "now, does not have it: open the keyring in which it was stored, or set it anew, or clear it",
          stored: entry.modified)
      }
      throw ifMissing ?? .notFound(id)
    }
    let token = await recognise(found, known)
    // One that is not among `reads` is not told that the key changed.
    if !read.isStale, !read.inTurn, !isLocked { cache.keep(token, readAt: read.begun) }
    return token
  }

  /// The entry that is recorded, where its time is over.
  func over(_ known: StateRecord?) -> Entry? {
    guard let known, known.intent == nil else { return nil }
    switch known.standing {
    case .expired(let entry): return entry
    case .present(let entry): return validity(entry).milliseconds == 0 ? entry : nil
    case .superseded, .absent, .removed: return nil
    }
  }

  /// The value of a key changed, or may have: what was read before counts no more.
  func forgetRead(_ id: EntryID) {
    cache.forget(id)
    if reads.isEmpty { return }
    for interactive in [true, false] {
      reads.removeValue(forKey: SharedRead.Name(id: id, interactive: interactive))?.isStale = true
    }
  }

  /// What was read of any key counts no more.
  func forgetReads() {
    cache.forgetAll()
    for read in reads.values { read.isStale = true }
    reads = [:]
  }

  /// The provider could not be asked, and nothing else answers for the key.
  private func outcomeWithoutProvider(
    _ id: EntryID, _ known: StateRecord?, _ ifMissing: VaultError?, _ error: VaultError
  ) -> VaultError {
    guard preference == .auto, known == nil, !state.providerAnswered, error.outcome == .unavailable else {
      return error
    }
    // No provider ever answered: unknown keys belong to the file (rule 4).
    if file.exists { return ifMissing ?? .notFound(id) }
    return withHintToInitialise(error)
  }

  // MARK: Listing

  /// The entries of a namespace, or all, ordered by key and account. Never prompts.
  /// - Throws: `.locked` where the file holds records that can't be listed: a list with holes would be no list.
  public func list(_ namespace: Namespace?) async throws(VaultError) -> [Entry] {
    let patience = patience(interactive: false)
    return try await deadlines.run(patience, late: self.late(.vault, nil, isChange: false)) {
      _ async throws(VaultError) in
      try await self.listNow(namespace, patience)
    }
  }

  private func listNow(_ namespace: Namespace?, _ patience: Patience) async throws(VaultError) -> [Entry] {
    var newest: [EntryID: Entry] = [:]
    var removed: [EntryID: Version] = [:]
    func add(_ entry: Entry) {
      if let other = newest[entry.id], other.version > entry.version { return }
      if let version = removed[entry.id], version > entry.version { return }
      newest[entry.id] = entry
    }
    for record in try state.records(namespace) {
      switch record.standing {
      case .present(let entry): add(entry)
      case .superseded, .absent: break
      case .removed, .expired: removed[record.id] = record.version
      }
    }
    if session.isUnlocked {
      for entry in (try? await session.list(namespace, patience)) ?? [] { add(entry) }
    }
    if preference != .secretService, fileMayHoldRecords {
      for entry in try await file.list(namespace, patience) {
        if let version = removedNamespace(of: entry.id), version > entry.version { continue }
        add(entry)
      }
    }
    if preference != .file {
      do throws(VaultError) {
        let found = try await secretService.list(namespace, patience)
        await noteProvider()
        for entry in found where removed[entry.id] == nil {
          guard let known = newest[entry.id] else {
            newest[entry.id] = entry.version == 0 ? firstSeen(entry) : entry
            continue
          }
          // What the state says of it counts; the secret's size is the item's.
          if known.store == .secretService { newest[entry.id] = listed(known, as: entry) }
        }
      } catch {
        // What the state knows is what there is, as far as anybody knows; `status` tells that it can't be asked.
        if preference == .secretService, state.isEmpty { throw error }
      }
    }
    return newest.values.filter { validity($0).milliseconds != 0 }.sorted { $0.id < $1.id }
  }

  func withHintToInitialise(_ error: VaultError) -> VaultError {
    guard case .unavailable(let store, let reason, let stored) = error else { return error }
    return .unavailable(
      store: store,
      reason: "\(reason); `vault init` makes an encrypted file for machines and times without one",
      stored: stored)
  }
}
