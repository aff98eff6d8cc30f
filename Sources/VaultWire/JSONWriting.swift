// JSON, as far as frames need it, straight into the send buffer: no value passes through other memory on its
// way. Names and punctuation are literals of the caller; this file writes values.

import SecretMemory

extension SecretBuffer {
  /// Adds what `body` writes as one frame, with the NUL at its end; where that fails, nothing is added.
  mutating func appendFrame(
    _ body: (inout SecretBuffer) throws(SecretMemoryError) -> Void
  ) throws(SecretMemoryError) {
    let before = count
    do throws(SecretMemoryError) {
      try body(&self)
      try append(UInt8(0))
    } catch {
      removeLast(count - before)
      throw error
    }
  }

  /// Adds a string.
  mutating func appendString(_ text: String) throws(SecretMemoryError) {
    try appendString(text.utf8.span)
  }

  /// Adds a string; `text` is valid UTF-8. Everything goes as it is but the two characters that JSON gives a
  /// meaning and C0 controls (RFC 8259, section 7). The length is known before the first byte is written, so
  /// that a secret is never moved from one buffer to a larger one on its way.
  mutating func appendString(_ text: Span<UInt8>) throws(SecretMemoryError) {
    let more = Self.escapeBytes(text)
    _ = try fill(atLeast: text.count + more + 2) { free in
      free[0] = UInt8(ascii: "\"")
      var end = 1
      var index = 0
      while index < text.count {
        let run = more == 0 ? text.count : text.firstEscaped(from: index)
        free.write(text.extracting(index..<run), at: end)
        (index, end) = (run, end + run - index)
        while index < text.count, Self.escapeBytes(text[index]) > 0 {
          end = Self.writeEscape(of: text[index], into: &free, at: end)
          index += 1
        }
      }
      free[end] = UInt8(ascii: "\"")
      return end + 1
    }
  }

  /// How many bytes the escapes of a string take more than what they stand for.
  private static func escapeBytes(_ text: Span<UInt8>) -> Int {
    var more = 0
    var index = text.firstEscaped(from: 0)
    while index < text.count {
      let bytes = escapeBytes(text[index])
      more += bytes
      index = bytes > 0 ? index + 1 : text.firstEscaped(from: index)
    }
    return more
  }

  /// How many bytes more than one a byte takes in a string.
  private static func escapeBytes(_ byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): 1
    default: byte < 0x20 ? 5 : 0
    }
  }

  /// Writes the escape of a byte that needs one.
  /// - Returns: the place behind it.
  private static func writeEscape(of byte: UInt8, into free: inout MutableSpan<UInt8>, at start: Int) -> Int {
    free[start] = UInt8(ascii: "\\")
    switch byte {
    case UInt8(ascii: "\n"): free[start + 1] = UInt8(ascii: "n")
    case UInt8(ascii: "\r"): free[start + 1] = UInt8(ascii: "r")
    case UInt8(ascii: "\t"): free[start + 1] = UInt8(ascii: "t")
    case 0..<0x20:
      free[start + 1] = UInt8(ascii: "u")
      free[start + 2] = UInt8(ascii: "0")
      free[start + 3] = UInt8(ascii: "0")
      free[start + 4] = UInt8(ascii: "0") + byte >> 4
      let low = byte & 15
      free[start + 5] = low < 10 ? UInt8(ascii: "0") + low : UInt8(ascii: "a") - 10 + low
      return start + 6
    default: free[start + 1] = byte
    }
    return start + 2
  }

  /// Adds an integer.
  mutating func appendInteger(_ value: Int64) throws(SecretMemoryError) {
    _ = try fill(atLeast: 20) { free in
      var rest = value.magnitude
      var count = value < 0 ? 2 : 1
      while rest >= 10 {
        rest /= 10
        count += 1
      }
      rest = value.magnitude
      if value < 0 { free[0] = UInt8(ascii: "-") }
      var place = count
      repeat {
        place -= 1
        free[place] = 0x30 + UInt8(rest % 10)
        rest /= 10
      } while rest > 0
      return count
    }
  }

  /// Adds a boolean.
  mutating func appendBoolean(_ value: Bool) throws(SecretMemoryError) {
    if value { try append("true") } else { try append("false") }
  }

  /// Adds a secret as a member: `"secret":` and text where it is UTF-8 without a NUL, else `"secretBase64":`.
  mutating func appendSecret(_ secret: SharedSecret) throws(SecretMemoryError) {
    try secret.withBytes { bytes throws(SecretMemoryError) in
      if bytes.isText, !bytes.holdsNUL {
        try append(#""secret":"#)
        try appendString(bytes)
      } else {
        try append(#""secretBase64":""#)
        try Base64.encode(bytes, into: &self)
        try append(UInt8(ascii: "\""))
      }
    }
  }
}

extension Span<UInt8> {
  /// Whether these are UTF-8.
  var isText: Bool { (try? UTF8Span(validating: self)) != nil }

  /// Whether they hold a NUL.
  var holdsNUL: Bool {
    var index = 0
    var found: UInt64 = 0
    while index + 8 <= count {
      found |= word(at: index).zeroBytes
      index += 8
    }
    while index < count {
      found |= self[index] == 0 ? 1 : 0
      index += 1
    }
    return found != 0
  }

  /// The place of the first byte, at or behind `start`, that a string must escape; `count` where there is none.
  fileprivate func firstEscaped(from start: Int) -> Int {
    var index = start
    while index + 8 <= count {
      let word = word(at: index)
      let found =
        word.bytes(below: 0x20) | (word ^ UInt64(everyByte: UInt8(ascii: "\""))).zeroBytes
        | (word ^ UInt64(everyByte: UInt8(ascii: "\\"))).zeroBytes
      if found != 0 { break }
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
