// What is to happen at a point in time. There are only a handful at once — the sweep over connections, the
// journal's window, the end — so they stand in a plain list. Knows clocks and no descriptors: the loop says how a
// wake-up is ordered, and a test moves the clock and rings.

import VaultCore
import VaultModel

/// Actions with a time each.
@VaultActor
final class Alarms {
  /// Names an alarm that was set.
  struct Alarm: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  private struct Entry {
    let alarm: Alarm
    let time: BootTime
    let action: @VaultActor () -> Void
  }

  private let clock: any Clock
  private let order: @VaultActor (BootTime?) -> Void
  private var entries: [Entry] = []
  private var last: UInt64 = 0
  private var ordered: BootTime?

  /// No alarms yet. `order` is told when `ring` must be called next; `nil`: not at all.
  init(clock: any Clock, order: @escaping @VaultActor (BootTime?) -> Void) {
    self.clock = clock
    self.order = order
  }

  /// Has `action` run once, at `time` or as soon after it as the loop comes to it.
  @discardableResult
  func set(_ time: BootTime, _ action: @escaping @VaultActor () -> Void) -> Alarm {
    last += 1
    let alarm = Alarm(number: last)
    entries.append(Entry(alarm: alarm, time: time, action: action))
    if ordered.map({ time < $0 }) ?? true {
      ordered = time
      order(time)
    }
    return alarm
  }

  /// Takes an alarm back; does nothing where it has rung. The wake-up that was ordered for it stays: one too many
  /// costs less than a system call for each.
  func cancel(_ alarm: Alarm) {
    entries.removeAll { $0.alarm == alarm }
  }

  /// Runs what is due, and orders the next wake-up.
  func ring() {
    let now = clock.boot
    // By position and not by copy: an action may set and cancel others.
    while let index = entries.firstIndex(where: { $0.time <= now }) {
      entries.remove(at: index).action()
    }
    ordered = entries.map(\.time).min()
    order(ordered)
  }
}
