// What is to happen at a point in time. There are only a handful at once — the sweeps over connections and requests,
// the journal's window, the next expiry — so they stand in a plain list. Knows clocks and no descriptors: whoever has
// a clock says how a wake-up is ordered, and a test moves the clock and rings.

import VaultModel

/// Actions with a time each, by the boot clock.
@VaultActor
public final class Alarms {
  /// Names an alarm that was set.
  public struct Alarm: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  private struct Entry {
    let alarm: Alarm
    let time: BootTime
    let action: @VaultActor () -> Void
  }

  /// Told when `ring` must be called next; `nil`: not at all. Told at once what is ordered already.
  public var order: (@VaultActor (BootTime?) -> Void)? {
    didSet { order?(ordered) }
  }

  /// When the next action is due; `nil` where none is.
  public var next: BootTime? { entries.lazy.map { $0.time }.min() }

  private let now: @VaultActor () -> BootTime
  private var entries: [Entry] = []
  private var last: UInt64 = 0
  private var ordered: BootTime?

  /// No alarms yet. `now` reads the boot clock.
  public init(now: @escaping @VaultActor () -> BootTime) {
    self.now = now
  }

  /// Has `action` run once, at `time` or as soon after it as the loop comes to it.
  @discardableResult
  public func set(_ time: BootTime, _ action: @escaping @VaultActor () -> Void) -> Alarm {
    last += 1
    let alarm = Alarm(number: last)
    entries.append(Entry(alarm: alarm, time: time, action: action))
    if ordered.map({ time < $0 }) ?? true {
      ordered = time
      order?(time)
    }
    return alarm
  }

  /// Takes an alarm back; does nothing where it has rung. The wake-up that was ordered for it stays: one too many
  /// costs less than a system call for each.
  public func cancel(_ alarm: Alarm) {
    entries.removeAll { $0.alarm == alarm }
  }

  /// Runs what is due, and orders the next wake-up.
  public func ring() {
    let now = now()
    // By position and not by copy: an action may set and cancel others.
    while let index = entries.firstIndex(where: { $0.time <= now }) {
      entries.remove(at: index).action()
    }
    ordered = next
    order?(ordered)
  }
}
