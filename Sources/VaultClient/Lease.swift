// The permission to renew one token, which ends with the connection that it was granted on: so it owns that
// connection, and what is done under it goes over no other. It holds no secret and renews nothing by itself.

import Synchronization
import VaultModel
import VaultWire

/// What `Client.refresh` came to.
public enum Refreshed: Sendable {
  /// Enough is left of the token, or another caller has renewed it.
  case token(Token)
  /// Nobody else renews the token now: renew it and `set` it, or `giveUp`.
  case lease(Lease)
}

/// A lease: of all callers one may renew the token. It ends with `set` or `giveUp`, when the last reference to
/// it goes away, when anybody sets the key, and after 60 s.
public final class Lease: Sendable {
  /// What is stored, expired or about to be; `nil` where nothing is, and the first log-in is to be done.
  public let entry: Entry?

  private let name: String
  private let settings: ClientSettings
  private let connection: Mutex<Connection?>

  init(named name: String, entry: Entry?, _ settings: ClientSettings, over connection: consuming Connection) {
    self.name = name
    self.entry = entry
    self.settings = settings
    self.connection = Mutex(consume connection)
  }

  /// Stores the new token and ends the lease.
  /// - Parameter request: what to store; its `lease` is filled in.
  /// - Returns: the entry as stored.
  /// - Throws: `.conflict` where the lease has ended and somebody else may have renewed; `.noDaemon(.ended)` where it
  ///   was given up or used before; else as `Client.set`.
  @discardableResult
  public func set(_ request: SetRequest) throws(VaultError) -> Entry {
    var exchange = try exchange(toSet: request)
    let result = exchange.wait()
    return try stored(result, exchange.takeConnection())
  }

  /// Stores the new token and ends the lease.
  /// - Parameter request: what to store; its `lease` is filled in.
  /// - Returns: the entry as stored.
  /// - Throws: as the call that blocks.
  @discardableResult
  public func set(_ request: SetRequest) async throws(VaultError) -> Entry {
    let call = CallUnderWay(try exchange(toSet: request))
    let result = await call.end()
    return try stored(result, call.takeConnection())
  }

  /// Ends the lease without a new token, also where the task is cancelled; the next caller gets one at once.
  public func giveUp() async {
    guard let exchange = exchangeToGiveUp() else { return }
    _ = await CallUnderWay(exchange).end(isCancellable: false)
  }

  /// Ends the lease without a new token; the next caller gets one at once.
  public func giveUp() {
    guard var exchange = exchangeToGiveUp() else { return }
    // Where there is no answer, the end of the connection has ended the lease.
    _ = exchange.wait()
  }

  private func exchange(toSet request: SetRequest) throws(VaultError) -> Exchange {
    try request.checkSize()
    guard let connection = connection.withLock({ $0.take() }) else {
      throw .noDaemon(.ended(socket: settings.socket, mayTakeEffect: false))
    }
    var request = request
    request.lease = name
    return Exchange(.set(request), settings, onlyOver: connection)
  }

  private func stored(
    _ result: Result<Reply, VaultError>, _ connection: consuming Connection?
  ) throws(VaultError) -> Entry {
    var connection = connection
    switch result {
    case .success(.entry(let entry)): return entry
    case .success: throw .noDaemon(.broken(socket: settings.socket, mayTakeEffect: true))
    case .failure(let error):
      // The lease is as it was: a set that a store refused may be tried again.
      self.connection.withLock { $0 = connection.take() }
      throw error
    }
  }

  private func exchangeToGiveUp() -> Exchange? {
    guard let connection = connection.withLock({ $0.take() }) else { return nil }
    return Exchange(.giveUp(lease: name), settings, onlyOver: connection)
  }
}
