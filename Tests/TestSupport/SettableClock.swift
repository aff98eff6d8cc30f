// A clock that a test sets. No test waits for time to pass.

import VaultCore
import VaultModel

/// Clocks that stand still until they are moved.
@VaultActor
public final class SettableClock: Clock {
  public var wall: WallTime
  public var boot: BootTime

  /// Starts at `wall`, in Unix milliseconds, with the boot clock at `boot`.
  public init(wall: Int64 = 1_900_000_000_000, boot: Int64 = 1_000_000) {
    self.wall = WallTime(milliseconds: wall)
    self.boot = BootTime(milliseconds: boot)
  }

  /// Time passes: both clocks go on by so many milliseconds.
  public func pass(milliseconds: Int64) {
    wall = WallTime(milliseconds: wall.milliseconds + milliseconds)
    boot = boot.advanced(by: milliseconds)
  }
}
