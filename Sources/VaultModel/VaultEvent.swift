// What watchers are told: that a key changed, or that a store did. Names and numbers only; never a secret.

/// One change, as `Watch` reports it.
public struct VaultEvent: Hashable, Sendable {
  /// What happened.
  public enum Kind: String, Sendable, CaseIterable {
    /// A key was set.
    case set
    /// A key was cleared.
    case cleared
    /// An entry's time is over.
    case expired
    /// A pending change lost against a later one that another program made.
    case lost
    /// A store was locked.
    case locked
    /// A store was unlocked.
    case unlocked
    /// A store can be reached again.
    case available
    /// A store can no longer be reached.
    case unavailable
  }

  /// What happened.
  public var kind: Kind
  /// To which key and account; `nil` where it happened to a store as a whole.
  public var id: EntryID?
  /// The version of the change, where there is one.
  public var version: Version?
  /// In which store, where it happened in one.
  public var store: StoreName?

  /// An event with these fields.
  public init(_ kind: Kind, id: EntryID? = nil, version: Version? = nil, store: StoreName? = nil) {
    self.kind = kind
    self.id = id
    self.version = version
    self.store = store
  }
}
