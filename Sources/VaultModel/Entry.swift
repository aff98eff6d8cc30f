// What is known of a stored secret beside the secret, and of the stores. Data only: who may see it and
// whether it is over is decided in `VaultCore`. Holds no secret.

/// The places in which tokens are kept.
public enum StoreName: String, Sendable, CaseIterable {
  /// The freedesktop Secret Service on the user's session bus.
  case secretService = "secret_service"
  /// The vault file.
  case file
  /// What ends with the login session, in the runtime folder.
  case session

  /// As the flag `--store` and texts for people write it.
  public var flag: String { self == .secretService ? "secret-service" : rawValue }
}

/// Which store new tokens go to: the setting `store`.
public enum StorePreference: String, Sendable, CaseIterable {
  /// The Secret Service, and the file while that cannot take a write.
  case auto
  /// The Secret Service and nothing else.
  case secretService = "secret_service"
  /// The file and nothing else.
  case file

  /// As the flag `--store` writes it.
  public var flag: String { self == .secretService ? "secret-service" : rawValue }

  /// Takes what the flag, the environment or the configuration say.
  public init?(flag: String) {
    guard let match = Self.allCases.first(where: { $0.flag == flag }) else { return nil }
    self = match
  }
}

/// An entry, without its secret.
public struct Entry: Hashable, Sendable {
  /// Key and account.
  public var id: EntryID
  /// Grows with every change.
  public var version: Version
  /// When the key was first set, since it was last cleared.
  public var created: WallTime
  /// When the key was last set.
  public var modified: WallTime
  /// When it is over, to the millisecond; `nil` means never.
  public var expires: WallTime?
  /// Over so many seconds after the last use; `nil` means never.
  public var idle: Int64?
  /// Lives as long as the user's login session.
  public var untilLogout: Bool
  /// What a person should read; `nil` where none was given.
  public var label: String?
  /// The secret's size in bytes.
  public var size: Int
  /// The store it is in.
  public var store: StoreName
  /// Whether it waits to be moved into the Secret Service.
  public var pending: Bool
  /// When it was set, by all clocks; `nil` where another program made it.
  public var setAt: Moment?
  /// When it was last read or touched, where that matters (`idle`) and as far as it was recorded.
  public var lastUse: Moment?
  /// Its time was over, and its secret was removed.
  public var isPurged: Bool

  /// An entry with these fields.
  public init(
    id: EntryID, version: Version, created: WallTime, modified: WallTime, expires: WallTime? = nil,
    idle: Int64? = nil, untilLogout: Bool = false, label: String? = nil, size: Int, store: StoreName,
    pending: Bool = false, setAt: Moment? = nil, lastUse: Moment? = nil, isPurged: Bool = false
  ) {
    self.id = id
    self.version = version
    self.created = created
    self.modified = modified
    self.expires = expires
    self.idle = idle
    self.untilLogout = untilLogout
    self.label = label
    self.size = size
    self.store = store
    self.pending = pending
    self.setAt = setAt
    self.lastUse = lastUse
    self.isPurged = isPurged
  }

  /// Whether there is a time at which it is over.
  public var hasEnd: Bool { expires != nil || idle != nil }
}

/// How a store is.
public struct StoreStatus: Hashable, Sendable {
  /// The states that a store can be in.
  public enum State: String, Sendable, CaseIterable {
    /// It answers.
    case available
    /// It answers once somebody unlocks it.
    case locked
    /// It cannot be reached.
    case unavailable
    /// There is none: the vault file was not initialised, or the settings leave the store out.
    case absent
    /// The vault file fails authentication as a whole.
    case damaged
  }

  /// Which store.
  public var store: StoreName
  /// Its state.
  public var state: State
  /// What owns the bus name, or which file; why it is unavailable.
  public var detail: String
  /// How many entries are known in it.
  public var entries: Int
  /// How many of them wait to be moved.
  public var pending: Int

  /// A status with these fields.
  public init(store: StoreName, state: State, detail: String, entries: Int, pending: Int) {
    self.store = store
    self.state = state
    self.detail = detail
    self.entries = entries
    self.pending = pending
  }
}

/// One of the ways to open the vault file.
public struct Slot: Hashable, Sendable {
  /// What opens a slot.
  public enum Kind: String, Sendable, CaseIterable {
    /// A passphrase, through scrypt.
    case passphrase
    /// A file with random bytes.
    case keyFile = "key_file"
    /// A credential that systemd hands to the unit.
    case credential
  }

  /// Its number; never used again in the same file.
  public var number: Int64
  /// What opens it.
  public var kind: Kind
  /// The path of the key file or the name of the credential; empty for a passphrase.
  public var detail: String
  /// When it was added.
  public var created: WallTime

  /// A slot with these fields.
  public init(number: Int64, kind: Kind, detail: String, created: WallTime) {
    self.number = number
    self.kind = kind
    self.detail = detail
    self.created = created
  }
}

/// What authenticating a whole vault file showed.
public struct Verification: Hashable, Sendable {
  /// How many records it has.
  public var records: Int
  /// How many of them fail.
  public var damaged: Int
  /// Whether file and records are as we left them.
  public var sound: Bool

  /// A result with these fields.
  public init(records: Int, damaged: Int, sound: Bool) {
    self.records = records
    self.damaged = damaged
    self.sound = sound
  }
}
