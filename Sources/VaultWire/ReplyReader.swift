// Reads replies.

import SecretMemory
import VaultModel

/// Why a call has no reply.
public enum ReplyFailure: Error, Sendable {
  /// The daemon answered with an error of `org.vaultd.Vault`.
  case vault(VaultError)
  /// The daemon answered with an error of `org.varlink.service`.
  case service(ServiceError)
  /// What came is no reply to the call.
  case malformed
}

/// Reads replies from frames, in a client. Keeps its memory between calls.
public struct ReplyReader: ~Copyable {
  /// A reader without memory yet.
  public init() {}

  /// Reads the reply to `call` in `frame`, which is the frame without the NUL at its end. The frame is parsed
  /// in place and holds rubbish and pieces of secrets afterwards, for the caller to wipe.
  /// - Returns: the reply, and whether more of them follow.
  public mutating func read(
    _ frame: inout MutableSpan<UInt8>, to call: Call
  ) throws(ReplyFailure) -> (reply: Reply, continues: Bool) {
    throw .malformed
  }
}
