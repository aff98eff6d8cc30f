// Text whose identity is its bytes. Swift compares strings by canonical equivalence, in which `café` in NFC
// and in NFD are the same; keys and accounts are what their bytes are. Holds no secret.

import SecretMemory

/// Text that is equal to another only when every byte of its UTF-8 is.
public struct ExactText: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The text as it was given.
  public let text: String

  /// Takes any text.
  public init(_ text: String) {
    self.text = text
  }

  public static func == (left: Self, right: Self) -> Bool {
    left.isEqual(to: right.text.utf8.span)
  }

  /// Whether these are its bytes.
  func isEqual(to bytes: Span<UInt8>) -> Bool { text.utf8.span.isEqual(to: bytes) }

  /// In the order of the bytes.
  public static func < (left: Self, right: Self) -> Bool {
    // A string's own view gives its bytes one by one: a list of many names takes five times as long to sort.
    let (one, other) = (left.text.utf8.span, right.text.utf8.span)
    for index in 0..<min(one.count, other.count) where one[index] != other[index] {
      return one[index] < other[index]
    }
    return one.count < other.count
  }

  public func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    // No byte of UTF-8: of several texts behind each other each ends somewhere.
    hasher.combine(UInt8.max)
  }

  public var description: String { text }
}

extension Unicode.Scalar {
  /// C0, DEL or C1: what may stand in no key, account or label, and in no line of the log.
  public var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }
}

extension StringProtocol {
  /// Whether any scalar is a control character.
  public var holdsControl: Bool { unicodeScalars.contains(where: \.isControl) }
}
