// Changes as they happen, over a connection of their own: the daemon reports on it until one of the two ends.
// Events are names and numbers; no secret comes this way.

import CLinux
import Glibc
import Synchronization
import VaultModel
import VaultWire

/// The changes of a key, of a namespace or of everything, from when it was made. One thread takes them; any
/// thread may interrupt it.
public final class Watch: Sendable {
  private let call: Call
  private let settings: ClientSettings
  private let connection: Mutex<Connection?>
  private let wakeup: Wakeup

  /// What watching came to, by the first reply, which says that it has begun.
  fileprivate init(
    _ call: Call, _ begun: Result<Reply, VaultError>, _ settings: ClientSettings,
    over connection: consuming Connection?
  ) throws(VaultError) {
    guard case .event(nil) = try begun.get() else {
      throw .noDaemon(.broken(socket: settings.socket, mayTakeEffect: false))
    }
    self.call = call
    self.settings = settings
    self.connection = Mutex(consume connection)
    wakeup = try Wakeup()
  }

  /// Waits for the next change.
  /// - Parameter timeout: how long; `nil`: as long as it takes.
  /// - Returns: the change; `nil` where none came in that time, or `interrupt` was called.
  /// - Throws: `.noDaemon(.ended)` when the daemon ends: changes may be missed from then on, so whoever watches
  ///   again reads again, too.
  public func next(within timeout: Duration? = nil) throws(VaultError) -> VaultEvent? {
    let end = timeout.map { Deadline(after: $0) }
    while true {
      if wakeup.isSignalled { return nil }
      let (event, wanted) = try advance()
      if let event { return event }
      if let end, end.isOver { return nil }
      _ = poll([wanted, wakeup.wanted], until: end)
    }
  }

  /// Makes a `next` that waits return `nil`, and every later one. From any thread, and from a handler of signals.
  public func interrupt() {
    wakeup.signal()
  }

  /// The event that has come, and what to poll for where none has.
  func advance() throws(VaultError) -> (VaultEvent?, pollfd) {
    let result = connection.withLock { connection in
      Result { () throws(VaultError) in try event(from: &connection) }
    }
    return try result.get()
  }

  private func event(from connection: inout Connection?) throws(VaultError) -> (VaultEvent?, pollfd) {
    do throws(Connection.Failure) {
      switch try connection?.advance(call) {
      case nil: throw .lost(.ended)
      case .waits: return (nil, connection.wanted ?? pollfd())
      case .reply(.event(let event?), continues: true): return (event, pollfd())
      case .reply: throw .lost(.broken)
      }
    } catch {
      connection = nil
      switch error {
      case .answered(let answer): throw answer
      case .noMemory(let problem): throw VaultError(problem)
      case .lost(let loss): throw loss.outcome(settings, mayTakeEffect: false)
      }
    }
  }
}

extension Client {
  /// Watches from now on: what changes after this returned is told.
  /// - Parameters:
  ///   - namespace: its keys alone; `nil`: all.
  ///   - key: this key alone, of every account; `nil`: all. At most one of the two is given.
  /// - Returns: the changes to come.
  /// - Throws: `.invalidArgument` where both are; `.noDaemon`; else the outcome.
  public func watch(_ namespace: Namespace? = nil, key: Key? = nil) throws(VaultError) -> Watch {
    let call = Call.watch(namespace: namespace, key: key)
    var exchange = Exchange(call, more: true, settings)
    let result = exchange.wait()
    return try Watch(call, result, settings, over: exchange.takeConnection())
  }

  /// Watches from now on: what changes after this returned is told.
  /// - Parameters:
  ///   - namespace: its keys alone; `nil`: all.
  ///   - key: this key alone, of every account; `nil`: all. At most one of the two is given.
  /// - Returns: the changes to come.
  /// - Throws: `.invalidArgument` where both are; `.noDaemon`; else the outcome.
  public func watch(_ namespace: Namespace? = nil, key: Key? = nil) async throws(VaultError) -> Watch {
    let call = Call.watch(namespace: namespace, key: key)
    let underWay = CallUnderWay(Exchange(call, more: true, settings))
    let result = await underWay.end()
    return try Watch(call, result, settings, over: underWay.takeConnection())
  }
}

extension Watch: AsyncSequence {
  /// The changes, one after the other. The sequence ends when the task is cancelled or `interrupt` was called, and
  /// throws `.noDaemon(.ended)` when the daemon ends.
  public func makeAsyncIterator() -> Iterator { Iterator(watch: self) }

  /// Takes changes.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let watch: Watch

    /// Waits for the next change without blocking a thread; `nil` at the end.
    public mutating func next(
      isolation actor: isolated (any Actor)? = #isolation
    ) async throws(VaultError) -> VaultEvent? {
      let watch = watch
      let result: Result<VaultEvent?, VaultError> = try await PollThread.drive { isCancelled in
        if isCancelled || watch.wakeup.isSignalled { return .over(.success(nil)) }
        do throws(VaultError) {
          let (event, wanted) = try watch.advance()
          if let event { return .over(.success(event)) }
          return .waits(Wants(descriptors: [wanted, watch.wakeup.wanted], until: nil))
        } catch {
          return .over(.failure(error))
        }
      }
      return try result.get()
    }
  }
}
