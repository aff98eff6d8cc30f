// A point in time by all clocks of the machine. The wall clock can be set, the boot clock cannot, but it begins anew
// with each start of the machine: which start that was is part of the moment. Holds no secret.

/// Names one run of the machine, from its start to its end: the kernel's `boot_id`, 128 random bits (random(4)).
public struct BootID: Hashable, Sendable {
  /// The first 64 bits.
  public let high: UInt64
  /// The last 64 bits.
  public let low: UInt64

  /// The run with these bits.
  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Takes the kernel's text: 32 hexadecimal digits with dashes between them.
  public init?(text: String) {
    var words: (UInt64, UInt64) = (0, 0)
    var count = 0
    for byte in text.utf8 where byte != UInt8(ascii: "-") {
      guard count < 32, let digit = hexDigit(byte) else { return nil }
      if count < 16 { words.0 = words.0 << 4 | digit } else { words.1 = words.1 << 4 | digit }
      count += 1
    }
    guard count == 32 else { return nil }
    self.init(high: words.0, low: words.1)
  }
}

private func hexDigit(_ byte: UInt8) -> UInt64? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(byte - UInt8(ascii: "0"))
  case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(byte - UInt8(ascii: "a") + 10)
  default: nil
  }
}

/// One point in time, as all clocks showed it.
public struct Moment: Hashable, Sendable {
  /// By the wall clock.
  public let wall: WallTime
  /// By the boot clock.
  public let boot: BootTime
  /// In which run of the machine.
  public let bootID: BootID

  /// The moment at which the clocks showed this.
  public init(wall: WallTime, boot: BootTime, bootID: BootID) {
    self.wall = wall
    self.boot = boot
    self.bootID = bootID
  }
}
