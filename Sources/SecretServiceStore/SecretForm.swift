// The forms in which a secret is stored: as it is wherever the provider gives back every byte, which other
// programs can then read, else in Base64 behind a mark. Which form an item has is told by an attribute
// and by the mark together, so that an item is read right at every moment of a change from one form to the
// other: the attribute alone may be ahead of the secret or behind it.

import SecretMemory
import VaultModel

/// A way to write a secret.
enum SecretForm: Hashable {
  /// As it is, told as text.
  case text
  /// As it is, told as bytes.
  case bytes
  /// In Base64 behind a mark, told as text.
  case base64

  /// What stands before Base64.
  private static let mark: StaticString = "vaultd-base64:"

  /// The content type that goes with it.
  var contentType: String {
    switch self {
    case .text, .base64: "text/plain"
    case .bytes: "application/octet-stream"
    }
  }

  /// The forms to try, the best first, with a provider that changes bytes of 0x80 and above or doesn't.
  static func candidates(for secret: Span<UInt8>, manglesBytes: Bool) -> [SecretForm] {
    // What begins like our own mark would be read as Base64.
    if begins(secret, with: mark) { return [.base64] }
    if isPlain(secret) { return [.text, .bytes, .base64] }
    if manglesBytes { return [.base64] }
    return isText(secret) ? [.text, .bytes, .base64] : [.bytes, .text, .base64]
  }

  /// Whether a secret has only bytes that no provider has been seen to change: no NUL, none of 0x80 and above.
  static func isPlain(_ secret: Span<UInt8>) -> Bool {
    for index in secret.indices where secret[index] >= 0x80 || secret[index] == 0 { return false }
    return true
  }

  /// The bytes to store for `secret`.
  func write<Result>(
    _ secret: Span<UInt8>, _ body: (Span<UInt8>) throws(Trouble) -> Result
  ) throws(Trouble) -> Result {
    switch self {
    case .text, .bytes: return try body(secret)
    case .base64:
      let encoded = try Self.encoded(secret)
      return try encoded.withBytes { stored throws(Trouble) in try body(stored) }
    }
  }

  private static func encoded(_ secret: Span<UInt8>) throws(Trouble) -> SecretBuffer {
    do {
      let count = mark.utf8CodeUnitCount + Base64.encodedCount(secret.count)
      var buffer = try SecretBuffer(capacity: count, limit: Limits.encodedSecretBytes)
      try buffer.append(mark)
      try Base64.encode(secret, into: &buffer)
      return buffer
    } catch {
      throw .own(VaultError(error))
    }
  }

  /// The secret in what was stored; `marked` says whether the item's attribute tells of Base64.
  static func read(_ stored: consuming SecretBytes, marked: Bool) throws(Trouble) -> SecretBytes {
    guard marked else { return stored }
    let decoded = try stored.withBytes { bytes throws(Trouble) -> SecretBytes? in
      guard begins(bytes, with: mark) else { return nil }
      do throws(SecretMemoryError) {
        return try Base64.decode(bytes.extracting(mark.utf8CodeUnitCount..<bytes.count))
      } catch {
        throw error == .notBase64 ? .notKept : .own(VaultError(error))
      }
    }
    if let decoded { return decoded }
    return stored
  }

  private static func begins(_ bytes: Span<UInt8>, with mark: StaticString) -> Bool {
    guard bytes.count >= mark.utf8CodeUnitCount else { return false }
    let expected = unsafe UnsafeBufferPointer(start: mark.utf8Start, count: mark.utf8CodeUnitCount)
    for index in 0..<mark.utf8CodeUnitCount where unsafe bytes[index] != expected[index] { return false }
    return true
  }

  /// Whether the bytes are UTF-8 without NUL.
  private static func isText(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices where bytes[index] == 0 { return false }
    return (try? UTF8Span(validating: bytes)) != nil
  }
}

/// Whether two secrets are equal, in a time that depends on their sizes only.
func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
  guard left.count == right.count else { return false }
  var difference: UInt8 = 0
  for index in left.indices { difference |= left[index] ^ right[index] }
  return difference == 0
}
