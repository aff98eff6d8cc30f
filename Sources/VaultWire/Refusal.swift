// What `RequestReader` says of a frame that is no request which can be carried out, and the answer to it. The
// answer holds names and limits and nothing else of the frame.

import SecretMemory
import VaultModel

/// Why a frame is no request that can be carried out.
public enum Refusal: Error, Sendable {
  /// It is no JSON object, or nested too deep or too long: answer once, then close, since where the next frame
  /// begins is as doubtful as this one. Nothing of it is echoed.
  case malformed
  /// It is answered with an error of `org.varlink.service`, unless it is `oneway`.
  case service(ServiceError, oneway: Bool)
  /// It is answered with an error of `org.vaultd.Vault`, unless it is `oneway`.
  case vault(VaultError, oneway: Bool)
}

extension Refusal {
  /// Whether the caller wants no answer, as far as could be read.
  public var oneway: Bool {
    switch self {
    case .malformed: false
    case .service(_, let oneway), .vault(_, let oneway): oneway
    }
  }

  /// Adds the error reply to `buffer` as a frame, with the NUL at its end. Where it throws, nothing is added.
  public func writeReply(into buffer: inout SecretBuffer) throws(SecretMemoryError) {
    switch self {
    case .malformed:
      try VaultError.invalidArgument(
        argument: "request",
        reason: "is not a call in JSON (RFC 8259), or too deep or too long; the connection ends"
      ).writeReply(into: &buffer)
    case .service(let error, _): try error.writeReply(into: &buffer)
    case .vault(let error, _): try error.writeReply(into: &buffer)
    }
  }
}
