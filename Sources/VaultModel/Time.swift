// Points in time and durations. Inside the vault both are milliseconds; outside, whole seconds, rounded
// down. Arithmetic is bounded by `Limits`, so that nothing here can overflow. Holds no secret.

/// A point in time by the wall clock: milliseconds since 1970-01-01T00:00:00Z.
public struct WallTime: Hashable, Comparable, Sendable {
  /// Milliseconds since the epoch.
  public let milliseconds: Int64

  /// So many milliseconds after the epoch.
  public init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  /// So many whole seconds after the epoch.
  public init(seconds: Int64) {
    milliseconds = seconds.multipliedReportingOverflow(by: 1_000).partialValue
  }

  /// Whole seconds since the epoch, rounded down.
  public var seconds: Int64 {
    let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1_000)
    return rest < 0 ? whole - 1 : whole
  }

  public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}

/// A point in time by the clock that counts since the machine was started, suspend included
/// (CLOCK_BOOTTIME): milliseconds. Deadlines and timers are of this kind.
public struct BootTime: Hashable, Comparable, Sendable {
  /// Milliseconds since the start of the machine.
  public let milliseconds: Int64

  /// So many milliseconds after the start of the machine.
  public init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  /// This point in time moved by so many milliseconds; at most to the ends of what can be said, never around them.
  public func advanced(by milliseconds: Int64) -> BootTime {
    let (sum, overflow) = self.milliseconds.addingReportingOverflow(milliseconds)
    return BootTime(milliseconds: overflow ? (milliseconds < 0 ? .min : .max) : sum)
  }

  public static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}

/// The version of an entry: grows with every change of the key and is never used again for it. By and large
/// the time of the change in Unix milliseconds.
public typealias Version = Int64
