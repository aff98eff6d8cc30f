// A secret that is kept outside secret memory, sealed, and opened where its bytes are needed. What seals it lies above;
// from here on only that it can be opened is known.

/// A sealed secret. Any thread may open it, as often as it likes.
public protocol SealedSecret: Sendable {
  /// How many bytes the secret has.
  var count: Int { get }

  /// Opens it into `room`, which has `count` bytes.
  /// - Returns: false where it could not be opened; what is in `room` then is nothing.
  func open(into room: inout MutableSpan<UInt8>) -> Bool
}

extension SealedSecret {
  /// The secret, in memory of its own.
  /// - Throws: `.exhausted`, or `.notOpened`.
  public func opened() throws(SecretMemoryError) -> SecretBytes {
    var bytes = try SecretBytes(zeros: count)
    guard bytes.withMutableBytes({ open(into: &$0) }) else { throw .notOpened }
    return bytes
  }
}
