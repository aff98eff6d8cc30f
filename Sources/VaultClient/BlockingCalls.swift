// The calls of the interface as methods that block their thread, for programs without concurrency. The same as
// tasks await them is in `AsyncCalls.swift`, call for call.

import VaultModel
import VaultWire

// MARK: Blocking
extension Client {
  /// Reads a token.
  /// - Parameter request: whose, how many seconds of validity must be left, and whether the user may be asked to unlock
  ///   a store.
  /// - Returns: the secret, byte for byte as it was stored, with its entry.
  /// - Throws: `.notFound`, `.expired` (also where less than `minValidity` is left), `.locked`, `.unavailable`,
  ///   `.damaged`; `.noDaemon`.
  public func get(_ request: GetRequest) throws(VaultError) -> Token {
    try token(in: exchange(.get(request)))
  }

  /// Stores a token in place of what was there.
  /// - Parameter request: whose, the secret, and what becomes of it: expiry in seconds, label, the version that must
  ///   be there now.
  /// - Returns: the entry as it is stored.
  /// - Throws: `.tooLarge` for a secret over 1 MiB, before anything is sent; `.conflict` where another version is
  ///   there; `.locked` and `.unavailable` where no store takes it; `.invalidArgument`; `.noDaemon`, which says
  ///   whether the change may still take effect.
  @discardableResult
  public func set(_ request: SetRequest) throws(VaultError) -> Entry {
    try request.checkSize()
    return try entry(in: exchange(.set(request)))
  }

  /// Removes a token; succeeds also where nothing was stored.
  /// - Parameters:
  ///   - id: whose.
  ///   - ifVersion: the version that must be stored now.
  /// - Returns: `cleared` is 1 or 0; `pending` where a copy in a store out of reach is removed later. No `get` returns
  ///   the token in either case.
  /// - Throws: `.conflict`, `.unavailable`, `.noDaemon`, where the token is not cleared.
  @discardableResult
  public func clear(_ id: EntryID, ifVersion: Version? = nil) throws(VaultError) -> Clearance {
    try clearance(in: exchange(.clear(id, ifVersion: ifVersion)))
  }

  /// Removes all tokens of a namespace: the logout of a client.
  /// - Parameters:
  ///   - namespace: exactly this one, and none below it.
  ///   - account: whose; `nil`: everybody's.
  /// - Returns: how many there were, and whether copies are removed later.
  /// - Throws: the outcome, where they are not cleared.
  @discardableResult
  public func clear(_ namespace: Namespace, account: Account?) throws(VaultError) -> Clearance {
    try clearance(in: exchange(.clearNamespace(namespace, account: account)))
  }

  /// The entries of a namespace, or all; never a secret, and none that has expired.
  /// - Parameter namespace: exactly this one; `nil`: all.
  /// - Returns: the entries.
  /// - Throws: the outcome, where a store that may have some cannot be asked.
  public func list(_ namespace: Namespace? = nil) throws(VaultError) -> [Entry] {
    try entries(in: exchange(.list(namespace)))
  }

  /// Starts the idle time of a token anew, without reading it.
  /// - Parameter id: whose.
  /// - Returns: its entry.
  /// - Throws: `.notFound`, `.expired`; else the outcome.
  @discardableResult
  public func touch(_ id: EntryID) throws(VaultError) -> Entry {
    try entry(in: exchange(.touch(id)))
  }

  /// The daemon, its stores and how it protects itself.
  /// - Returns: what it says of itself.
  /// - Throws: `.noDaemon`.
  public func status() throws(VaultError) -> DaemonStatus {
    try status(in: exchange(.status))
  }

  /// Makes the vault file with one slot.
  /// - Parameter key: what is to open it.
  /// - Throws: `.invalidArgument` where there is one already; else the outcome.
  public func initialise(_ key: SlotKey) throws(VaultError) {
    try nothing(in: exchange(.initialise(key)))
  }

  /// Wipes every key and every value in the daemon's memory; every `get` and `set` is `.locked` from then on.
  /// - Throws: `.noDaemon`.
  public func lock() throws(VaultError) {
    try nothing(in: exchange(.lock))
  }

  /// Lifts the lock and opens the vault file.
  /// - Parameter key: a passphrase or a key file; `nil` tries the key files and credentials of its slots.
  /// - Throws: `.wrongPassphrase`, `.locked` where none of these opens it, `.damaged`, `.unsupportedVersion`.
  public func unlock(_ key: SlotKey?) throws(VaultError) {
    try nothing(in: exchange(.unlock(key)))
  }

  /// The slots of the vault file.
  /// - Returns: each with its number and kind.
  /// - Throws: `.unavailable` where there is no file; else the outcome.
  public func slots() throws(VaultError) -> [Slot] {
    try slots(in: exchange(.slots))
  }

  /// Adds a slot to the vault file, which must be unlocked.
  /// - Parameter key: what is to open the file, too.
  /// - Returns: the slot with its number.
  /// - Throws: `.locked`, `.invalidArgument`; else the outcome.
  @discardableResult
  public func addSlot(_ key: SlotKey) throws(VaultError) -> Slot {
    try slot(in: exchange(.addSlot(key)))
  }

  /// Removes a slot of the vault file.
  /// - Parameter number: which.
  /// - Throws: `.invalidArgument` for the last one and for one that is not there; else the outcome.
  public func removeSlot(_ number: Int64) throws(VaultError) {
    try nothing(in: exchange(.removeSlot(number)))
  }

  /// Authenticates every record of the vault file.
  /// - Returns: how many there are, how many fail, and whether file and records are as they were left.
  /// - Throws: `.locked`; else the outcome.
  public func verify() throws(VaultError) -> Verification {
    try verification(in: exchange(.verify))
  }

  /// The valid token, or the lease to renew it, which one caller at a time gets; the others wait for its token.
  /// Most programs want ``token(for:minValidity:wait:isolation:renew:)``, which does what is right with it.
  /// - Parameters:
  ///   - id: whose.
  ///   - minValidity: seconds of validity that must be left; `nil`: any.
  ///   - wait: seconds to wait for another caller's renewal; `nil`: 30.
  /// - Returns: the token where enough is left of it, else a lease.
  /// - Throws: `.unavailable` where another caller renews and `wait` is over; else the outcome.
  public func refresh(
    _ id: EntryID, minValidity: Int64? = nil, wait: Int64? = nil
  ) throws(VaultError) -> Refreshed {
    var exchange = Exchange(.refresh(id, minValidity: minValidity, wait: wait), settings, over: takeKept())
    let result = exchange.wait()
    return try refreshed(in: result.get(), over: exchange.takeConnection())
  }
}
