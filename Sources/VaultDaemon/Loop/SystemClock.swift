// The machine's clocks, as the vault and the limits of connections read them. Arms nothing: alarms are the
// loop's.

import CLinux
import VaultCore
import VaultModel

/// The wall clock and the clock that counts since the machine was started, suspend included.
@VaultActor
final class SystemClock: Clock {
  /// The machine's clocks.
  init() {}

  var wall: WallTime { WallTime(milliseconds: clinux_wall_milliseconds()) }
  var boot: BootTime { BootTime(milliseconds: clinux_boot_milliseconds()) }
}
