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
  public convenience init() throws(ClientError) {
    self.init(try ClientSettings())
  }

  /// Reads a token.
  public func get(_ request: GetRequest) throws(ClientError) -> Token {
    guard case .token(let token) = try exchange(.get(request)) else { throw unexpected }
    return token
  }

  /// Stores a token in place of what was there. A secret over the limit is refused before anything is sent.
  public func set(_ request: SetRequest) throws(ClientError) -> Entry {
    guard request.secret.count <= Limits.secretBytes else {
      throw .tooLarge(size: request.secret.count, limit: Limits.secretBytes)
    }
    guard case .entry(let entry) = try exchange(.set(request)) else { throw unexpected }
    return entry
  }

  /// Removes a token; succeeds also where nothing was stored.
  /// - Parameters:
  ///   - id: whose.
  ///   - ifVersion: the version that must be stored now.
  /// - Returns: `cleared` is 1 or 0.
  /// - Throws: the outcome, where the token is not cleared.
  public func clear(_ id: EntryID, ifVersion: Version? = nil) throws(ClientError) -> Clearance {
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
  public func clear(_ namespace: Namespace, account: Account?) throws(ClientError) -> Clearance {
    guard case .namespaceClearance(let clearance) = try exchange(.clearNamespace(namespace, account: account))
    else { throw unexpected }
    return clearance
  }

  /// The entries of a namespace, or all; never a secret.
  public func list(_ namespace: Namespace? = nil) throws(ClientError) -> [Entry] {
    guard case .entries(let entries) = try exchange(.list(namespace)) else { throw unexpected }
    return entries
  }

  /// The daemon, its stores and how it protects itself.
  public func status() throws(ClientError) -> DaemonStatus {
    guard case .status(let status) = try exchange(.status) else { throw unexpected }
    return status
  }

  /// Makes the vault file with one slot.
  public func initialise(_ key: SlotKey) throws(ClientError) {
    try expectNothing(.initialise(key))
  }

  /// Wipes every key and every value in the daemon's memory.
  public func lock() throws(ClientError) {
    try expectNothing(.lock)
  }

  /// Lifts the lock and opens the vault file; `nil` tries the key files and credentials of its slots.
  public func unlock(_ key: SlotKey?) throws(ClientError) {
    try expectNothing(.unlock(key))
  }

  /// The slots of the vault file.
  public func slots() throws(ClientError) -> [Slot] {
    guard case .slots(let slots) = try exchange(.slots) else { throw unexpected }
    return slots
  }

  /// Adds a slot to the vault file.
  public func addSlot(_ key: SlotKey) throws(ClientError) -> Slot {
    guard case .slot(let slot) = try exchange(.addSlot(key)) else { throw unexpected }
    return slot
  }

  /// Removes a slot of the vault file; the last one stays.
  public func removeSlot(_ number: Int64) throws(ClientError) {
    try expectNothing(.removeSlot(number))
  }

  /// Authenticates every record of the vault file.
  public func verify() throws(ClientError) -> Verification {
    guard case .verification(let verification) = try exchange(.verify) else { throw unexpected }
    return verification
  }

  private func expectNothing(_ call: Call) throws(ClientError) {
    guard case .empty = try exchange(call) else { throw unexpected }
  }

  private var unexpected: ClientError {
    .noDaemon(.broken(socket: settings.socket, mayTakeEffect: false))
  }

  /// Makes a call that has one reply.
  ///
  /// A kept connection may turn out to be that of a daemon which has ended since. The call is then made again,
  /// once, on a new one, if the daemon cannot have got it or if it changes nothing.
  package func exchange(_ call: Call) throws(ClientError) -> Reply {
    let deadline = Deadline(after: settings.patience(for: call))
    let isAlive = { [self] in call.mayTakeLong && answersAnother() }
    if var connection = kept.withLock({ $0.take() }), connection.isQuiet {
      do throws(Connection.Failure) {
        let reply = try connection.exchange(call, by: deadline, silence: settings.timeout, isAlive: isAlive)
        keep(connection)
        return reply
      } catch .lost(.ended, let delivered) where !(delivered && call.changes) {
      } catch .answered(let error) {
        keep(connection)
        throw error
      } catch {
        throw outcome(of: error, of: call)
      }
    }
    var connection = try Connection.open(settings.socket, of: settings.user, by: deadline)
    do throws(Connection.Failure) {
      let reply = try connection.exchange(call, by: deadline, silence: settings.timeout, isAlive: isAlive)
      keep(connection)
      return reply
    } catch .answered(let error) {
      keep(connection)
      throw error
    } catch {
      throw outcome(of: error, of: call)
    }
  }

  /// Whether the daemon answers on another connection while it is silent on one: then it waits for a person or
  /// for a store, and else it is stopped or stuck, and no time is to be lost on it.
  private func answersAnother() -> Bool {
    let deadline = Deadline(after: min(settings.timeout, .seconds(Limits.clientGraceSeconds)))
    guard var other = try? Connection.open(settings.socket, of: settings.user, by: deadline),
      case .info? = try? other.exchange(.getInfo, by: deadline, silence: settings.timeout, isAlive: { true })
    else { return false }
    return true
  }

  /// Keeps a connection for the next call, unless there is one.
  private func keep(_ connection: consuming Connection) {
    var offered: Connection? = consume connection
    kept.withLock { kept in
      if kept == nil { kept = offered.take() }
    }
  }

  private func outcome(of failure: Connection.Failure, of call: Call) -> ClientError {
    switch failure {
    case .answered(let error): error
    case .noMemory(let error): ClientError(error)
    case .lost(.noAnswer, let delivered):
      .noDaemon(.noAnswer(socket: settings.socket, mayTakeEffect: delivered && call.changes))
    case .lost(.ended, let delivered):
      .noDaemon(.ended(socket: settings.socket, mayTakeEffect: delivered && call.changes))
    case .lost(.broken, let delivered):
      .noDaemon(.broken(socket: settings.socket, mayTakeEffect: delivered && call.changes))
    case .lost(.system(let code), _): .noDaemon(.unreachable(socket: settings.socket, code: code))
    }
  }
}
