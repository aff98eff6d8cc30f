// The forms in which a secret is stored: as it is wherever the provider gives back every byte, which other
// programs can then read, else in Base64 behind a mark. Which form an item has is told by an attribute
// and by the mark together, so that an item is read right at every moment of a change from one form to the
// other: the attribute alone may be ahead of the secret or behind it. What a provider does to bytes of a kind is
// tried out behind the Base64 of the first secret that has them, so that at no moment an altered value can be read.

import SecretMemory
import VaultModel

/// A way to write a secret.
enum SecretForm: Hashable {
  /// How a secret is told to the provider.
  enum ContentType: String {
    case text = "text/plain"
    case bytes = "application/octet-stream"
  }

  /// As it is.
  case plain(ContentType)
  /// In Base64 behind a mark.
  case base64
  /// In Base64 behind a mark, with samples of such bytes behind that.
  case trial(ContentType, SecretTraits)

  /// What stands before Base64, and between it and samples.
  private static let mark: StaticString = "vaultd-base64:"
  private static let end = UInt8(ascii: ":")

  /// The content type that goes with it.
  var contentType: ContentType {
    switch self {
    case .plain(let type), .trial(let type, _): type
    case .base64: .text
    }
  }

  /// Whether the item's attribute tells of Base64.
  var isMarked: Bool {
    switch self {
    case .plain: false
    case .base64, .trial: true
    }
  }

  /// Whether a secret begins like our own mark, and would be read as Base64 if it were stored as it is.
  static func beginsWithMark(_ secret: Span<UInt8>) -> Bool { begins(secret, with: mark) }

  /// The bytes to store for `secret`.
  func write<Result>(
    _ secret: Span<UInt8>, _ body: (Span<UInt8>) throws(Trouble) -> Result
  ) throws(Trouble) -> Result {
    let samples: [UInt8]
    switch self {
    case .plain: return try body(secret)
    case .base64: samples = []
    case .trial(_, let traits): samples = [Self.end] + traits.samples
    }
    let encoded = try Self.encoded(secret, samples)
    return try encoded.withBytes { stored throws(Trouble) in try body(stored) }
  }

  private static func encoded(_ secret: Span<UInt8>, _ samples: [UInt8]) throws(Trouble) -> SecretBuffer {
    do {
      let count = mark.utf8CodeUnitCount + Base64.encodedCount(secret.count) + samples.count
      var buffer = try SecretBuffer(capacity: count, limit: Limits.encodedSecretBytes)
      try buffer.append(mark)
      try Base64.encode(secret, into: &buffer)
      try buffer.append(samples.span)
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
      var last = mark.utf8CodeUnitCount
      while last < bytes.count, bytes[last] != end { last += 1 }
      do throws(SecretMemoryError) {
        return try Base64.decode(bytes.extracting(mark.utf8CodeUnitCount..<last))
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
}

/// Whether two secrets are equal, in a time that depends on their sizes only.
func equal(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
  guard left.count == right.count else { return false }
  var difference: UInt8 = 0
  for index in left.indices { difference |= left[index] ^ right[index] }
  return difference == 0
}
