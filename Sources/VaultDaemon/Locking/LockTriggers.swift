// What locks the vault without anybody asking for it: three settings, all off unless the user turns them on. What they
// mean is in docs/daemon.md.

/// The occasions on which the vault locks itself.
public struct LockTriggers: Hashable, Sendable {
  /// After so many seconds in which nobody used it; `nil`: never.
  var afterIdle: Int64?
  /// Before the machine goes to sleep.
  var onSuspend = false
  /// When the screen of one of the user's sessions is locked.
  var onScreenLock = false

  /// Whether the login manager has to be asked for any of them.
  var needsLogin: Bool { onSuspend || onScreenLock }
}

/// Why the vault locked itself; for the log.
enum LockOccasion: Sendable {
  /// Nobody used it for so many seconds.
  case idle(seconds: Int64)
  /// The machine goes to sleep.
  case suspend
  /// The screen of this session was locked.
  case screenLock(session: String)

  /// The words for the log.
  var reason: String {
    switch self {
    case .idle(let seconds): "nobody used it for \(seconds) s"
    case .suspend: "the machine goes to sleep"
    case .screenLock(let session): "the screen of session \(session) was locked"
    }
  }
}
