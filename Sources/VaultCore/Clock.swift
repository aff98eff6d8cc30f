// The seam between the vault and time, so that tests set the clock. The daemon's clock reads the system's
// and arms one timerfd.

import VaultModel

/// The clocks of the machine.
@VaultActor
public protocol Clock: AnyObject, Sendable {
  /// The wall clock.
  var wall: WallTime { get }
  /// The clock that counts since the machine was started, suspend included.
  var boot: BootTime { get }
}
