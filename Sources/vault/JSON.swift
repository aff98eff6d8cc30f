// `--json`: one object on one line, written by the code that writes the wire. Passes through locked memory,
// since it may hold a secret.

import VaultClient
import VaultWire

/// Writes the parameters of a reply.
func printParameters(_ reply: Reply) throws(Failure) {
  try printObject { buffer throws(SecretMemoryError) in try reply.writeObject(into: &buffer) }
}

/// Writes an entry as one flat object, and the secret, where there is one, beside its fields.
func printFlat(_ entry: Entry, secret: SharedSecret? = nil) throws(Failure) {
  try printObject { buffer throws(SecretMemoryError) in try entry.writeObject(with: secret, into: &buffer) }
}

private func printObject(
  _ write: (inout SecretBuffer) throws(SecretMemoryError) -> Void
) throws(Failure) {
  let buffer = try inMemory { () throws(SecretMemoryError) in
    var buffer = try SecretBuffer(capacity: Limits.replyBufferBytes, limit: Limits.replyBytes)
    try write(&buffer)
    try buffer.append(UInt8(ascii: "\n"))
    return buffer
  }
  try buffer.withBytes { bytes throws(Failure) in try StandardStreams.write(bytes) }
}
