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
  /// meaning and C0 controls (RFC 8259, section 7), so runs without them are copied whole.
  mutating func appendString(_ text: Span<UInt8>) throws(SecretMemoryError) {
    try append(UInt8(ascii: "\""))
    var start = 0
    while start < text.count {
      var end = start
      while end < text.count, !Self.needsEscape(text[end]) { end += 1 }
      if end > start { try append(text.extracting(start..<end)) }
      if end < text.count { try appendEscape(of: text[end]) }
      start = end + 1
    }
    try append(UInt8(ascii: "\""))
  }

  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func appendEscape(of byte: UInt8) throws(SecretMemoryError) {
    switch byte {
    case UInt8(ascii: "\""): try append(#"\""#)
    case UInt8(ascii: "\\"): try append(#"\\"#)
    case UInt8(ascii: "\n"): try append(#"\n"#)
    case UInt8(ascii: "\r"): try append(#"\r"#)
    case UInt8(ascii: "\t"): try append(#"\t"#)
    default:
      try append(#"\u00"#)
      for digit in [byte >> 4, byte & 15] { try append(digit < 10 ? 0x30 + digit : 0x61 - 10 + digit) }
    }
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
    for index in indices where self[index] == 0 { return true }
    return false
  }
}
