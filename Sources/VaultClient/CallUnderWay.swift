// A call that a task awaits: the machine of `Exchange`, with the thread that waits for it.

import Synchronization
import VaultModel
import VaultWire

/// An exchange that is driven by steps on changing threads, one at a time.
final class CallUnderWay: Sendable {
  private let exchange: Mutex<Exchange>

  init(_ exchange: consuming Exchange) {
    self.exchange = Mutex(consume exchange)
  }

  /// Drives the call to its end. Where the task is cancelled it ends as `.noDaemon(.interrupted)`.
  /// - Parameter isCancellable: whether it is cancelled with its task.
  /// - Returns: what came of it; a failure also where the process can have no thread to wait for it.
  func end(isCancellable: Bool = true) async -> Result<Reply, VaultError> {
    do throws(VaultError) {
      return try await PollThread.drive { [self] isCancelled in
        exchange.withLock { exchange in
          if isCancelled, isCancellable { return .over(.failure(exchange.interrupt())) }
          return switch exchange.advance() {
          case .finished(let result): .over(result)
          case .waits(let end): .waits(Wants(descriptors: exchange.descriptors, until: end))
          }
        }
      }
    } catch {
      return .failure(error)
    }
  }

  /// As of the exchange.
  func takeConnection() -> Connection? {
    exchange.withLock { $0.takeConnection() }
  }
}
