// The session store of a daemon that has no runtime folder: there is nothing in it, and nothing can be put there.

import SecretMemory
import VaultModel

/// No place for what ends with the login session.
@VaultActor
public final class AbsentSession: SessionKeeper {
  public nonisolated let name = StoreName.session
  private let reason: String

  /// `reason` says why there is none.
  public init(reason: String) {
    self.reason = reason
  }

  private var none: VaultError { .unavailable(store: .session, reason: reason) }

  public var status: StoreStatus {
    StoreStatus(store: .session, state: .unavailable, detail: reason, entries: 0, pending: 0)
  }
  public var highestVersion: Version { 0 }
  public var isUnlocked: Bool { false }
  public func forget() {}
  public func unlock() async throws(VaultError) { throw none }
  public func lookUp(_ id: EntryID) -> LookUp { .missing }
  public func read(_ id: EntryID, _ patience: Patience) async throws(VaultError) -> Token? { nil }
  public func write(
    _ entry: Entry, _ secret: SharedSecret, _ patience: Patience
  ) async throws(WriteFailure) { throw WriteFailure(none) }
  public func update(_ entry: Entry, _ patience: Patience) async throws(WriteFailure) {
    throw WriteFailure(none)
  }
  public func remove(
    _ id: EntryID, version: Version, _ patience: Patience
  ) async throws(WriteFailure) -> Bool { false }
  public func list(_ namespace: Namespace?, _ patience: Patience) async throws(VaultError) -> [Entry] { [] }
}
