// The end of a call, by the clock that counts while the machine sleeps. Everything that a call waits for,
// connecting included, waits for what is left of it.

import CLinux

/// A point in time after which a call has failed.
struct Deadline: Comparable {
  private let end: Int64

  /// So much time from now. Longer than any daemon may be set to wait is cut to a day.
  init(after duration: Duration) {
    let (seconds, attoseconds) = duration.components
    let milliseconds = min(max(seconds, 0), 86_400) * 1_000 + max(attoseconds, 0) / 1_000_000_000_000_000
    end = Self.now + milliseconds
  }

  /// When a listener whose queue is full is tried again: the system does not say when there is room.
  static var soon: Deadline { Deadline(after: .milliseconds(Limits.connectRetryMilliseconds)) }

  /// Whether it has passed.
  var isOver: Bool { left == 0 }

  static func < (left: Self, right: Self) -> Bool { left.end < right.end }

  /// Milliseconds that are left; 0 when it is over.
  var left: Int64 { max(0, end - Self.now) }

  private static var now: Int64 { clinux_boot_milliseconds() }
}
