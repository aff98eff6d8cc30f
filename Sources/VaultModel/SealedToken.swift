// A token that was read before and is likely to be asked for again. Its secret stays sealed until an answer is written,
// and is opened in the very place from which that is sent; what else the answer says lies beside it as bytes. A store
// keeps it; the vault says whether it may be handed out; whoever writes answers reads it. It never changes: a change of
// the record makes another one.

import SecretMemory

/// A token whose secret is opened where it is written, and that has no end: nothing is left to decide about it. Any thread
/// may read it.
public protocol SealedToken: AnyObject, SealedSecret {
  /// What an answer says of its entry, beside the texts.
  var facts: EntryFacts { get }

  /// How many bytes the texts of its entry have, all together.
  var textBytes: Int { get }

  /// Gives `body` the texts of its entry: UTF-8, valid by the rules of each. Where it has no label, that is empty.
  func withTexts<Failure: Error>(
    _ body: (_ key: Span<UInt8>, _ account: Span<UInt8>, _ label: Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure)
}

/// What an answer says of an entry beside its texts.
public struct EntryFacts: Hashable, Sendable {
  /// Grows with every change.
  public var version: Version
  /// When the key was first set, since it was last cleared.
  public var created: WallTime
  /// When the key was last set.
  public var modified: WallTime
  /// When it is over; `nil` means never.
  public var expires: WallTime?
  /// Over so many seconds after the last use; `nil` means never.
  public var idle: Int64?
  /// Lives as long as the user's login session.
  public var untilLogout: Bool
  /// Whether it has a label, which may be empty.
  public var hasLabel: Bool
  /// The secret's size in bytes.
  public var size: Int
  /// The store it is in.
  public var store: StoreName
  /// Whether it waits to be moved into the Secret Service.
  public var pending: Bool

  /// Those of an entry.
  public init(_ entry: Entry) {
    self.init(
      version: entry.version, created: entry.created, modified: entry.modified, expires: entry.expires,
      idle: entry.idle, untilLogout: entry.untilLogout, hasLabel: entry.label != nil, size: entry.size,
      store: entry.store, pending: entry.pending)
  }

  /// These.
  public init(
    version: Version, created: WallTime, modified: WallTime, expires: WallTime? = nil, idle: Int64? = nil,
    untilLogout: Bool, hasLabel: Bool, size: Int, store: StoreName, pending: Bool
  ) {
    self.version = version
    self.created = created
    self.modified = modified
    self.expires = expires
    self.idle = idle
    self.untilLogout = untilLogout
    self.hasLabel = hasLabel
    self.size = size
    self.store = store
    self.pending = pending
  }
}
