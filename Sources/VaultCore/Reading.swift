// Reading: get, and list. A get that the file or the state can answer is answered at once, on the spot; only
// one that needs the Secret Service waits. Changes no value; what it learns of the Secret Service it records.

import SecretMemory
import VaultModel

extension Vault {
  /// Answers a get without waiting; `nil` where it has to wait: then call `get`.
  public func getAtOnce(_ request: GetRequest) -> Result<Token, VaultError>? {
    do {
      try requireUnlocked()
      try requireSupported(request)
    } catch {
      return .failure(error)
    }
    switch route(request.id) {
    case .answer(let answer): return answer
    case .secretService: return nil
    }
  }

  /// The token under a key and account.
  /// - Throws: `.notFound` only where the store that owns the key was reached, unlocked and searched.
  public func get(_ request: GetRequest) async throws(VaultError) -> Token {
    try requireUnlocked()
    try requireSupported(request)
    switch route(request.id) {
    case .answer(let answer):
      return try answer.get()
    case .secretService(let known, let ifMissing):
      return try await readSecretService(request, known, ifMissing)
    }
  }

  private func readSecretService(
    _ request: GetRequest, _ known: StateRecord?, _ ifMissing: VaultError?
  ) async throws(VaultError) -> Token {
    let id = request.id
    let token: Token?
    do {
      token = try await secretService.read(id, patience(interactive: request.interactive))
    } catch {
      throw outcomeWithoutProvider(id, known, ifMissing, error)
    }
    try requireUnlocked()  // somebody may have locked the vault meanwhile
    await noteProvider()
    guard let token else {
      if case .present(let entry) = known?.standing {
        throw .unavailable(
          store: .secretService,
          reason: "\(id) was stored in the Secret Service, and \(secretService.status.detail), which answers "
            + "now, does not have it: open the keyring in which it was stored, or set it anew, or clear it",
          stored: entry.modified)
      }
      throw ifMissing ?? .notFound(id)
    }
    return await recognise(token, known)
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

  /// What is recorded of an entry counts before the copy in the item's attributes; what another program put
  /// into the keyring is recorded the first time that it is seen.
  private func recognise(_ token: Token, _ known: StateRecord?) async -> Token {
    var entry = token.entry.dated
    if case .present(let recorded) = known?.standing, recorded.version >= entry.version {
      entry = recorded
      entry.size = token.secret.count
    } else if known == nil, state.trouble == nil, turns.isFree(entry.id) {
      let record = StateRecord(id: entry.id, version: entry.version, standing: .present(entry))
      await turns.take(entry.id) { [state] in
        // The token is in hand: that its name could not be recorded is no reason to hold it back.
        try? await state.keep(record)
      }
    }
    return Token(entry: entry, secret: token.secret)
  }

  /// The entries of a namespace, or all, ordered by key and account. Never prompts.
  /// - Throws: `.locked` where the file holds records that can't be listed: a list with holes would be no list.
  public func list(_ namespace: Namespace?) async throws(VaultError) -> [Entry] {
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
      case .superseded, .absent, .expired: break
      case .removed: removed[record.id] = record.version
      }
    }
    if preference != .secretService, fileMayHoldRecords {
      for entry in try await file.list(namespace, patience(interactive: false)) { add(entry) }
    }
    if preference != .file {
      do throws(VaultError) {
        let found = try await secretService.list(namespace, patience(interactive: false))
        await noteProvider()
        for entry in found where newest[entry.id] == nil && removed[entry.id] == nil { add(entry.dated) }
      } catch {
        // What the state knows is what there is, as far as anybody knows; `status` tells that it can't be asked.
        if preference == .secretService, state.isEmpty { throw error }
      }
    }
    return newest.values.sorted { $0.id < $1.id }
  }

  func withHintToInitialise(_ error: VaultError) -> VaultError {
    guard case .unavailable(let store, let reason, let stored) = error else { return error }
    return .unavailable(
      store: store,
      reason: "\(reason); `vault init` makes an encrypted file for machines and times without one",
      stored: stored)
  }
}

extension Entry {
  /// The entry with a version: what another program made has none, and its date stands for it.
  var dated: Entry {
    var entry = self
    if version == 0 { entry.version = modified.milliseconds }
    return entry
  }
}
