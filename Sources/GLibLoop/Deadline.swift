// The end of a wait on the bus's thread, by the clock that GLib's timers go by (CLOCK_MONOTONIC, which stands
// still during suspend). Requests bring their patience by the boot clock; it is turned into this once, when
// they arrive here.

import CSecret

/// A point in time by GLib's monotonic clock.
public struct Deadline: Hashable, Comparable, Sendable {
  private let microseconds: Int64

  /// Now.
  public static var now: Deadline { Deadline(microseconds: clock) }

  /// So many milliseconds from now; none where the number is negative.
  public static func after(milliseconds: Int64) -> Deadline {
    let (wait, overflow) = max(0, milliseconds).multipliedReportingOverflow(by: 1_000)
    return Deadline(microseconds: clock.addingReportingOverflow(overflow ? .max / 2 : wait).partialValue)
  }

  private static var clock: Int64 { Int64(g_get_monotonic_time()) }

  private init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// Milliseconds left, rounded up; 0 where it is over. At most what a timer of GLib takes.
  public var millisecondsLeft: UInt32 {
    let left = microseconds - Self.clock
    return left <= 0 ? 0 : UInt32(min((left + 999) / 1_000, Int64(Int32.max)))
  }

  /// Whether it is over.
  public var isOver: Bool { millisecondsLeft == 0 }

  public static func < (left: Self, right: Self) -> Bool { left.microseconds < right.microseconds }
}
