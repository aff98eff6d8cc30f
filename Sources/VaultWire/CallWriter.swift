// Writes calls.

import SecretMemory
import VaultModel

extension Call {
  /// Adds the call to `buffer` as a frame, with the NUL at its end.
  public func write(
    oneway: Bool = false, more: Bool = false, into buffer: inout SecretBuffer
  ) throws(SecretMemoryError) {
  }
}
