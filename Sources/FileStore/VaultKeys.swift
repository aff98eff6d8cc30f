// The keys of an unlocked vault file, each for one purpose, all from the data key. Made when the file is
// unlocked, wiped when it is locked. They name records, seal entries, secrets and the state, and authenticate
// the set; they leave the process in no form.

import Database
import SecretMemory
import VaultCrypto
import VaultModel

/// The keys of one vault.
final class VaultKeys: Sendable {
  let vault: VaultID
  /// The store that entries are in.
  let store: StoreName
  /// What slots wrap.
  let dataKey: SharedSecret
  let state: SealingKey
  /// Authenticates how far the file had come.
  let anchor: AuthenticationKey
  private let names: AuthenticationKey
  private let set: AuthenticationKey
  private let entries: SealingKey
  private let secrets: SealingKey
  // What all records are bound to, at its place in what each is bound to.
  private let boundToAll: InlineArray<42, UInt8>
  // What the state is bound to.
  private let boundToState: [UInt8]

  /// The keys of a vault from its data key, 32 bytes. `sealed` is how many values each of them has sealed at
  /// most.
  init(_ dataKey: SharedSecret, of vault: VaultID, sealed: UInt64, store: StoreName = .file)
    throws(CryptoError)
  {
    self.vault = vault
    self.store = store
    self.dataKey = dataKey
    boundToState = Array("state".utf8) + vault.array
    boundToAll = InlineArray { place in (1..<17).contains(place) ? vault.bytes[place - 1] : 0 }
    let whole: SecretBytes
    do throws(SecretMemoryError) {
      whole = try dataKey.withBytes { bytes throws(SecretMemoryError) in try SecretBytes(copying: bytes) }
    } catch {
      throw .exhausted(bytes: SealingKey.size)
    }
    func derive(_ label: StaticString, _ whole: borrowing SecretBytes) throws(CryptoError) -> SecretBytes {
      try KeyDerivation.hkdf(from: whole, salt: vault.bytes.span, label: label, count: SealingKey.size)
    }
    names = try AuthenticationKey(derive("vault file 1: names", whole))
    set = try AuthenticationKey(derive("vault file 1: set", whole))
    anchor = try AuthenticationKey(derive("vault file 1: anchor", whole))
    entries = try SealingKey(derive("vault file 1: entries", whole), sealed: sealed)
    secrets = try SealingKey(derive("vault file 1: secrets", whole), sealed: sealed)
    state = try SealingKey(derive("vault file 1: state", whole), sealed: sealed)
  }

  // MARK: Names

  /// The id of a record.
  func id(of entry: EntryID) throws(CryptoError) -> RecordID {
    RecordID(
      try names.code { message in
        message.add(1)
        message.add(text: entry.key.text)
        message.add(text: entry.account.text)
      })
  }

  /// The id of a namespace.
  func id(of namespace: Namespace) throws(CryptoError) -> RecordID {
    RecordID(
      try names.code { message in
        message.add(2)
        message.add(text: namespace.text)
      })
  }

  private func names(of entry: EntryID) throws(CryptoError) -> KnownNames {
    KnownNames(id: try id(of: entry), namespace: try id(of: entry.key.namespace), multiplier: nil)
  }

  /// The multiplier of an id in the sums over the set.
  func multiplier(of id: RecordID) throws(CryptoError) -> FieldElement {
    let code = try set.code { message in message.add(id.bits) }
    return code.withBytes { FieldElement(reducing: $0.wideNumber(at: 0)) }
  }

  // MARK: Records

  /// The two parts of a record that are sealed.
  enum Part: UInt8 {
    case entry = 1
    case secret = 2
  }

  /// Seals one part of a record.
  func seal(_ plain: Span<UInt8>, _ part: Part, of record: RecordName) throws(CryptoError) -> [UInt8] {
    let associated = associated(part, record)
    switch part {
    case .entry: return try entries.seal(plain, associated: associated.span)
    case .secret: return try secrets.seal(plain, associated: associated.span)
    }
  }

  /// Opens one part of a record.
  /// - Throws: `.authentication` where it is not what was sealed, or not for this record.
  func open(_ sealed: Span<UInt8>, _ part: Part, of record: RecordName) throws(CryptoError) -> SecretBytes {
    let associated = associated(part, record)
    switch part {
    case .entry: return try entries.open(sealed, associated: associated.span)
    case .secret: return try secrets.open(sealed, associated: associated.span)
    }
  }

  /// Opens and reads an entry; `nil` where it fails authentication or is none.
  func openEntry(_ sealed: Span<UInt8>, _ record: RecordName) -> Entry? {
    guard let plain = try? open(sealed, .entry, of: record) else { return nil }
    return plain.withBytes { entry($0, record) }
  }

  /// Reads an entry that was opened; `nil` where it is none, or is not that of `id` where that is known.
  func entry(_ form: Span<UInt8>, _ record: RecordName, of id: EntryID? = nil) -> Entry? {
    guard let entry = try? EntryForm.entry(form, in: store, of: id), entry.version == record.standing.version,
      entry.pending == record.standing.marks.contains(.pending)
    else { return nil }
    return entry
  }

  /// A change that puts a record, sealed; `form` is the entry as `EntryForm` writes it.
  func placement(
    of entry: Entry, _ form: [UInt8], _ secret: Span<UInt8>, _ marks: Standing.Marks,
    known: KnownNames? = nil
  ) throws(CryptoError) -> Placement {
    guard let standing = Standing(version: entry.version, marks: Int64(marks.rawValue)) else {
      throw .parameter("no record has version \(entry.version)")
    }
    let own = if let known { known } else { try names(of: entry.id) }
    let name = RecordName(id: own.id, namespace: own.namespace, standing: standing)
    let row = SealedRow(
      name: name, entry: try seal(form.span, .entry, of: name), secret: try seal(secret, .secret, of: name))
    let factor = if let multiplier = own.multiplier { multiplier } else { try multiplier(of: own.id) }
    return Placement(id: own.id, multiplier: factor, version: entry.version, row: row)
  }

  /// What both parts are bound to: so no record can be moved, renamed, mixed or aged.
  private func associated(_ part: Part, _ record: RecordName) -> InlineArray<42, UInt8> {
    var bytes = boundToAll
    bytes[0] = part.rawValue
    for place in 0..<8 {
      let shift = UInt64(56 - 8 * place)
      bytes[17 + place] = UInt8(truncatingIfNeeded: record.id.bits >> shift)
      bytes[25 + place] = UInt8(truncatingIfNeeded: record.namespace.bits >> shift)
      bytes[33 + place] = UInt8(truncatingIfNeeded: UInt64(record.standing.version) >> shift)
    }
    bytes[41] = record.standing.marks.rawValue
    return bytes
  }

  /// Seals the state of the set.
  func seal(_ state: SetState) throws(CryptoError) -> [UInt8] {
    let (bytes, associated) = (state.bytes, boundToState)
    return try self.state.seal(bytes.span, associated: associated.span)
  }

  /// Opens the state of the set.
  /// - Throws: `.authentication` also where what opens is no state.
  func openState(_ sealed: [UInt8]) throws(CryptoError) -> SetState {
    let associated = boundToState
    let plain = try state.open(sealed.span, associated: associated.span)
    let bytes = plain.withBytes { plain in plain.indices.map { plain[$0] } }
    guard let state = SetState(bytes) else { throw .authentication }
    return state
  }
}

/// What the names of an entry were worked out to be before.
struct KnownNames {
  let id: RecordID
  let namespace: RecordID
  let multiplier: FieldElement?
}

/// What of a record is in the clear: the ids of its key and of its namespace, and its version and marks.
struct RecordName: Hashable, Sendable {
  var id: RecordID
  var namespace: RecordID
  var standing: Standing
}
