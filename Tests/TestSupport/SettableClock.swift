// A clock that a test sets. No test waits for time to pass.

import VaultCore
import VaultModel

/// Clocks that stand still until they are moved.
@VaultActor
public final class SettableClock: Clock {
  public var wall: WallTime
  public var boot: BootTime {
    didSet { dial.boot = boot }
  }
  public var bootID = BootID(high: 1, low: 1)
  public let alarms: Alarms

  // What the alarms read.
  @VaultActor private final class Dial {
    var boot: BootTime
    init(_ boot: BootTime) { self.boot = boot }
  }
  private let dial: Dial

  /// Starts at `wall`, in Unix milliseconds, with the boot clock at `boot`.
  public init(wall: Int64 = 1_900_000_000_000, boot: Int64 = 1_000_000) {
    self.wall = WallTime(milliseconds: wall)
    self.boot = BootTime(milliseconds: boot)
    let dial = Dial(BootTime(milliseconds: boot))
    self.dial = dial
    alarms = Alarms { dial.boot }
  }

  /// Time passes: both clocks go on by so many milliseconds, and what is due then rings.
  public func pass(milliseconds: Int64) {
    wall = WallTime(milliseconds: wall.milliseconds + milliseconds)
    boot = boot.advanced(by: milliseconds)
    alarms.ring()
  }

  /// The machine was started again: the boot clock begins anew, the wall clock goes on.
  public func restart(boot: Int64 = 10_000) {
    bootID = BootID(high: bootID.high, low: bootID.low + 1)
    self.boot = BootTime(milliseconds: boot)
  }
}
