// The seam between the vault and `state.db`: what is known of keys in the Secret Service, so that "not
// found" is said only of keys that were never there, and no acknowledged change is forgotten over a restart.
// Names and numbers only; it never sees a secret, and of one that is being written a fingerprint whose key it has not.

import VaultModel

/// A write into the Secret Service that was begun.
public struct Intent: Hashable, Sendable {
  /// What was to be stored.
  public var entry: Entry
  /// By which its secret is known again, in this login session; `nil` where the session keeps no key for that.
  public var fingerprint: Fingerprint?

  /// An intent with these fields.
  public init(_ entry: Entry, _ fingerprint: Fingerprint? = nil) {
    self.entry = entry
    self.fingerprint = fingerprint
  }
}

/// What is known of one key and account in the Secret Service.
public struct StateRecord: Hashable, Sendable {
  /// What was last acknowledged.
  public indirect enum Standing: Hashable, Sendable {
    /// The Secret Service has it, as this entry says.
    case present(Entry)
    /// Its value is in the file now (a set that the Secret Service could not take); `old` is the copy that the
    /// Secret Service may still have and that counts no longer.
    case superseded(old: Entry?)
    /// Nothing: a first write was begun and not acknowledged, see `intent`.
    case absent
    /// It was cleared; a copy may be left in the Secret Service, to be removed when that can be reached.
    case removed(at: WallTime)
    /// Its time is over, and its secret was removed from the Secret Service.
    case expired(Entry)
  }

  /// Key and account.
  public var id: EntryID
  /// The version of the last acknowledged change.
  public var version: Version
  /// What that change was.
  public var standing: Standing
  /// A write that was begun and not yet acknowledged: what the Secret Service has may be this.
  public var intent: Intent?

  /// A record with these fields.
  public init(id: EntryID, version: Version, standing: Standing, intent: Intent? = nil) {
    self.id = id
    self.version = version
    self.standing = standing
    self.intent = intent
  }
}

/// The removal of a whole namespace, recorded because the vault file was locked and could not tell which of its keys
/// are there: what the file has of it with a lower version counts no more, and is removed when the file is opened.
public struct NamespaceRemoval: Hashable, Sendable {
  /// Exactly this namespace.
  public var namespace: Namespace
  /// Of this account; `nil`: of all.
  public var account: Account?
  /// The version of the removal.
  public var version: Version

  /// A removal with these fields.
  public init(namespace: Namespace, account: Account?, version: Version) {
    self.namespace = namespace
    self.account = account
    self.version = version
  }
}

/// `state.db`. Look-ups answer at once; changes return when they are on the disk.
@VaultActor
public protocol State: AnyObject, Sendable {
  /// Whether changes can be kept; the outcome for `set` and `clear` where not.
  var trouble: VaultError? { get }

  /// The largest version ever given to a change, kept through removals.
  var highestVersion: Version { get }

  /// Whether a Secret Service ever answered with this state.
  var providerAnswered: Bool { get }

  /// Whether nothing at all is recorded of any key: the common case where only the file is used.
  var isEmpty: Bool { get }

  /// Whether nothing at all is recorded, neither of a key nor of a whole namespace; false where that can't be read.
  var isBlank: Bool { get }

  /// What is known of a key and account; `nil` where nothing is.
  func record(_ id: EntryID) throws(VaultError) -> StateRecord?

  /// All records, or those of a namespace.
  func records(_ namespace: Namespace?) throws(VaultError) -> [StateRecord]

  /// How many keys the Secret Service is known to have.
  var presentCount: Int { get }

  /// How many removals are outstanding.
  var removalCount: Int { get }

  /// Keeps a record, in place of the one of the same key and account.
  func keep(_ record: StateRecord) async throws(VaultError)

  /// Drops a record: nothing is known any more, and nothing is outstanding. `highestVersion` keeps at least
  /// `version`.
  func drop(_ id: EntryID, version: Version) async throws(VaultError)

  /// Remembers that a Secret Service answered.
  func noteProvider() async throws(VaultError)

  /// The latest wall time that was recorded, through all removals; every change records the present time.
  var latestTime: WallTime { get }

  /// Records the present time.
  func noteTime() async throws(VaultError)

  /// The removals of whole namespaces that are outstanding, in no order. `isEmpty` is about records only.
  var namespaceRemovals: [NamespaceRemoval] { get }

  /// Keeps the removal of a namespace, in place of an older one of the same namespace and account.
  func keep(_ removal: NamespaceRemoval) async throws(VaultError)

  /// Drops a removal: it was carried out. `highestVersion` keeps at least its version.
  func drop(_ removal: NamespaceRemoval) async throws(VaultError)
}
