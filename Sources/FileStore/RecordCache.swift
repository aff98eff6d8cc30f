// Records that were read from the file before: the entry as bytes, the secret sealed as the file has it. A look-up that
// finds its record here asks no database, and opens the secret as if it had; of some the token is ready, under a shield.
// A record is dropped when a change of it begins, and all of them when another process has changed the file, when the
// file is locked, and when nobody has asked for a minute. Holds no plain secret, and judges nothing.

import SecretMemory
import VaultCrypto
import VaultModel

/// What was read of a file, as far as `Limits.keptBytes` reach.
final class RecordCache {
  /// A record that authenticated when it was read.
  struct Record {
    /// What of it is in the clear.
    let name: RecordName
    // Entry, secret and, where it was worked out, multiplier: there may be 100,000 of these, so each is one piece of memory.
    private let bytes: [UInt8]
    private let entrySize: UInt32
    private let secretSize: UInt32

    fileprivate init(
      _ name: RecordName, _ multiplier: FieldElement?, entry: Span<UInt8>, secret: Span<UInt8>
    ) {
      self.name = name
      (entrySize, secretSize) = (UInt32(entry.count), UInt32(secret.count))
      let start = entry.count + secret.count
      var bytes = [UInt8](repeating: 0, count: start + (multiplier == nil ? 0 : FieldElement.size))
      var span = bytes.mutableSpan
      span.write(entry, at: 0)
      span.write(secret, at: entry.count)
      if let multiplier { span.write(multiplier.value, at: start) }
      self.bytes = bytes
    }

    /// Reads the entry, as `EntryForm` writes it, and the sealed secret.
    func withParts<Result>(_ body: (_ entry: Span<UInt8>, _ secret: Span<UInt8>) -> Result) -> Result {
      let (first, second) = (Int(entrySize), Int(secretSize))
      let bytes = bytes.span
      return body(bytes.extracting(first: first), bytes.extracting(first..<first + second))
    }

    /// What its id counts with in the sums over the set; `nil` where that was not worked out.
    var multiplier: FieldElement? {
      let start = Int(entrySize) + Int(secretSize)
      return bytes.count > start ? FieldElement(reducing: bytes.span.wideNumber(at: start)) : nil
    }

    /// What it takes of the memory that records may take.
    fileprivate var size: Int { Self.overhead + bytes.count }

    // Two places in a dictionary that is half full, and an array's header.
    private static let overhead = 2 * (MemoryLayout<Record>.stride + MemoryLayout<Int>.stride) + 40
  }

  // By the hash of the id: who asks compares what is found with the id, and no name is kept twice.
  private var records: [Int: Record] = [:]
  private var size = 0
  // Of some of the records, those that were read from here before or written just now: they need not be read again.
  private var tokens: [Int: SealedToken] = [:]
  private let shield = Shield()
  // How often the file had been changed by others when these were read.
  private var others: UInt32 = 0
  // How many changes of a record are under way. Whoever reads meanwhile may get the old value or the new, and after the
  // new one never the old one again: so neither is kept.
  private var changes: [Int: Int] = [:]

  /// The record that may be that of `id`, as long as nobody else changes the file: another id may have the same hash.
  func record(of id: EntryID, _ others: UInt32) -> Record? {
    others == self.others ? records[id.nameHash] : nil
  }

  /// The record that may be that of `id`, however old: for what never changes of it.
  func record(of id: EntryID) -> Record? { records[id.nameHash] }

  /// Keeps the token of a record ready, as long as there are few: a program asks for a handful again and again, and who
  /// asks for all of many asks for each once. It is what the record of this name says, which is kept.
  func keepToken(_ name: RecordName, _ entry: Entry, _ secret: SharedSecret) {
    let hash = entry.id.nameHash
    guard tokens.count < Limits.keptTokens, tokens[hash] == nil, records[hash]?.name == name,
      let covered = try? secret.withBytes({ secret throws(CryptoError) in try shield.cover(secret) })
    else { return }
    tokens[hash] = SealedToken(entry: entry, secret: covered)
  }

  /// Whether the record that may be that of `id` is: its token is kept ready.
  func hasToken(of id: EntryID) -> Bool { tokens[id.nameHash]?.isOf(id) == true }

  /// The token of `id` that is kept ready, as long as nobody else changes the file.
  func token(of id: EntryID, _ others: UInt32) -> SealedToken? {
    guard others == self.others, let token = tokens[id.nameHash], token.isOf(id) else { return nil }
    return token
  }

  /// Keeps a record, if it is one of those that are worth it.
  func keep(
    _ name: RecordName, of id: EntryID, _ others: UInt32, multiplier: FieldElement? = nil,
    entry: Span<UInt8>, secret: Span<UInt8>
  ) {
    if others != self.others { forgetAll() }
    self.others = others
    guard changes[id.nameHash] == nil, entry.count + secret.count <= Limits.keptRecordBytes else { return }
    forget(id)
    let record = Record(name, multiplier, entry: entry, secret: secret)
    if size + record.size > Limits.keptBytes { forgetAll() }
    size += record.size
    records[id.nameHash] = record
  }

  /// A change of a record begins: it is not kept until the change has ended.
  func beginChange(of id: EntryID) {
    forget(id)
    changes[id.nameHash, default: 0] += 1
  }

  /// A change of a record has ended.
  func endChange(of id: EntryID) {
    guard let count = changes[id.nameHash] else { return }
    changes[id.nameHash] = count == 1 ? nil : count - 1
  }

  private func forget(_ id: EntryID) {
    guard let gone = records.removeValue(forKey: id.nameHash) else { return }
    size -= gone.size
    tokens[id.nameHash] = nil
  }

  /// Nothing that was read counts any more, or its memory is wanted.
  func forgetAll() {
    (records, tokens) = ([:], [:])
    shield.wipe()
    size = 0
  }
}
