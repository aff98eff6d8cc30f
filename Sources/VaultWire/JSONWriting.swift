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

  /// Adds a string; `text` is valid UTF-8. The length is known before the first byte is written, so that a secret is
  /// never moved from one buffer to a larger one on its way.
  mutating func appendString(_ text: Span<UInt8>) throws(SecretMemoryError) {
    let escapes = text.jsonEscapes
    _ = try fill(atLeast: text.count + escapes + 2) { free in
      var end = 0
      free.put(string: text, isPlain: escapes == 0, at: &end)
      return end
    }
  }

  /// Adds an integer.
  mutating func appendInteger(_ value: Int64) throws(SecretMemoryError) {
    _ = try fill(atLeast: mostIntegerBytes) { free in
      var end = 0
      free.put(value, at: &end)
      return end
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
}
