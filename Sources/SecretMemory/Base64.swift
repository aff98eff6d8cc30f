// Base64 as RFC 4648, section 4, has it, between secret memory and secret memory: secrets that are no text
// travel in it. Strict: the one way to write given bytes is the one that is taken. No table is read at a place
// that a secret byte chooses, and no branch is taken on one, except to refuse.

/// Base64 with the standard alphabet and padding.
public enum Base64 {
  /// How many bytes `text` stands for, if it is Base64.
  public static func decodedCount(_ text: Span<UInt8>) -> Int {
    let equals = UInt8(ascii: "=")
    var padding = 0
    while padding < 2, padding < text.count, text[text.count - 1 - padding] == equals { padding += 1 }
    return max(0, text.count / 4 * 3 - padding)
  }

  /// How many bytes the Base64 of `count` bytes has.
  public static func encodedCount(_ count: Int) -> Int { (count + 2) / 3 * 4 }

  /// The bytes that `text` stands for; the caller wipes `text`.
  /// - Throws: `.notBase64` for anything but groups of four characters of the alphabet, the last one padded,
  ///   with zeros in the bits that padding leaves over (section 3.5). White space is refused like the rest.
  public static func decode(_ text: Span<UInt8>) throws(SecretMemoryError) -> SecretBytes {
    guard text.count % 4 == 0 else { throw .notBase64 }
    let count = decodedCount(text)
    var decoded = try SecretBytes(zeros: count)
    let sound = decoded.withMutableBytes { bytes in
      var wrong: Int32 = 0
      var from = 0
      var to = 0
      while to + 3 <= count {
        let group = group(text[from], text[from + 1], text[from + 2], text[from + 3])
        wrong |= group
        bytes[to] = UInt8(truncatingIfNeeded: group >> 16)
        bytes[to + 1] = UInt8(truncatingIfNeeded: group >> 8)
        bytes[to + 2] = UInt8(truncatingIfNeeded: group)
        from += 4
        to += 3
      }
      // "A" stands for zeros. The bits that padding leaves over must be zeros too.
      let zeros = UInt8(ascii: "A")
      switch count - to {
      case 1:
        let group = group(text[from], text[from + 1], zeros, zeros)
        wrong |= group | -(group & 0xFFFF)
        bytes[to] = UInt8(truncatingIfNeeded: group >> 16)
      case 2:
        let group = group(text[from], text[from + 1], text[from + 2], zeros)
        wrong |= group | -(group & 0xFF)
        bytes[to] = UInt8(truncatingIfNeeded: group >> 16)
        bytes[to + 1] = UInt8(truncatingIfNeeded: group >> 8)
      default: break
      }
      return wrong >= 0
    }
    guard sound else { throw .notBase64 }
    return decoded
  }

  /// Adds the Base64 of `bytes` to `buffer`.
  public static func encode(
    _ bytes: Span<UInt8>, into buffer: inout SecretBuffer
  ) throws(SecretMemoryError) {
    let count = encodedCount(bytes.count)
    guard count > 0 else { return }
    _ = try buffer.fill(atLeast: count) { free in
      var from = 0
      var to = 0
      while from < bytes.count {
        let second = from + 1 < bytes.count
        let third = from + 2 < bytes.count
        let group =
          Int32(bytes[from]) << 16 | (second ? Int32(bytes[from + 1]) << 8 : 0)
          | (third ? Int32(bytes[from + 2]) : 0)
        free[to] = character(group >> 18)
        free[to + 1] = character(group >> 12 & 0x3F)
        free[to + 2] = second ? character(group >> 6 & 0x3F) : UInt8(ascii: "=")
        free[to + 3] = third ? character(group & 0x3F) : UInt8(ascii: "=")
        from += 3
        to += 4
      }
      return count
    }
  }

  /// 24 bits from four characters; negative where one of them is not in the alphabet.
  @inline(__always)
  private static func group(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) -> Int32 {
    value(of: a) << 18 | value(of: b) << 12 | value(of: c) << 6 | value(of: d)
  }

  /// What a character stands for: 0 to 63; -1 where it is not in the alphabet.
  @inline(__always)
  private static func value(of character: UInt8) -> Int32 {
    let byte = Int32(character)
    // Both differences are negative for a byte inside the range, and then their sign, shifted, is all ones.
    // One more than the value is added to -1. Nothing of this can overflow.
    var value: Int32 = -1
    value &+= ((0x40 &- byte) & (byte &- 0x5B)) >> 31 & (byte &- 0x40)  // A to Z
    value &+= ((0x60 &- byte) & (byte &- 0x7B)) >> 31 & (byte &- 0x61 &+ 27)  // a to z
    value &+= ((0x2F &- byte) & (byte &- 0x3A)) >> 31 & (byte &- 0x30 &+ 53)  // 0 to 9
    value &+= ((0x2A &- byte) & (byte &- 0x2C)) >> 31 & 63  // +
    value &+= ((0x2E &- byte) & (byte &- 0x30)) >> 31 & 64  // /
    return value
  }

  /// The character that stands for 0 to 63.
  @inline(__always)
  private static func character(_ value: Int32) -> UInt8 {
    // From one range to the next the distance to the character's code changes by a constant.
    var code = value &+ 0x41
    code &+= (25 &- value) >> 31 & (0x61 - 0x41 - 26)
    code &+= (51 &- value) >> 31 & (0x30 - 0x61 - 26)
    code &+= (61 &- value) >> 31 & (0x2B - 0x30 - 10)
    code &+= (62 &- value) >> 31 & (0x2F - 0x2B - 1)
    return UInt8(truncatingIfNeeded: code)
  }
}
