// The seam between the vault and the places that keep tokens. A store keeps what it is given and says the
// truth about it; which store a request goes to, versions, expiry and leases are the vault's. All calls
// arrive on the vault's actor; a store does its waiting elsewhere.

import SecretMemory
import VaultModel

/// What a store can say at once.
public enum LookUp: Sendable {
  /// It has the token.
  case found(Token)
  /// It was searched and has nothing.
  case missing
  /// It cannot say, and asking again later is not going to help this request.
  case failed(VaultError)
  /// It has to ask somebody: call `read`.
  case mustWait
}

/// How long a store may take, and whether it may ask the user.
public struct Patience: Sendable {
  /// The end without a prompt, by the boot clock.
  public var deadline: BootTime
  /// The end once a prompt is on the screen.
  public var promptDeadline: BootTime
  /// Whether a prompt is allowed at all.
  public var interactive: Bool

  /// So much patience.
  public init(deadline: BootTime, promptDeadline: BootTime, interactive: Bool) {
    self.deadline = deadline
    self.promptDeadline = promptDeadline
    self.interactive = interactive
  }
}

/// How a write that failed left the store.
public struct WriteFailure: Error, Sendable {
  /// The outcome for the caller.
  public var error: VaultError
  /// Whether the write was sent and may still take effect.
  public var mayTakeEffect: Bool

  /// A failure with these fields.
  public init(_ error: VaultError, mayTakeEffect: Bool = false) {
    self.error = error
    self.mayTakeEffect = mayTakeEffect
  }
}

/// Carries out a write of which nothing but its outcome matters.
@VaultActor
func orOutcome<Result>(
  _ write: @VaultActor () async throws(WriteFailure) -> Result
) async throws(VaultError) -> Result {
  do throws(WriteFailure) { return try await write() } catch { throw error.error }
}

/// A place that keeps tokens. Every call ends by its patience's deadline, whatever the place does.
@VaultActor
public protocol Store: AnyObject, Sendable {
  /// Which store this is.
  nonisolated var name: StoreName { get }

  /// How it is, as far as is known now; asks nobody and answers at once. `entries` and `pending` count what
  /// the store itself knows.
  var status: StoreStatus { get }

  /// The largest version that the store has ever been given, as far as it knows; 0 where it doesn't.
  var highestVersion: Version { get }

  /// Looks without waiting.
  func lookUp(_ id: EntryID) -> LookUp

  /// Reads a token; `nil` where the store was reached, was unlocked, was searched and has nothing.
  func read(_ id: EntryID, _ patience: Patience) async throws(VaultError) -> Token?

  /// Keeps `secret` under `entry`, in place of what was there. When it returns, the value is as safe as the
  /// store can make it, and what is read back is equal.
  func write(_ entry: Entry, _ secret: SharedSecret, _ patience: Patience) async throws(WriteFailure)

  /// Removes every copy; `version` is the version of the removal. What somebody else is known to have stored
  /// there later than that stays. Never prompts.
  /// - Returns: whether there was one.
  func remove(_ id: EntryID, version: Version, _ patience: Patience) async throws(WriteFailure) -> Bool

  /// The entries of a namespace, or all; in no order. Never prompts.
  func list(_ namespace: Namespace?, _ patience: Patience) async throws(VaultError) -> [Entry]

  /// Forgets everything that it holds in memory of secrets and keys.
  func forget()
}

/// A store of ours, encrypted under a key that can be away: the vault file, or the session store.
@VaultActor
public protocol OwnStore: Store {
  /// Whether the data key is in memory.
  var isUnlocked: Bool { get }

  /// Replaces what is kept beside the secret of an entry, where the store still has that very version: the last use,
  /// or, where `entry.isPurged`, also the secret by none. `lookUp` finds a purged entry with an empty secret.
  func update(_ entry: Entry, _ patience: Patience) async throws(WriteFailure)

  /// Gives `body` what `list` gives, one by one, as it comes from the store: who needs little of each entry need not
  /// hold them all.
  func forEach(
    in namespace: Namespace?, _ patience: Patience, _ body: (Entry) -> Void
  ) async throws(VaultError)

  /// Nobody asks at present: gives back memory that only makes it faster.
  func rest()
}

/// What lives as long as the login session: in the runtime folder, its key in the kernel's keyring. It makes itself
/// with the first write. Where there is no place for it, every change and every look-up of it is `.unavailable`
/// (`status.state` is then `.unavailable`), and where there was nothing yet, look-ups are `.missing`.
@VaultActor
public protocol SessionKeeper: OwnStore {
  /// Whether it is known that there is nothing in it, and nothing that could not be read: every look-up is `.missing`.
  var isBlank: Bool { get }

  /// Fetches the key again after `forget`.
  func unlock() async throws(VaultError)

  /// A key that has nothing to do with what is stored: the same for every daemon of the login session, on no disk, and
  /// gone with the session. Made where there is none yet, if that is asked for; `nil` where there is none or no place
  /// for one. Also while the store is locked; it is not kept in the daemon's memory.
  func fingerprintKey(making: Bool) -> SharedSecret?
}

/// The store that is a file of ours, with slots that open it.
@VaultActor
public protocol VaultFile: OwnStore {
  /// Called when it was opened without anybody's asking: another daemon had it before.
  var onOpened: (@VaultActor () async -> Void)? { get set }

  /// Whether there is a vault file, of whatever state.
  var exists: Bool { get }

  /// How many records the file holds, known also while it is locked; `nil` where it can't be told.
  var recordCount: Int? { get }

  /// The token under these names that was found here before, where it has no end and is still what `lookUp` would find;
  /// `nil`: ask that. The names are any bytes.
  func sealedToken(_ key: Span<UInt8>, _ account: Span<UInt8>) -> (any SealedToken)?

  /// Makes the file with one slot. Makes the key file too, where that is named and not there.
  /// - Throws: `.invalidArgument` where there is a file already, or the key file would be in the data folder.
  func initialise(_ key: SlotKey) async throws(VaultError)

  /// Brings the data key into memory. `nil` tries the key files and credentials of the slots. What is slow about it
  /// is not begun after the deadline.
  func unlock(_ key: SlotKey?, _ patience: Patience) async throws(VaultError)

  /// The slots.
  func slots() throws(VaultError) -> [Slot]

  /// Adds a slot. Rewrites no record.
  func addSlot(_ key: SlotKey) async throws(VaultError) -> Slot

  /// Removes a slot.
  /// - Throws: `.invalidArgument` for the last one or one that is not there.
  func removeSlot(_ number: Int64) async throws(VaultError)

  /// Authenticates every record.
  func verify() async throws(VaultError) -> Verification
}

/// What a store tells by itself.
public enum StoreChange: Hashable, Sendable {
  /// An item was made or changed by somebody else; `nil`: one that the store has not seen before.
  case itemChanged(EntryID?)
  /// The last item of a key and account was deleted by somebody else, while the store was unlocked.
  case itemDeleted(EntryID)
  /// It was locked.
  case locked
  /// It was unlocked.
  case unlocked
  /// It answers now, unlocked; whatever was known of it may be of another place.
  case available
  /// It cannot be reached any more.
  case unavailable
}

/// A store that changes also without us, and says so. An item that another program made has no version: `read` and
/// `list` give it as version 0, with the date of its last change in `modified`.
@VaultActor
public protocol ObservedStore: Store {
  /// When any item of a key was last changed, by whoever it was; `nil` where there is none or the provider does not
  /// say. To the second.
  func lastChange(_ id: EntryID, _ patience: Patience) async throws(VaultError) -> WallTime?

  /// Called with what changed, in order, after it did.
  var onChange: (@VaultActor ([StoreChange]) -> Void)? { get set }

  /// Whether a prompt that we asked for is on the user's screen.
  var isPrompting: Bool { get }

  /// What answers for the store now, as people know it (`gnome-keyring-daemon`); `nil` where nothing does.
  var provider: String? { get }
}
