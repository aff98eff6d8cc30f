// Notices that the wall clock was set: by a person, by the network's time in a step, and on the way back from suspend. A
// timer that never ends and that the kernel cancels for it (TFD_TIMER_CANCEL_ON_SET, timerfd_create(2)): nothing wakes up
// until it happens. By how much it was set is whoever's business the action is.

import CLinux
import VaultCore

/// Calls back when the wall clock was set.
@VaultActor
final class ClockWatch: Watcher {
  private let timer: Descriptor
  private let action: @VaultActor () -> Void

  /// Calls `action` each time from now on.
  init(loop: EventLoop, _ action: @escaping @VaultActor () -> Void) throws(SystemError) {
    timer = Descriptor(owning: try check(clinux_clock_watch_open(), "timerfd_create"))
    self.action = action
    try check(clinux_clock_watch_arm(timer.number), "timerfd_settime")
    _ = try loop.watch(timer.number, for: .readable, self)
  }

  func ready(_ readiness: Readiness) {
    // Armed again before the clocks are read: what happens from here on is another time.
    clinux_timer_clear(timer.number)
    _ = clinux_clock_watch_arm(timer.number)
    action()
  }
}
