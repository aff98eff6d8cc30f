// JSON into memory that has room for it: the caller knows beforehand how long it gets, asks its buffer once, and writes
// a whole entry in one go. Names and punctuation are literals of the caller. Every write is checked against the span;
// nothing here grows anything.

import SecretMemory

/// The most bytes that an integer takes: a sign and 19 digits.
let mostIntegerBytes = 20

extension MutableSpan<UInt8> {
  /// Writes a literal at `end`, and moves that behind it.
  @inline(__always)
  mutating func put(_ text: StaticString, at end: inout Int) {
    write(text, at: end)
    end += text.utf8CodeUnitCount
  }

  /// Writes an integer, of which there must be room for the longest.
  mutating func put(_ value: Int64, at end: inout Int) {
    if value < 0 {
      self[end] = UInt8(ascii: "-")
      end += 1
    }
    // Of up to 19 digits, eight at a time.
    let (upper, last) = value.magnitude.quotientAndRemainder(dividingBy: 100_000_000)
    if upper == 0 { return putFirst(last, at: &end) }
    if upper < 100_000_000 {
      putFirst(upper, at: &end)
    } else {
      let (first, middle) = upper.quotientAndRemainder(dividingBy: 100_000_000)
      putFirst(first, at: &end)
      putEight(middle, at: &end)
    }
    putEight(last, at: &end)
  }

  /// Writes the digits of a number below 100,000,000.
  @inline(__always)
  private mutating func putFirst(_ value: UInt64, at end: inout Int) {
    let digits = value.eightDigits
    // Zeros in front are moved out of the word, but for the last digit of 0.
    let zeros = min(7, (digits & UInt64(everyByte: 0x0F)).trailingZeroBitCount / 8)
    writeWord(digits >> UInt64(8 * zeros), at: end)
    end += 8 - zeros
  }

  /// Writes a number below 100,000,000 with zeros in front.
  @inline(__always)
  private mutating func putEight(_ value: UInt64, at end: inout Int) {
    writeWord(value.eightDigits, at: end)
    end += 8
  }

  /// Writes a string. Everything goes as it is but the two characters that JSON gives a meaning and C0 controls
  /// (RFC 8259, section 7). Who has looked already says that there are none of them.
  mutating func put(string text: Span<UInt8>, isPlain: Bool = false, at end: inout Int) {
    self[end] = UInt8(ascii: "\"")
    end += 1
    var index = 0
    while index < text.count {
      let run = isPlain ? text.count : text.firstEscaped(from: index)
      write(text.extracting(index..<run), at: end)
      end += run - index
      index = run
      while index < text.count, jsonEscapeBytes(text[index]) > 0 {
        putEscape(of: text[index], at: &end)
        index += 1
      }
    }
    self[end] = UInt8(ascii: "\"")
    end += 1
  }

  /// Writes the escape of a byte that needs one.
  private mutating func putEscape(of byte: UInt8, at end: inout Int) {
    self[end] = UInt8(ascii: "\\")
    switch byte {
    case UInt8(ascii: "\n"): self[end + 1] = UInt8(ascii: "n")
    case UInt8(ascii: "\r"): self[end + 1] = UInt8(ascii: "r")
    case UInt8(ascii: "\t"): self[end + 1] = UInt8(ascii: "t")
    case 0..<0x20:
      self[end + 1] = UInt8(ascii: "u")
      self[end + 2] = UInt8(ascii: "0")
      self[end + 3] = UInt8(ascii: "0")
      self[end + 4] = UInt8(ascii: "0") + byte >> 4
      let low = byte & 15
      self[end + 5] = low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") - 10 + low
      end += 4
    default: self[end + 1] = byte
    }
    end += 2
  }
}

extension Span<UInt8> {
  /// How many bytes the escapes of this string take more than what they stand for.
  var jsonEscapes: Int {
    var more = 0
    var index = firstEscaped(from: 0)
    while index < count {
      let bytes = jsonEscapeBytes(self[index])
      more += bytes
      index = bytes > 0 ? index + 1 : firstEscaped(from: index)
    }
    return more
  }

  /// The place of the first byte, at or behind `start`, that a string must escape; `count` where there is none.
  func firstEscaped(from start: Int) -> Int {
    var index = start
    while index + 8 <= count {
      let found = word(at: index).escapedBytes
      // Of those that are found only the first is known to be one.
      if found != 0 { return index + UInt64(littleEndian: found).trailingZeroBitCount / 8 }
      index += 8
    }
    // The last eight bytes, of which those were passed over that were looked at before.
    if index < count, count - start >= 8 {
      let found = word(at: count - 8).escapedBytes
      return found == 0 ? count : count - 8 + UInt64(littleEndian: found).trailingZeroBitCount / 8
    }
    while index < count, self[index] >= 0x20, self[index] != UInt8(ascii: "\""),
      self[index] != UInt8(ascii: "\\")
    {
      index += 1
    }
    return index
  }
}

extension Span<UInt8> {
  /// Whether all of them are ASCII.
  var isASCII: Bool {
    var all: UInt64 = 0
    var index = 0
    while index + 8 <= count {
      all |= word(at: index)
      index += 8
    }
    while index < count {
      all |= UInt64(self[index])
      index += 1
    }
    return all & UInt64(everyByte: 0x80) == 0
  }

  /// Whether they are ASCII that stands in a string as it is.
  var isPlainText: Bool {
    var others: UInt64 = 0
    var index = 0
    while index + 8 <= count {
      let word = word(at: index)
      others |= word.escapedBytes | word & UInt64(everyByte: 0x80)
      index += 8
    }
    // Of the last eight bytes some were looked at before.
    if count >= 8 {
      let word = word(at: count - 8)
      return (others | word.escapedBytes | word & UInt64(everyByte: 0x80)) == 0
    }
    return isASCII && firstEscaped(from: 0) == count
  }
}

extension UInt64 {
  /// Not 0 where one of the eight bytes is one that a string must escape.
  @inline(__always)
  fileprivate var escapedBytes: UInt64 {
    bytes(below: 0x20) | (self ^ UInt64(everyByte: UInt8(ascii: "\""))).zeroBytes
      | (self ^ UInt64(everyByte: UInt8(ascii: "\\"))).zeroBytes
  }

  /// The eight digits of a number below 100,000,000, the first in the lowest byte. Halves of it are divided side by side:
  /// into two by 10,000, into four by 100, into eight by 10.
  fileprivate var eightDigits: UInt64 {
    let halves = self / 10_000 | (self % 10_000) << 32
    // 10,486 / 2^20 and 103 / 2^10 are near enough to 1/100 and 1/10 for what is below 10,000 and below 100.
    let hundreds = (halves &* 10_486) >> 20 & 0x0000_007F_0000_007F
    let pairs = hundreds | (halves &- hundreds &* 100) << 16
    let tens = (pairs &* 103) >> 10 & 0x000F_000F_000F_000F
    return (tens | (pairs &- tens &* 10) << 8) | UInt64(everyByte: UInt8(ascii: "0"))
  }
}

/// How many bytes more than one a byte takes in a string; 5 at most.
private func jsonEscapeBytes(_ byte: UInt8) -> Int {
  switch byte {
  case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): 1
  default: byte < 0x20 ? 5 : 0
  }
}
