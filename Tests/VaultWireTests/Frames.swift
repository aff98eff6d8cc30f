// Frames in tests: from text to what a reader makes of it, and from what a writer adds to text.

import SecretMemory
import VaultModel
import VaultWire

/// The bytes of a frame read as a request.
func request(_ frame: [UInt8]) throws(Refusal) -> Request {
  var reader = RequestReader()
  var frame = frame
  var bytes = frame.mutableSpan
  return try reader.read(&bytes)
}

/// The text of a frame read as a request.
func request(_ frame: String) throws(Refusal) -> Request {
  try request(Array(frame.utf8))
}

/// A call of a method of `org.vaultd.Vault` with these parameters, read as a request.
func request(_ method: String, _ parameters: String) throws(Refusal) -> Request {
  try request(#"{"method":"org.vaultd.Vault.\#(method)","parameters":\#(parameters)}"#)
}

/// The bytes of a frame read as the reply to a call.
func reply(_ frame: [UInt8], to call: Call) throws(ReplyFailure) -> (reply: Reply, continues: Bool) {
  var reader = ReplyReader()
  var frame = frame
  var bytes = frame.mutableSpan
  return try reader.read(&bytes, to: call)
}

/// The bytes that a writer adds, without the NUL at their end.
func frame(_ write: (inout SecretBuffer) throws -> Void) throws -> [UInt8] {
  var buffer = try SecretBuffer(capacity: 64, limit: 64 << 20)
  try write(&buffer)
  let bytes = buffer.withBytes { $0.array }
  guard bytes.last == 0 else { throw UnfinishedFrame() }
  return bytes.dropLast()
}

struct UnfinishedFrame: Error {}

/// The text that a writer adds, without the NUL at its end.
func text(_ write: (inout SecretBuffer) throws -> Void) throws -> String {
  String(decoding: try frame(write), as: UTF8.self)
}

func secret(_ bytes: [UInt8]) throws -> SharedSecret {
  SharedSecret(try SecretBytes(copying: bytes.span))
}

func secret(_ text: String) throws -> SharedSecret {
  try secret(Array(text.utf8))
}

extension Span<UInt8> {
  /// A copy, made at once: element by element takes seconds for the largest secret.
  var array: [UInt8] { unsafe withUnsafeBufferPointer { unsafe Array($0) } }
}

extension SharedSecret {
  var array: [UInt8] { withBytes { $0.array } }
}

extension Refusal {
  /// One line that tells refusals apart.
  var summary: String {
    switch self {
    case .malformed: "malformed"
    case .service(let error, let oneway): "\(error)\(oneway ? " oneway" : "")"
    case .vault(let error, let oneway): "\(error.outcome.rawValue) \(error)\(oneway ? " oneway" : "")"
    }
  }
}

/// What refuses a frame; "accepted" where nothing does.
func refusal(_ frame: String) -> String {
  do throws(Refusal) {
    _ = try request(frame)
    return "accepted"
  } catch {
    return error.summary
  }
}

/// What refuses a call of a method of `org.vaultd.Vault` with these parameters.
func refusal(_ method: String, _ parameters: String) -> String {
  refusal(#"{"method":"org.vaultd.Vault.\#(method)","parameters":\#(parameters)}"#)
}
