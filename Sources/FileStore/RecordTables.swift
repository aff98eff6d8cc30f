// Writes the vault file on its file thread: rows and slots that are sealed already, and the state of the set
// with each transaction. Reads the whole file when it is opened or verified (`RecordLoading`).

import Database
import Synchronization
import VaultCrypto
import VaultModel

/// The ledger of one open file. It outlives the connection, which is opened anew where it could only read.
final class LedgerInForce: Sendable {
  let ledger = Mutex<Ledger?>(nil)
}

/// The statements that write.
final class RecordTables: WrittenTables {
  let vault: VaultID
  let blueprint: Blueprint
  private let renew: Statement
  private let put: Statement
  private let delete: Statement
  private let setAside: Statement
  private let state: Statement
  private let deleteSlot: Statement
  let watch: FileWatch
  let anchor: AnchorFile
  let folder: DataFolder
  private let inForce: LedgerInForce
  /// What the transaction of the last `apply` writes beside its changes.
  private var prepared: Ledger.Prepared?

  init(
    _ connection: borrowing Connection, of vault: VaultID, _ blueprint: Blueprint, in folder: DataFolder,
    _ inForce: LedgerInForce
  ) throws(DatabaseFault) {
    // Whose record it is does not change: SQLite would write the index anew, with the same in it, if it were told.
    renew = try connection.prepare(
      "UPDATE record SET version = ?2, marks = ?3, entry = ?5, secret = ?6 WHERE id = ?1 AND namespace = ?4")
    put = try connection.prepare(
      """
      INSERT INTO record (id, version, marks, namespace, entry, secret) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      ON CONFLICT (id) DO UPDATE SET version = ?2, marks = ?3, namespace = ?4, entry = ?5, secret = ?6
      """)
    delete = try connection.prepare("DELETE FROM record WHERE id = ?")
    // A version below 0 is believed by nobody; the row waits for its key to be set or cleared.
    setAside = try connection.prepare(
      "UPDATE record SET version = -version WHERE id BETWEEN ? AND ? AND version > 0")
    state = try connection.prepare("UPDATE state SET sealed = ? WHERE id = 1")
    deleteSlot = try connection.prepare("DELETE FROM slot WHERE number = ?")
    watch = FileWatch(blueprint, in: folder)
    anchor = AnchorFile(of: blueprint, in: folder)
    self.vault = vault
    self.blueprint = blueprint
    self.folder = folder
    self.inForce = inForce
  }

  /// What the changes are changes of; `nil` until the file was unlocked.
  var ledger: Ledger? {
    get { inForce.ledger.withLock { $0 } }
    set { inForce.ledger.withLock { $0 = newValue } }
  }

  func apply(_ changes: [RecordChange], in connection: borrowing Connection) throws(CommitFailure) {
    do throws(VaultError) { try watch.check() } catch { throw .refused(error) }
    guard let prepared = ledger?.prepare(changes, connection.changeCount) else {
      throw .refused(.lockedMeanwhile(blueprint.place))
    }
    self.prepared = prepared
    do throws(DatabaseFault) {
      for bucket in prepared.setAside {
        let rows = RecordID.rows(ofBucket: bucket)
        try setAside.run(.integer(rows.lowerBound), .integer(rows.upperBound))
      }
      for change in changes { try write(change, connection) }
    } catch {
      throw .database(error)
    }
    let sealed: [UInt8]
    do throws(CryptoError) { sealed = try prepared.keys.seal(prepared.state) } catch {
      throw .refused(VaultError(error, in: blueprint.place))
    }
    do throws(DatabaseFault) { try state.run(.blob(sealed)) } catch { throw .database(error) }
  }

  private func write(_ change: RecordChange, _ connection: borrowing Connection) throws(DatabaseFault) {
    switch change {
    case .place(let placement):
      guard let row = placement.row else {
        return try delete.run(.integer(placement.id.row))
      }
      try bind(row, renew)
      try renew.run()
      // There is none, or one that somebody else has given to another namespace.
      guard connection.changedRows == 0 else { return }
      try bind(row, put)
      try put.run()
    case .addSlot(let row):
      try row.write(connection)
    case .removeSlot(let number):
      try deleteSlot.run(.integer(number))
    }
  }

  private func bind(_ row: SealedRow, _ statement: borrowing Statement) throws(DatabaseFault) {
    try statement.bind(row.name.id.row, at: 1)
    try statement.bind(row.name.standing.version, at: 2)
    try statement.bind(Int64(row.name.standing.marks.rawValue), at: 3)
    try statement.bind(row.name.namespace.row, at: 4)
    try statement.bind(row.entry.span, at: 5)
    try statement.bind(row.secret.span, at: 6)
  }

  func settle(committed: Bool) {
    // First: what somebody may see must not be lost without a word.
    if committed, let prepared { anchor.write(prepared.state.sequence, prepared.keys) }
    prepared = nil
    ledger?.settle(committed: committed)
  }

  static func leavesTraces(_ change: RecordChange) -> Bool {
    switch change {
    case .place(let placement):
      placement.removesSecret || placement.standing?.marks.contains(.tombstone) ?? true
    case .addSlot: false
    // The data key that it wrapped.
    case .removeSlot: true
    }
  }
}

extension VaultError {
  /// The outcome for what was begun and overtaken by a lock.
  static func lockedMeanwhile(_ place: Place) -> VaultError {
    .locked(store: place, reason: "the vault was locked meanwhile: run `vault unlock`")
  }
}
