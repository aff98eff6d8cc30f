// A vault file with its keys in memory: what every request for it needs, in one piece. The store has one from unlock to
// lock; what was begun with one ends with it.

/// An open vault file, its keys, and what is believed of its records.
final class UnlockedFile {
  let file: OpenedFile
  let keys: VaultKeys
  let ledger: Ledger

  /// These three.
  init(_ file: OpenedFile, _ keys: VaultKeys, _ ledger: Ledger) {
    (self.file, self.keys, self.ledger) = (file, keys, ledger)
  }

  /// All of it.
  var parts: (file: OpenedFile, keys: VaultKeys, ledger: Ledger) { (file, keys, ledger) }

  /// How often somebody else was found to have changed the file; `nil` where somebody has and it was not found yet.
  var othersUntilNow: UInt32? { ledger.othersUntilNow(file.reader.changeCount) }
}
