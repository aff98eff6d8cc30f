// The client: one object, from which every call is made. Keeps one connection and makes it anew after the daemon
// was restarted. Any number of threads and tasks may call at once: who finds the kept connection in use opens
// another for the one call, so that nobody waits for somebody else's answer. Starts no daemon and asks nobody
// anything.

import Synchronization
import VaultModel
import VaultWire

/// The vault of this user, as programs see it.
///
/// Every call is there twice under one name: as a method that blocks its thread, and as one that a task awaits, which
/// blocks no thread. Each ends by the deadline of ``settings``, connecting included. A call whose connection turns
/// out to be that of a daemon that has ended is made again on a new one, once, where the daemon cannot have got it
/// or where making it twice cannot matter; a `set` or a `clear` that may have been carried out is not, and the error
/// says so. A task that is cancelled ends its call as `.noDaemon(.interrupted)`.
///
/// Everything that can go wrong is a ``VaultModel/VaultError``, with the outcomes of the command's exit statuses.
/// No call returns a token that has expired, and none says `.notFound` where a store could not be asked.
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

  /// Makes a call that has one reply, in this thread.
  package func exchange(_ call: Call) throws(VaultError) -> Reply {
    var exchange = Exchange(call, settings, over: takeKept())
    let result = exchange.wait()
    keep(exchange.takeConnection())
    return try result.get()
  }

  /// Makes a call that has one reply, without blocking a thread.
  package func exchange(_ call: Call) async throws(VaultError) -> Reply {
    let call = CallUnderWay(Exchange(call, settings, over: takeKept()))
    let result = await call.end()
    keep(call.takeConnection())
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
