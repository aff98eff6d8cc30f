// Replies as JSON for people's scripts: what the command writes with `--json`. The same members as on the
// wire, by the same code, without the frame around them.

import SecretMemory
import VaultModel

extension Reply {
  /// Adds the parameters of the reply as one JSON object.
  public func writeObject(into buffer: inout SecretBuffer) throws(SecretMemoryError) {
    try buffer.append(UInt8(ascii: "{"))
    try writeParameters(into: &buffer)
    try buffer.append(UInt8(ascii: "}"))
  }
}

extension Entry {
  /// Adds the entry as one JSON object, and the secret, where there is one, as a member beside the entry's.
  public func writeObject(
    with secret: SharedSecret? = nil, into buffer: inout SecretBuffer
  ) throws(SecretMemoryError) {
    try buffer.append(UInt8(ascii: "{"))
    try buffer.appendMembers(of: self)
    if let secret {
      try buffer.append(UInt8(ascii: ","))
      try buffer.appendSecret(secret)
    }
    try buffer.append(UInt8(ascii: "}"))
  }
}
