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

  /// Writes a boolean.
  mutating func put(_ value: Bool, at end: inout Int) {
    if value { put("true", at: &end) } else { put("false", at: &end) }
  }

  /// Writes an integer.
  mutating func put(_ value: Int64, at end: inout Int) {
    var rest = value.magnitude
    if value < 0 {
      self[end] = UInt8(ascii: "-")
      end += 1
    }
    var digits = 1
    var power: UInt64 = 10
    // Ten to the 19th is the largest power of ten in 64 bits, and no magnitude has more digits.
    while digits < 19, rest >= power {
      digits &+= 1
      power &*= 10
    }
    end += digits
    var place = end
    while digits > 0 {
      place &-= 1
      digits &-= 1
      self[place] = 0x30 &+ UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
  }

  /// Writes a string. Everything goes as it is but the two characters that JSON gives a meaning and C0 controls
  /// (RFC 8259, section 7). `escapes` are its `jsonEscapes`.
  mutating func put(_ text: Span<UInt8>, escapes: Int, at end: inout Int) {
    self[end] = UInt8(ascii: "\"")
    end += 1
    var index = 0
    while index < text.count {
      let run = escapes == 0 ? text.count : text.firstEscaped(from: index)
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
      let word = word(at: index)
      let found =
        word.bytes(below: 0x20) | (word ^ UInt64(everyByte: UInt8(ascii: "\""))).zeroBytes
        | (word ^ UInt64(everyByte: UInt8(ascii: "\\"))).zeroBytes
      // Of those that are found only the first is known to be one.
      if found != 0 { return index + UInt64(littleEndian: found).trailingZeroBitCount / 8 }
      index += 8
    }
    while index < count, self[index] >= 0x20, self[index] != UInt8(ascii: "\""),
      self[index] != UInt8(ascii: "\\")
    {
      index += 1
    }
    return index
  }
}

/// How many bytes more than one a byte takes in a string.
private func jsonEscapeBytes(_ byte: UInt8) -> Int {
  switch byte {
  case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): 1
  default: byte < 0x20 ? 5 : 0
  }
}
