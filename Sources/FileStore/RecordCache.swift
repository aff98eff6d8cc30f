// Records that were read from the file before or written just now. A look-up that finds its record here asks no database,
// and opens the secret as if it had. A record is dropped when a change of it begins, and all of them when another process
// has changed the file, when the file is locked, and when nobody has asked for a minute. Holds no plain secret, and judges
// nothing.

import SecretMemory
import VaultCrypto
import VaultModel

/// What was read of a file, as far as `Limits.keptBytes` reach.
final class RecordCache {
  // By the number of the names: who asks compares them with what is found, and no name is kept twice.
  private var records: [Int: KeptRecord] = [:]
  /// What they take of it.
  private(set) var size = 0
  private let shield = Shield()
  // How often the file had been changed by others when these were read.
  private var others: UInt32 = 0
  // How many changes of a record are under way. Whoever reads meanwhile may get the old value or the new, and after the
  // new one never the old one again: so neither is kept.
  private var changes: [Int: Int] = [:]

  /// The record of a key and account, as long as nobody else changes the file.
  func record(_ key: Span<UInt8>, _ account: Span<UInt8>, _ others: UInt32) -> KeptRecord? {
    others == self.others ? record(key, account) : nil
  }

  /// The record of a key and account, however old: for what never changes of it.
  func record(_ key: Span<UInt8>, _ account: Span<UInt8>) -> KeptRecord? {
    // Other names may have the same number.
    guard let record = records[NameHash.of(key, account)], record.isOf(key, account) else { return nil }
    return record
  }

  /// Keeps a record, if it is one of those that are worth it. `secret` is plain, and is covered here.
  func keep(
    _ name: RecordName, _ entry: Entry, _ others: UInt32, multiplier: FieldElement? = nil, form: Span<UInt8>,
    secret: Span<UInt8>
  ) {
    if others != self.others { forgetAll() }
    self.others = others
    let number = entry.id.namesMixed
    guard changes[number] == nil, form.count + secret.count <= Limits.keptRecordBytes else { return }
    forget(number)
    if size + KeptRecord.size(form, secret) > Limits.keptBytes { forgetAll() }
    guard let record = KeptRecord(name, entry, form, secret, multiplier: multiplier, under: shield) else {
      return
    }
    size += record.size
    records[number] = record
  }

  /// A change of a record begins: it is not kept until the change has ended.
  func beginChange(of id: EntryID) {
    let number = id.namesMixed
    forget(number)
    changes[number, default: 0] += 1
  }

  /// A change of a record has ended.
  func endChange(of id: EntryID) {
    let number = id.namesMixed
    guard let count = changes[number] else { return }
    changes[number] = count == 1 ? nil : count - 1
  }

  private func forget(_ number: Int) {
    guard let gone = records.removeValue(forKey: number) else { return }
    size -= gone.size
  }

  /// Nothing that was read counts any more, or its memory is wanted.
  func forgetAll() {
    records = [:]
    shield.wipe()
    size = 0
  }
}
