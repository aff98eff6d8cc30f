// A slot: the data key, wrapped under a key that a passphrase, a key file or a credential comes to. Read
// without any key, so it trusts nothing: its checksum tells damage from a wrong passphrase, and scrypt's
// parameters are bounded before they cost anything. Whether a slot was added by us is `SetState`'s to say,
// once the data key is there.

import Database
import SecretMemory
import VaultCrypto
import VaultModel

/// A row of the table `slot`.
struct SlotRow: Hashable, Sendable {
  /// Its number, kind, detail and date, as the user sees them.
  var slot: Slot
  /// Random; for scrypt or HKDF.
  var salt: [UInt8]
  /// scrypt's parameters; all 0 for a key file.
  var logN: Int64
  var r: Int64
  var p: Int64
  /// The data key, sealed.
  var wrapped: [UInt8]
  /// Over everything else.
  var checksum: [UInt8]

  static let saltSize = 32

  /// What the state of the set keeps of it.
  var mark: SlotMark { SlotMark(number: slot.number, checksum: checksum) }

  /// Reads all slots, by number. A row that makes no sense is `nil`.
  static func readAll(_ connection: borrowing Connection) throws(DatabaseFault) -> [SlotRow?] {
    let statement = try connection.prepare(
      "SELECT number, kind, detail, created, salt, log_n, r, p, wrapped, checksum FROM slot ORDER BY number")
    defer { statement.reset() }
    var rows: [SlotRow?] = []
    while try statement.step(), rows.count <= Limits.slots { rows.append(SlotRow(statement)) }
    return rows
  }

  private init?(_ row: borrowing Statement) {
    guard let kind = row.text(1).flatMap(Slot.Kind.init(rawValue:)), let detail = row.text(2) else {
      return nil
    }
    slot = Slot(
      number: row.integer(0), kind: kind, detail: detail, created: WallTime(milliseconds: row.integer(3)))
    salt = row.blob(4)
    (logN, r, p) = (row.integer(5), row.integer(6), row.integer(7))
    (wrapped, checksum) = (row.blob(8), row.blob(9))
    guard isSound else { return nil }
  }

  private var isSound: Bool {
    let costs =
      slot.kind == .keyFile
      ? (logN, r, p) == (0, 0, 0)
      : Limits.scryptLogNRange.contains(Int(clamping: logN)) && Limits.scryptRRange.contains(Int(clamping: r))
        && Limits.scryptPRange.contains(Int(clamping: p))
    return costs && salt.count == Self.saltSize && wrapped.count == SealingKey.size + SealingKey.overhead
      && checksum == (try? Checksum.of(image + wrapped))
  }

  /// A new slot that holds `dataKey`.
  init(
    _ slot: Slot, of vault: VaultID, key: SlotSecret, holding dataKey: SharedSecret
  ) throws(VaultError) {
    self.slot = slot
    let costs: (Int, Int, Int) =
      slot.kind == .keyFile ? (0, 0, 0) : (Limits.scryptLogN, Limits.scryptR, Limits.scryptP)
    (logN, r, p) = (Int64(costs.0), Int64(costs.1), Int64(costs.2))
    (salt, wrapped, checksum) = ([UInt8](repeating: 0, count: Self.saltSize), [], [])
    do throws(CryptoError) {
      var span = salt.mutableSpan
      try randomBytes(into: &span)
      let wrapping = try wrappingKey(key)
      let associated = associated(vault)
      wrapped = try dataKey.withBytes { plain throws(CryptoError) in
        try wrapping.seal(plain, associated: associated.span)
      }
      checksum = try Checksum.of(image + wrapped)
    } catch {
      throw VaultError(error, in: .file)
    }
  }

  /// The data key, where `key` opens this slot; `nil` where it does not. Takes scrypt's time.
  func open(with key: SlotSecret, of vault: VaultID) throws(VaultError) -> SharedSecret? {
    let associated = associated(vault)
    do throws(CryptoError) {
      return SharedSecret(try wrappingKey(key).open(wrapped.span, associated: associated.span))
    } catch {
      if case .authentication = error { return nil }
      throw VaultError(error, in: .file)
    }
  }

  private func wrappingKey(_ key: SlotSecret) throws(CryptoError) -> SealingKey {
    let derived =
      slot.kind == .keyFile
      ? try KeyDerivation.hkdf(
        from: key.bytes, salt: salt.span, label: "vault file 1: key file", count: SealingKey.size)
      : try KeyDerivation.scrypt(
        passphrase: key.bytes, salt: salt.span, logN: Int(clamping: logN), r: Int(clamping: r),
        p: Int(clamping: p))
    return try SealingKey(derived)
  }

  /// All fields but what they protect.
  private var image: [UInt8] {
    var writer = ByteWriter()
    writer.add(slot.number)
    writer.add(counted: slot.kind.rawValue.utf8)
    writer.add(counted: slot.detail.utf8)
    writer.add(slot.created.milliseconds)
    writer.add(counted: salt)
    for cost in [logN, r, p] { writer.add(cost) }
    return writer.bytes
  }

  private func associated(_ vault: VaultID) -> [UInt8] {
    var writer = ByteWriter()
    writer.add(fixed: "slot".utf8)
    writer.add(fixed: vault.array)
    writer.add(fixed: image)
    return writer.bytes
  }

  /// Writes the slot.
  func write(_ connection: borrowing Connection) throws(DatabaseFault) {
    let statement = try connection.prepare(
      """
      INSERT INTO slot (number, kind, detail, created, salt, log_n, r, p, wrapped, checksum)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """)
    try statement.run(
      .integer(slot.number), .text(slot.kind.rawValue), .text(slot.detail),
      .integer(slot.created.milliseconds),
      .blob(salt), .integer(logN), .integer(r), .integer(p), .blob(wrapped), .blob(checksum))
  }
}

/// What the user or the system gave to open a slot: a passphrase, the bytes of a key file, a credential.
final class SlotSecret: Sendable {
  let bytes: SecretBytes

  init(_ bytes: consuming SecretBytes) {
    self.bytes = bytes
  }

  convenience init(copying secret: SharedSecret) throws(VaultError) {
    do throws(SecretMemoryError) {
      self.init(try secret.withBytes { bytes throws(SecretMemoryError) in try SecretBytes(copying: bytes) })
    } catch {
      throw VaultError(error)
    }
  }
}
