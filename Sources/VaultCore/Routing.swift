// Which store answers for a key (behaviour.md, "The two stores", rules 1, 3 and 4). Decided from what is in
// memory, in our own stores and in `state.db`; nobody is asked and nothing is changed.

import SecretMemory
import VaultModel

/// Who answers a request for a key.
enum Route {
  /// It is answered already; whether the token's time is over is not judged yet.
  case answer(Result<Token, VaultError>)
  /// The Secret Service answers. `known` is what is recorded of the key; `ifMissing` is the outcome where it
  /// has nothing, when "not found" would be more than anybody knows.
  indirect case secretService(known: StateRecord?, ifMissing: VaultError?)
}

extension Vault {
  func route(_ id: EntryID) -> Route {
    let known: StateRecord?
    do {
      known = try record(id)
    } catch {
      // Nobody knows which copy counts, nor which token was cleared while its store was locked or away.
      return .answer(.failure(error))
    }
    var sessionTrouble: VaultError?
    switch session.lookUp(id) {
    case .found(let token):
      if token.entry.version >= known?.version ?? 0, token.entry.version > removedNamespace(of: id) ?? 0 {
        return routeSession(id, token)
      }
    case .failed(let trouble): sessionTrouble = trouble
    case .missing, .mustWait: break
    }
    let route = routeBesideSession(id, known)
    // It may have had the key: "not found" is more than anybody knows then.
    if let sessionTrouble {
      switch route {
      case .answer(.failure(.notFound)): return .answer(.failure(sessionTrouble))
      case .secretService(let known, nil): return .secretService(known: known, ifMissing: sessionTrouble)
      case .answer, .secretService: break
      }
    }
    return route
  }

  /// The session store has nothing that counts.
  private func routeBesideSession(_ id: EntryID, _ known: StateRecord?) -> Route {
    switch lookUpFile(id) {
    case .found(let token):
      // Equal: the record in the state is the one that says that the value is in the file.
      if let known, known.version > token.entry.version {
        return routeBesideFile(id, known, fileTrouble: nil)
      }
      return answer(from: token)
    case .missing:
      return routeBesideFile(id, known, fileTrouble: nil)
    case .failed(let trouble):
      return routeBesideFile(id, known, fileTrouble: trouble)
    case .mustWait:
      return .answer(.failure(.internal(reason: "the vault file did not answer at once")))
    }
  }

  /// The state's word on a key; without a look where it knows of none.
  func record(_ id: EntryID) throws(VaultError) -> StateRecord? {
    if state.isEmpty { return nil }
    return try state.record(id)
  }

  /// Looks into the file, past what a removal of its whole namespace made void.
  func lookUpFile(_ id: EntryID) -> LookUp {
    let found = file.lookUp(id)
    guard let removed = removedNamespace(of: id) else { return found }
    switch found {
    case .found(let token): return token.entry.version < removed ? .missing : found
    // While it is closed: nothing of it has counted since, for a set would have been refused.
    case .failed(.locked): return .missing
    case .missing, .failed, .mustWait: return found
    }
  }

  /// The version of the last outstanding removal of a key's namespace; `nil` where there is none.
  func removedNamespace(of id: EntryID) -> Version? {
    let removals = state.namespaceRemovals
    if removals.isEmpty { return nil }
    return removals.filter {
      $0.namespace == id.key.namespace && ($0.account == nil || $0.account == id.account)
    }.map(\.version).max()
  }

  /// The session store has a value, as new as anything the state knows of.
  private func routeSession(_ id: EntryID, _ token: Token) -> Route {
    switch lookUpFile(id) {
    case .found(let other):
      return other.entry.version > token.entry.version ? answer(from: other) : .answer(.success(token))
    case .failed(let trouble):
      // A value was on its way into another store when this was marked, and may have arrived there.
      if token.entry.pending, fileMayHoldRecords { return .answer(.failure(trouble)) }
      return .answer(.success(token))
    case .missing, .mustWait:
      return .answer(.success(token))
    }
  }

  private func answer(from token: Token) -> Route {
    if preference == .secretService {
      return .answer(.failure(leftOut(id: token.entry.id, store: .file)))
    }
    return .answer(.success(token))
  }

  /// The file has nothing that counts, or cannot say.
  private func routeBesideFile(_ id: EntryID, _ known: StateRecord?, fileTrouble: VaultError?) -> Route {
    switch known?.standing {
    case .removed:
      return .answer(.failure(.notFound(id)))
    case .expired(let entry):
      // Another program may have stored a new one.
      if preference != .file { return .secretService(known: known, ifMissing: nil) }
      return .answer(.success(Token(entry: entry, secret: SharedSecret.none)))
    case .superseded:
      return .answer(
        .failure(
          fileTrouble
            ?? .unavailable(
              store: .file, reason: "the last value of \(id) went into the vault file, which no longer has it"
            )))
    case .present(let entry):
      // The last acknowledged change is in the Secret Service: whatever the file's trouble, it is not about that.
      guard preference != .file else {
        return .answer(.failure(leftOut(id: entry.id, store: .secretService)))
      }
      return .secretService(known: known, ifMissing: nil)
    case .absent, nil:
      // The file may own the key where it has records and cannot be read.
      let doubt = fileTrouble.flatMap { fileMayHoldRecords ? $0 : nil }
      if file.exists, file.status.state != .damaged, let doubt, doubt.outcome == .damaged {
        return .answer(.failure(doubt))
      }
      guard preference != .file else {
        return .answer(.failure(fileTrouble ?? .notFound(id)))
      }
      return .secretService(known: known, ifMissing: doubt)
    }
  }

  /// Whether the vault file may hold records: it does, or it can't be told.
  var fileMayHoldRecords: Bool { file.exists && file.recordCount != 0 }

  private func leftOut(id: EntryID, store: StoreName) -> VaultError {
    .unavailable(
      store: Place(store),
      reason: "\(id) is kept in the \(store == .file ? "vault file" : "Secret Service"), which the setting "
        + "store=\(preference.flag) leaves out; run vaultd with store=auto or store=\(store.flag)")
  }
}
