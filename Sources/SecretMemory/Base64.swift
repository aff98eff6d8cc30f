// Base64 as RFC 4648, section 4, has it, between secret memory and secret memory: secrets that are no text
// travel in it. Strict: the one way to write given bytes is the one that is taken. No table is read at a place
// that a secret byte chooses, and no branch is taken on one, except to refuse.

/// Base64 with the standard alphabet and padding.
public enum Base64 {
  /// How many bytes `text` stands for, if it is Base64.
  public static func decodedCount(_ text: Span<UInt8>) -> Int {
    var padding = 0
    while padding < 2, padding < text.count, text[text.count - 1 - padding] == UInt8(ascii: "=") {
      padding += 1
    }
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
      var bad: UInt32 = 0
      var from = 0
      var to = 0
      while to + 3 <= count {
        let group = group(text, from, characters: 4)
        bad |= group
        bytes[to] = UInt8(truncatingIfNeeded: group >> 16)
        bytes[to + 1] = UInt8(truncatingIfNeeded: group >> 8)
        bytes[to + 2] = UInt8(truncatingIfNeeded: group)
        from += 4
        to += 3
      }
      switch count - to {
      case 1:
        let group = group(text, from, characters: 2)
        bad |= group | (group & 0xFFFF) << 16
        bytes[to] = UInt8(truncatingIfNeeded: group >> 16)
      case 2:
        let group = group(text, from, characters: 3)
        bad |= group | (group & 0xFF) << 24
        bytes[to] = UInt8(truncatingIfNeeded: group >> 16)
        bytes[to + 1] = UInt8(truncatingIfNeeded: group >> 8)
      default: break
      }
      return bad >> 24 == 0
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
        let left = min(3, bytes.count - from)
        var group = UInt32(bytes[from]) << 16
        if left > 1 { group |= UInt32(bytes[from + 1]) << 8 }
        if left > 2 { group |= UInt32(bytes[from + 2]) }
        free[to] = character(group >> 18)
        free[to + 1] = character(group >> 12 & 0x3F)
        free[to + 2] = left > 1 ? character(group >> 6 & 0x3F) : UInt8(ascii: "=")
        free[to + 3] = left > 2 ? character(group & 0x3F) : UInt8(ascii: "=")
        from += 3
        to += 4
      }
      return count
    }
  }

  /// 24 bits from up to four characters, the missing ones zero; a bit above them is set where one of the
  /// characters is not in the alphabet.
  private static func group(_ text: Span<UInt8>, _ start: Int, characters: Int) -> UInt32 {
    var group: UInt32 = 0
    for index in 0..<characters {
      let value = value(of: text[start + index])
      group |= (value & 0x3F) << UInt32(18 - 6 * index) | (value & 0xC0) << 18
    }
    return group
  }

  /// What a character stands for: 0 to 63, or 128 where it is not in the alphabet.
  private static func value(of character: UInt8) -> UInt32 {
    let byte = Int32(character)
    // All ones where `byte` is in the range, else zero.
    func mask(_ low: Int32, _ high: Int32) -> Int32 { ~((byte - low) >> 31 | (high - byte) >> 31) }
    let upper = mask(0x41, 0x5A)
    let lower = mask(0x61, 0x7A)
    let digit = mask(0x30, 0x39)
    let plus = mask(0x2B, 0x2B)
    let slash = mask(0x2F, 0x2F)
    let value =
      (upper & (byte - 0x41)) | (lower & (byte - 0x61 + 26)) | (digit & (byte - 0x30 + 52)) | (plus & 62)
      | (slash & 63)
    return UInt32(truncatingIfNeeded: value | ~(upper | lower | digit | plus | slash) & 128)
  }

  /// The character that stands for 0 to 63.
  private static func character(_ value: UInt32) -> UInt8 {
    let value = Int32(truncatingIfNeeded: value)
    // From one range to the next the distance to the character's code changes by a constant.
    var code = value + 0x41
    code += (25 - value) >> 31 & (0x61 - 0x41 - 26)
    code += (51 - value) >> 31 & (0x30 - 0x61 - 26)
    code += (61 - value) >> 31 & (0x2B - 0x30 - 10)
    code += (62 - value) >> 31 & (0x2F - 0x2B - 1)
    return UInt8(truncatingIfNeeded: code)
  }
}
