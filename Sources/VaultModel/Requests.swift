// What a request asks for, once its members were read and judged: the words that `VaultWire` decodes and
// `VaultCore` carries out. Every value in here is valid by itself; whether it can be done is the vault's
// to say.

import SecretMemory

/// Asks for a secret.
public struct GetRequest: Sendable {
  /// Whose.
  public var id: EntryID
  /// Seconds of validity that must be left.
  public var minValidity: Int64?
  /// Whether the user may be prompted to unlock a store.
  public var interactive: Bool

  /// A request with these fields.
  public init(id: EntryID, minValidity: Int64? = nil, interactive: Bool = true) {
    self.id = id
    self.minValidity = minValidity
    self.interactive = interactive
  }
}

/// Stores a secret.
public struct SetRequest: Sendable {
  /// Whose.
  public var id: EntryID
  /// What to store; at most `Limits.secretBytes`.
  public var secret: SharedSecret
  /// When it is over, in Unix seconds.
  public var expires: Int64?
  /// Over so many seconds from now.
  public var expiresIn: Int64?
  /// Over so many seconds after the last use.
  public var idle: Int64?
  /// Kept as long as the login session.
  public var untilLogout: Bool
  /// What a person should read.
  public var label: String?
  /// The version that must be stored now; 0: nothing.
  public var ifVersion: Version?
  /// The lease under which this renewal happens.
  public var lease: String?
  /// Whether the user may be prompted to unlock a store.
  public var interactive: Bool

  /// A request with these fields.
  public init(
    id: EntryID, secret: SharedSecret, expires: Int64? = nil, expiresIn: Int64? = nil, idle: Int64? = nil,
    untilLogout: Bool = false, label: String? = nil, ifVersion: Version? = nil, lease: String? = nil,
    interactive: Bool = true
  ) {
    self.id = id
    self.secret = secret
    self.expires = expires
    self.expiresIn = expiresIn
    self.idle = idle
    self.untilLogout = untilLogout
    self.label = label
    self.ifVersion = ifVersion
    self.lease = lease
    self.interactive = interactive
  }
}

/// Asks for a valid token, or for the lease to renew it.
public struct RefreshRequest: Sendable {
  /// Whose.
  public var id: EntryID
  /// Seconds of validity that must be left; `nil`: any.
  public var minValidity: Int64?
  /// Seconds to wait for somebody else's renewal; `nil`: `Limits.refreshWaitSeconds`.
  public var wait: Int64?

  /// A request with these fields.
  public init(id: EntryID, minValidity: Int64? = nil, wait: Int64? = nil) {
    self.id = id
    self.minValidity = minValidity
    self.wait = wait
  }
}

/// What a `RefreshRequest` leads to.
public enum Renewal: Sendable {
  /// A token that is valid.
  case token(Token)
  /// The caller renews: `lease` names its right to, `entry` what is there and over; `nil` where nothing is.
  case lease(String, entry: Entry?)
}

/// Which changes are to be watched.
public enum WatchFilter: Hashable, Sendable {
  /// All.
  case everything
  /// Those of one namespace.
  case namespace(Namespace)
  /// Those of one key, of every account.
  case key(Key)
}

/// A secret with its entry. Shared: on its way from a store to the reply it is handed on a dozen times.
public final class Token: Sendable {
  /// What is known of it.
  public let entry: Entry
  /// The secret.
  public let secret: SharedSecret

  /// A token of these two.
  public init(entry: Entry, secret: SharedSecret) {
    self.entry = entry
    self.secret = secret
  }
}

/// What opens the vault file, or is to.
public enum SlotKey: Sendable {
  /// A passphrase.
  case passphrase(SharedSecret)
  /// The path of a key file; `Init` and `AddSlot` make it where it is not there.
  case keyFile(String)
  /// The name of a systemd credential.
  case credential(String)
}

/// What a clear did.
public struct Clearance: Hashable, Sendable {
  /// How many entries it removed.
  public var cleared: Int
  /// Whether a copy in a store out of reach is still to be removed.
  public var pending: Bool

  /// A result with these fields.
  public init(cleared: Int, pending: Bool) {
    self.cleared = cleared
    self.pending = pending
  }
}

/// What the daemon says of itself.
public struct DaemonStatus: Hashable, Sendable {
  /// The daemon's version.
  public var version: String
  /// Its process.
  public var pid: Int32
  /// When it was started.
  public var since: WallTime
  /// The setting `store`.
  public var preference: StorePreference
  /// Its stores.
  public var stores: [StoreStatus]
  /// How the process protects itself: each measure and whether it is in force.
  public var protections: [String: Bool]

  /// A status with these fields.
  public init(
    version: String, pid: Int32, since: WallTime, preference: StorePreference, stores: [StoreStatus],
    protections: [String: Bool]
  ) {
    self.version = version
    self.pid = pid
    self.since = since
    self.preference = preference
    self.stores = stores
    self.protections = protections
  }
}

/// The version of the programs and of the interface's product.
public let productVersion = "0.1.0"
