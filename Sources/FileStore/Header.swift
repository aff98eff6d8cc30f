// The first thing that is read of a vault file: which format it has and which vault it is. Needs no key.
// Every format to come keeps this one table, so that an older program can tell a newer file from a damaged
// one.

import Database
import VaultCrypto
import VaultModel

/// The one row of the table `header`.
struct Header: Hashable, Sendable {
  /// The format that this program writes, and the last that it reads.
  static let format: Int64 = 1

  /// Names one vault for ever: random, part of everything that is sealed.
  let vault: VaultID

  /// Reads the header.
  /// - Throws: `.unsupportedVersion` for a newer format, `.damaged` where header and checksum do not fit.
  static func read(
    _ connection: borrowing Connection, of blueprint: Blueprint
  ) throws(VaultError) -> Header {
    let found = try blueprint.place.judge { () throws(DatabaseFault) -> (Int64, [UInt8], [UInt8], Int64)? in
      let statement = try connection.prepare("SELECT format, vault, checksum FROM header WHERE id = 1")
      defer { statement.reset() }
      guard try statement.step() else { return nil }
      let version = try blueprint.format(connection)
      return (statement.integer(0), statement.blob(1), statement.blob(2), version)
    }
    let damaged = VaultError.damaged(
      store: blueprint.place, reason: "the header of \(connection.path) is damaged; \(blueprint.remedy)")
    guard let (format, vault, checksum, version) = found, let id = VaultID(vault.span), format == version,
      checksum == (try? Checksum.of(image(format, id)))
    else { throw damaged }
    guard format <= Self.format else { throw .unsupportedVersion(found: format, supported: Self.format) }
    guard format == Self.format else { throw damaged }
    return Header(vault: id)
  }

  /// Writes the header of a new file.
  func write(_ connection: borrowing Connection, checksum: [UInt8]) throws(DatabaseFault) {
    let statement = try connection.prepare(
      "INSERT INTO header (id, format, vault, checksum) VALUES (1, ?, ?, ?)")
    try statement.run(.integer(Self.format), .blob(vault.array), .blob(checksum))
  }

  /// What the checksum is of.
  func checksum() throws(CryptoError) -> [UInt8] { try Checksum.of(Self.image(Self.format, vault)) }

  private static func image(_ format: Int64, _ vault: VaultID) -> [UInt8] {
    var writer = ByteWriter()
    writer.add(format)
    writer.add(fixed: vault.array)
    return writer.bytes
  }
}

/// 16 random bytes that name a vault.
struct VaultID: Hashable, Sendable {
  let bytes: InlineArray<16, UInt8>

  init?(_ bytes: Span<UInt8>) {
    guard bytes.count == 16 else { return nil }
    self.bytes = InlineArray { bytes[$0] }
  }

  /// A new one.
  init() throws(CryptoError) {
    var random = InlineArray<16, UInt8>(repeating: 0)
    var span = random.mutableSpan
    try randomBytes(into: &span)
    bytes = random
  }

  var array: [UInt8] { bytes.indices.map { bytes[$0] } }

  static func == (left: Self, right: Self) -> Bool { left.array == right.array }

  func hash(into hasher: inout Hasher) { hasher.combine(array) }
}
