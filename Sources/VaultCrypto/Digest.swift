// The 32 bytes that HMAC-SHA256 comes to, as a value: the id of a record, its part in the sum over the set.
// No secret by itself.

/// 32 bytes.
public struct Digest: Hashable, Sendable {
  /// The size in bytes.
  public static let size = 32

  // Four words and no array: a record's id is a key of dictionaries with 100,000 of them.
  private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

  /// The digest that these 32 bytes are; `nil` for any other number of them.
  public init?(_ bytes: Span<UInt8>) {
    guard bytes.count == Self.size else { return nil }
    unsafe bytes.withUnsafeBytes { source in
      unsafe withUnsafeMutableBytes(of: &words) { unsafe $0.copyMemory(from: source) }
    }
  }

  /// Reads the bytes; the span does not outlive the call.
  public func withBytes<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe withUnsafeBytes(of: words) { raw throws(Failure) in
      try body(unsafe Span(_unsafeBytes: raw))
    }
  }

  /// Not for comparing with what an attacker chooses and times: for that there is `constantTimeEqual`.
  public static func == (left: Self, right: Self) -> Bool {
    left.words.0 == right.words.0 && left.words.1 == right.words.1
      && left.words.2 == right.words.2 && left.words.3 == right.words.3
  }

  public func hash(into hasher: inout Hasher) {
    // Any word of an HMAC is as good a hash as all of them.
    hasher.combine(words.0)
  }
}
