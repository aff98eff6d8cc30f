// The machine's clocks, as the vault and the limits of connections read them. Arms nothing itself: the loop orders
// the wake-ups of its alarms.

import CLinux
import VaultCore
import VaultModel

/// The wall clock and the clock that counts since the machine was started, suspend included.
@VaultActor
final class SystemClock: Clock {
  let alarms = Alarms { BootTime(milliseconds: clinux_boot_milliseconds()) }
  let bootID: BootID

  /// The machine's clocks.
  init() {
    var text: [CChar] = Array(repeating: 0, count: Int(CLINUX_BOOT_ID_SIZE))
    let length = unsafe text.withUnsafeMutableBufferPointer { unsafe clinux_read_boot_id($0.baseAddress) }
    let read =
      length > 0
      ? BootID(text: String(decoding: text.prefix(Int(length)).map(UInt8.init(bitPattern:)), as: UTF8.self))
      : nil
    // Where the kernel does not say, this run is like no other, and after a restart the wall clock decides alone.
    bootID = read ?? BootID(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
  }

  var wall: WallTime { WallTime(milliseconds: clinux_wall_milliseconds()) }
  var boot: BootTime { BootTime(milliseconds: clinux_boot_milliseconds()) }
}
