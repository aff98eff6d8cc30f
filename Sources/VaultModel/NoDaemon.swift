// Why there was no answer: the causes behind the outcome "no daemon", which only a client can meet. What a
// caller does next differs (start one, wait, ask again, look after the write), so they are told apart.

import Glibc

/// Why no daemon was reached, or none answered.
public enum NoDaemon: Hashable, Sendable {
  /// Nothing listens on the socket: a daemon may be started.
  case nobodyListens(socket: String)
  /// Nothing listened, and none could be started, as `reason` says: one line.
  case notStarted(reason: String)
  /// The socket could not be reached for another reason of the system's, an `errno`.
  case unreachable(socket: String, code: Int32)
  /// Another user's process listens there. Nothing was sent to it.
  case foreign(socket: String, user: UInt32)
  /// There is no place where the socket could be, as `reason` says: one line.
  case noSocket(reason: String)
  /// A daemon listens and did not answer in time. `mayTakeEffect`: it has got a change that it may still carry out.
  case noAnswer(socket: String, mayTakeEffect: Bool)
  /// The connection ended before the answer.
  case ended(socket: String, mayTakeEffect: Bool)
  /// What came is no answer to the call.
  case broken(socket: String, mayTakeEffect: Bool)
  /// The caller stopped waiting: its task was cancelled.
  case interrupted(socket: String, mayTakeEffect: Bool)
}

extension NoDaemon: CustomStringConvertible {
  /// One line for a person: what happened and what to do next.
  public var description: String {
    switch self {
    case .nobodyListens(let socket):
      "no vaultd listens on \(socket); start vaultd"
    case .notStarted(let reason):
      reason
    case .unreachable(let socket, let code):
      "vaultd cannot be reached on \(socket): \(unsafe String(cString: strerror(code)))"
    case .foreign(let socket, let user):
      "what listens on \(socket) belongs to the user with uid \(user), not to you; nothing was sent to it"
    case .noSocket(let reason):
      "vaultd cannot be reached: \(reason)"
    case .noAnswer(let socket, let mayTakeEffect):
      "vaultd listens on \(socket) and did not answer in time" + Self.next(mayTakeEffect)
    case .ended(let socket, let mayTakeEffect):
      "vaultd on \(socket) closed the connection without an answer" + Self.next(mayTakeEffect)
    case .broken(let socket, let mayTakeEffect):
      "what vaultd on \(socket) answered cannot be understood" + Self.next(mayTakeEffect)
    case .interrupted(let socket, let mayTakeEffect):
      "the answer of vaultd on \(socket) was not waited for"
        + (mayTakeEffect ? "; the change was sent and may still take effect" : "; nothing was changed")
    }
  }

  private static func next(_ mayTakeEffect: Bool) -> String {
    mayTakeEffect
      ? "; the change was sent and may still take effect: read the key before you try again"
      : "; nothing was changed; try again, and see vaultd's log"
  }
}
