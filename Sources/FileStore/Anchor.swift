// What holds the vault file where it is: how far it had come when a change was last acknowledged, kept beside it
// in a file of its own. SQLite takes a log whose tail was damaged or lost for one that ended there, and a file
// without its log for a whole one; either is an older copy that authenticates. The anchor tells: a file that is
// behind it has lost what was acknowledged. Written after each commit and before its acknowledgement, by one
// write and without a sync: it survives the end of the process, and after a power cut it may be older than the
// file, never newer. No I/O in here.

import SecretMemory
import VaultCrypto
import VaultModel

/// How far a vault file had come.
struct Anchor: Hashable, Sendable {
  /// How many bytes it has.
  static let size = 64
  private static let form: UInt64 = 1

  /// Which vault.
  let vault: VaultID
  /// The state's count of changes.
  let sequence: UInt64

  /// What the bytes of an anchor's file say.
  enum Finding: Hashable, Sendable {
    /// There is none, or it was made and not written yet.
    case none
    /// It is another vault's, and says nothing about this one.
    case foreign
    /// It is no anchor, or nobody with the key wrote it.
    case damaged
    /// The file had come so far.
    case sequence(UInt64)
  }

  /// The anchor as it is written: form, vault, sequence, code.
  func bytes(_ keys: VaultKeys) throws(CryptoError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.size)
    var room = bytes.mutableSpan
    room.write(Self.form, at: 0)
    room.write(vault.bytes.span, at: 8)
    room.write(sequence, at: 24)
    let code = try keys.anchor.code(of: room.span.extracting(first: 32))
    code.withBytes { code in room.write(code, at: 32) }
    return bytes
  }

  /// Judges the bytes that are in the file.
  static func judge(_ bytes: [UInt8], _ keys: VaultKeys) throws(CryptoError) -> Finding {
    if bytes.isEmpty { return .none }
    var reader = ByteReader(bytes)
    guard bytes.count == size, reader.number() == form, let name = reader.run(16),
      let vault = VaultID(name.span), let sequence = reader.number()
    else { return .damaged }
    if vault != keys.vault { return .foreign }
    let right = try Anchor(vault: vault, sequence: sequence).bytes(keys)
    return constantTimeEqual(bytes.span, right.span) ? .sequence(sequence) : .damaged
  }
}
