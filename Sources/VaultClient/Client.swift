// The client: the calls of the interface as methods. Keeps one connection and makes it anew after the daemon
// was restarted. Any number of threads may call at once: who finds the kept connection in use opens another
// for the one call, so that nobody waits for somebody else's answer. Starts no daemon and asks nobody
// anything.

import SecretMemory
import Synchronization
import VaultModel
import VaultWire

/// The vault of this user, as programs see it. Calls block until the answer or the deadline.
public final class Client: Sendable {
  /// Where the daemon is and how long it may take.
  public let settings: ClientSettings

  private let kept = Mutex<Connection?>(nil)

  /// A client with these settings. Connects with the first call.
  public init(_ settings: ClientSettings) {
    self.settings = settings
  }

  /// A client of the daemon that this process's environment names.
  /// - Throws: `.invalidArgument` or `.noDaemon` where it names none.
  public convenience init() throws(VaultError) {
    self.init(try ClientSettings())
  }

  /// Reads a token.
  public func get(_ request: GetRequest) throws(VaultError) -> Token {
    guard case .token(let token) = try exchange(.get(request)) else { throw unexpected }
    return token
  }

  /// Stores a token in place of what was there. A secret over the limit is refused before anything is sent.
  public func set(_ request: SetRequest) throws(VaultError) -> Entry {
    try request.checkSize()
    guard case .entry(let entry) = try exchange(.set(request)) else { throw unexpected }
    return entry
  }

  /// Removes a token; succeeds also where nothing was stored.
  /// - Parameters:
  ///   - id: whose.
  ///   - ifVersion: the version that must be stored now.
  /// - Returns: `cleared` is 1 or 0.
  /// - Throws: the outcome, where the token is not cleared.
  public func clear(_ id: EntryID, ifVersion: Version? = nil) throws(VaultError) -> Clearance {
    guard case .clearance(let clearance) = try exchange(.clear(id, ifVersion: ifVersion)) else {
      throw unexpected
    }
    return clearance
  }

  /// Removes all tokens of a namespace.
  /// - Parameters:
  ///   - namespace: exactly this one.
  ///   - account: whose; `nil`: everybody's.
  /// - Returns: how many there were.
  /// - Throws: the outcome, where they are not cleared.
  public func clear(_ namespace: Namespace, account: Account?) throws(VaultError) -> Clearance {
    guard case .namespaceClearance(let clearance) = try exchange(.clearNamespace(namespace, account: account))
    else { throw unexpected }
    return clearance
  }

  /// The entries of a namespace, or all; never a secret.
  public func list(_ namespace: Namespace? = nil) throws(VaultError) -> [Entry] {
    guard case .entries(let entries) = try exchange(.list(namespace)) else { throw unexpected }
    return entries
  }

  /// Starts the idle time of a token anew, without reading it.
  /// - Returns: its entry.
  /// - Throws: `.notFound`, `.expired`; else the outcome.
  @discardableResult
  public func touch(_ id: EntryID) throws(VaultError) -> Entry {
    guard case .entry(let entry) = try exchange(.touch(id)) else { throw unexpected }
    return entry
  }

  /// The valid token, or the lease to renew it, which one caller at a time gets; the others wait for its token.
  /// - Parameters:
  ///   - id: whose.
  ///   - minValidity: seconds of validity that must be left; `nil`: any.
  ///   - wait: seconds to wait for another caller's renewal; `nil`: 30.
  /// - Returns: the token where enough is left of it, else a lease.
  /// - Throws: `.unavailable` where another caller renews and `wait` is over; else the outcome.
  public func refresh(
    _ id: EntryID, minValidity: Int64? = nil, wait: Int64? = nil
  ) throws(VaultError) -> Refreshed {
    let call = Call.refresh(id, minValidity: minValidity, wait: wait)
    var exchange = Exchange(call, settings, over: takeKept())
    let result = exchange.wait()
    return try refreshed(try result.get(), over: exchange.takeConnection())
  }

  /// The daemon, its stores and how it protects itself.
  public func status() throws(VaultError) -> DaemonStatus {
    guard case .status(let status) = try exchange(.status) else { throw unexpected }
    return status
  }

  /// Makes the vault file with one slot.
  public func initialise(_ key: SlotKey) throws(VaultError) {
    try expectNothing(.initialise(key))
  }

  /// Wipes every key and every value in the daemon's memory.
  public func lock() throws(VaultError) {
    try expectNothing(.lock)
  }

  /// Lifts the lock and opens the vault file; `nil` tries the key files and credentials of its slots.
  public func unlock(_ key: SlotKey?) throws(VaultError) {
    try expectNothing(.unlock(key))
  }

  /// The slots of the vault file.
  public func slots() throws(VaultError) -> [Slot] {
    guard case .slots(let slots) = try exchange(.slots) else { throw unexpected }
    return slots
  }

  /// Adds a slot to the vault file.
  public func addSlot(_ key: SlotKey) throws(VaultError) -> Slot {
    guard case .slot(let slot) = try exchange(.addSlot(key)) else { throw unexpected }
    return slot
  }

  /// Removes a slot of the vault file; the last one stays.
  public func removeSlot(_ number: Int64) throws(VaultError) {
    try expectNothing(.removeSlot(number))
  }

  /// Authenticates every record of the vault file.
  public func verify() throws(VaultError) -> Verification {
    guard case .verification(let verification) = try exchange(.verify) else { throw unexpected }
    return verification
  }

  private func expectNothing(_ call: Call) throws(VaultError) {
    guard case .empty = try exchange(call) else { throw unexpected }
  }

  /// What `Refresh` answered; a lease keeps the connection that it was granted on.
  func refreshed(
    _ reply: Reply, over connection: consuming Connection?
  ) throws(VaultError) -> Refreshed {
    guard case .refreshed(let name, let token, let entry) = reply else { throw unexpected }
    if let token {
      keep(connection)
      return .token(token)
    }
    guard let name, let connection else { throw unexpected }
    return .lease(Lease(named: name, entry: entry, settings, over: connection))
  }

  var unexpected: VaultError {
    .noDaemon(.broken(socket: settings.socket, mayTakeEffect: false))
  }

  /// Makes a call that has one reply.
  package func exchange(_ call: Call) throws(VaultError) -> Reply {
    var exchange = Exchange(call, settings, over: takeKept())
    let result = exchange.wait()
    keep(exchange.takeConnection())
    return try result.get()
  }

  /// The kept connection, where its daemon is still there.
  func takeKept() -> Connection? {
    guard let connection = kept.withLock({ $0.take() }), connection.isQuiet else { return nil }
    return connection
  }

  /// Keeps a connection for the next call, unless there is one.
  func keep(_ connection: consuming Connection?) {
    var offered = connection
    kept.withLock { kept in
      if kept == nil { kept = offered.take() }
    }
  }
}
