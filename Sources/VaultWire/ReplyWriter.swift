// Writes replies.

import SecretMemory
import VaultModel

extension Reply {
  /// Adds the reply to `buffer` as a frame, with the NUL at its end; `continues`: more replies follow.
  public func write(continues: Bool = false, into buffer: inout SecretBuffer) throws(SecretMemoryError) {
  }
}

extension VaultError {
  /// Adds the error reply to `buffer` as a frame, with the NUL at its end.
  public func writeReply(into buffer: inout SecretBuffer) throws(SecretMemoryError) {
  }
}

extension ServiceError {
  /// Adds the error reply to `buffer` as a frame, with the NUL at its end.
  public func writeReply(into buffer: inout SecretBuffer) throws(SecretMemoryError) {
  }
}
