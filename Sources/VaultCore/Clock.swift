// The seam between the vault and time, so that tests set the clock. The daemon's clock reads the system's, and its
// loop rings the alarms.

import VaultModel

/// The clocks of the machine.
@VaultActor
public protocol Clock: AnyObject, Sendable {
  /// The wall clock.
  var wall: WallTime { get }
  /// The clock that counts since the machine was started, suspend included.
  var boot: BootTime { get }
  /// The present run of the machine.
  var bootID: BootID { get }
  /// What is to happen at points in time.
  var alarms: Alarms { get }
}

extension Clock {
  /// Now, by all clocks.
  var moment: Moment { Moment(wall: wall, boot: boot, bootID: bootID) }
}
