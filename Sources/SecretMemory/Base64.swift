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
      var (wrong, from, to) = decodeBlocks(text, into: &bytes)
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
      var (from, to) = encodeBlocks(bytes, into: &free)
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

  /// Sixteen characters or values at once: the arithmetic of `value` and `character` below, lane by lane.
  private typealias Block = SIMD16<Int8>

  /// Decodes as many blocks of 16 characters as leave something for the end of the text.
  /// - Returns: negative where a character is not in the alphabet; how far that read and wrote.
  private static func decodeBlocks(
    _ text: Span<UInt8>, into bytes: inout MutableSpan<UInt8>
  ) -> (wrong: Int32, from: Int, to: Int) {
    var wrong = Block(repeating: 0)
    var from = 0
    var to = 0
    let count = bytes.count
    var raw = unsafe bytes.mutableBytes
    /// The three bytes of four values, and one more, which the next group overwrites.
    func group(_ values: UInt64) -> UInt32 {
      let lane = UInt32(truncatingIfNeeded: values)
      let group =
        lane &<< 26 | (lane & 0x3F00) &<< 12 | (lane & 0x3F_0000) &>> 2 | (lane & 0x3F00_0000) &>> 16
      return group.bigEndian
    }
    while from + 16 < text.count, to + 16 <= count {
      let sextets = values(of: unsafe text.bytes.unsafeLoadUnaligned(fromByteOffset: from, as: Block.self))
      wrong = wrong | sextets
      let lanes = unsafe unsafeBitCast(sextets, to: SIMD2<UInt64>.self)
      raw.storeBytes(of: group(lanes[0]), toByteOffset: to, as: UInt32.self)
      raw.storeBytes(of: group(lanes[0] &>> 32), toByteOffset: to + 3, as: UInt32.self)
      raw.storeBytes(of: group(lanes[1]), toByteOffset: to + 6, as: UInt32.self)
      raw.storeBytes(of: group(lanes[1] &>> 32), toByteOffset: to + 9, as: UInt32.self)
      from += 16
      to += 12
    }
    let halves = unsafe unsafeBitCast(wrong, to: SIMD2<UInt64>.self)
    let isWrong = (halves[0] | halves[1]) & UInt64(everyByte: 0x80) != 0
    return (isWrong ? -1 : 0, from, to)
  }

  /// Encodes as many blocks of 12 bytes as leave something for the end.
  /// - Returns: how far that read and wrote.
  private static func encodeBlocks(
    _ bytes: Span<UInt8>, into text: inout MutableSpan<UInt8>
  ) -> (from: Int, to: Int) {
    var from = 0
    var to = 0
    var raw = unsafe text.mutableBytes
    /// Four values from the three bytes at `place`, which are read as four.
    func sextets(_ place: Int) -> UInt64 {
      let group = UInt32(
        bigEndian: unsafe bytes.bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt32.self))
      return UInt64(
        group &>> 26 | (group &>> 12) & 0x3F00 | (group &<< 2) & 0x3F_0000 | (group &<< 16) & 0x3F00_0000)
    }
    while from + 13 <= bytes.count {
      let lanes = SIMD2<UInt64>(
        sextets(from) | sextets(from + 3) &<< 32, sextets(from + 6) | sextets(from + 9) &<< 32)
      let values = unsafe unsafeBitCast(lanes, to: Block.self)
      raw.storeBytes(of: characters(of: values), toByteOffset: to, as: Block.self)
      from += 12
      to += 16
    }
    return (from, to)
  }

  /// What 16 characters stand for: 0 to 63 each; -1 where one is not in the alphabet.
  @inline(__always)
  private static func values(of characters: Block) -> Block {
    var values = Block(repeating: -1)
    values = values &+ inside(characters, 0x40, 0x5B) & (characters &- Block(repeating: 0x40))
    values = values &+ inside(characters, 0x60, 0x7B) & (characters &- Block(repeating: 0x61 - 27))
    values = values &+ inside(characters, 0x2F, 0x3A) & (characters &+ Block(repeating: 53 - 0x30))
    values = values &+ inside(characters, 0x2A, 0x2C) & Block(repeating: 63)
    values = values &+ inside(characters, 0x2E, 0x30) & Block(repeating: 64)
    return values
  }

  /// All ones where a character lies between both, zeros elsewhere; bytes of 0x80 and above lie between none of ours.
  @inline(__always)
  private static func inside(_ characters: Block, _ low: Int8, _ high: Int8) -> Block {
    let below = Block(repeating: low) &- characters
    let above = characters &- Block(repeating: high)
    return (below & above) &>> Block(repeating: 7)
  }

  /// The characters that stand for 16 values of 0 to 63.
  @inline(__always)
  private static func characters(of values: Block) -> Block {
    func beyond(_ limit: Int8, _ change: Int8) -> Block {
      (Block(repeating: limit) &- values) &>> Block(repeating: 7) & Block(repeating: change)
    }
    var codes = values &+ Block(repeating: 0x41)
    codes = codes &+ beyond(25, 0x61 - 0x41 - 26)
    codes = codes &+ beyond(51, 0x30 - 0x61 - 26)
    codes = codes &+ beyond(61, 0x2B - 0x30 - 10)
    codes = codes &+ beyond(62, 0x2F - 0x2B - 1)
    return codes
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
