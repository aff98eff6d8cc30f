// Reads requests.

import SecretMemory
import VaultModel

/// Reads requests from frames, in the daemon. Keeps its memory between calls.
public struct RequestReader: ~Copyable {
  /// A reader without memory yet.
  public init() {}

  /// Reads the call in `frame`, which is the frame without the NUL at its end. The frame is parsed in place
  /// and holds rubbish and pieces of secrets afterwards, for the caller to wipe.
  public mutating func read(_ frame: inout MutableSpan<UInt8>) throws(Refusal) -> Request {
    throw .malformed
  }
}
