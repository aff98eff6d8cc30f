// A real vaultd that a test started in its own session.

import Foundation
import Glibc
import Spawning

/// A running daemon. Its session ends it.
final class DaemonUnderTest {
  private let child: Child
  private unowned let session: ThrowawaySession

  init(child: Child, session: ThrowawaySession) {
    self.child = child
    self.session = session
  }

  /// Its process.
  var pid: pid_t { child.pid }

  /// Whether it is still there.
  var isRunning: Bool { child.look() == nil }

  /// What it has logged so far.
  var log: String { session.log("vaultd") }

  /// Waits until it has taken a connection and answered on it.
  func waitUntilItAnswers() throws {
    let answered = becomesTrue {
      guard isRunning else { return true }
      guard let connection = try? RawConnection(session.socket) else { return false }
      return (try? connection.call("org.varlink.service.GetInfo")) != nil
    }
    guard answered, isRunning else {
      throw HarnessFailure(
        "vaultd does not answer (\(child.status.map { "ended with \($0)" } ?? "runs")): \(log)")
    }
  }

  /// A connection to its socket.
  func connect() throws -> RawConnection { try RawConnection(session.socket) }

  /// Sends it a signal.
  func kill(_ signal: Int32) { child.kill(signal) }

  /// Waits for its end.
  /// - Returns: its exit status.
  @discardableResult
  func wait() throws -> Int32 { try child.wait() }

  /// Ends it in order.
  /// - Returns: its exit status.
  @discardableResult
  func stop() throws -> Int32 {
    child.kill(SIGTERM)
    return try child.wait()
  }

  /// Ends it, in whatever state it is.
  func end() {
    child.kill(SIGCONT)
    child.end()
  }
}
