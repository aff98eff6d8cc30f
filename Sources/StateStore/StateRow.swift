// A record of the state as the columns of a row, in both directions. Below the reader and the writer; judges
// what it reads, since the file is the user's to change.

import Database
import VaultCore
import VaultModel

/// The columns of a record, in the order of the statements that read and write them.
enum StateRow {
  /// What `standing` holds.
  enum Standing: Int64 {
    case absent = 0
    case present = 1
    case superseded = 2
    case removed = 3
    case expired = 4
  }

  /// Writes a record with a statement whose parameters are the columns.
  static func write(_ record: StateRecord, with statement: borrowing Statement) throws(DatabaseFault) {
    let (standing, entry, removed): (Standing, Entry?, WallTime?) =
      switch record.standing {
      case .present(let entry): (.present, entry, nil)
      case .superseded(let old): (.superseded, old, nil)
      case .absent: (.absent, nil, nil)
      case .removed(let at): (.removed, nil, at)
      case .expired(let entry): (.expired, entry, nil)
      }
    try statement.run(
      .text(record.id.key.namespace.text), .text(record.id.key.name), .text(record.id.account.text),
      .integer(record.version), .integer(standing.rawValue),
      removed.map { .integer($0.milliseconds) } ?? .null,
      entry.map { .blob(EntryForm.bytes(of: $0)) } ?? .null,
      record.intent.map { .blob(EntryForm.bytes(of: $0.entry)) } ?? .null,
      record.intent?.fingerprint.map { .blob($0.bytes) } ?? .null)
  }

  /// The record in the present row of a statement that gives the columns; `nil` where it is none.
  static func read(_ statement: borrowing Statement) -> StateRecord? {
    guard let namespace = statement.text(0), let name = statement.text(1), let text = statement.text(2),
      let key = try? Key("\(namespace).\(name)"), let account = try? Account(text)
    else { return nil }
    let id = EntryID(key, account)
    let standing: StateRecord.Standing? =
      switch Standing(rawValue: statement.integer(4)) {
      case .present: entry(statement, 6, of: id).map(StateRecord.Standing.present)
      case .superseded:
        if statement.isNull(6) {
          .superseded(old: nil)
        } else {
          entry(statement, 6, of: id).map(StateRecord.Standing.superseded)
        }
      case .absent: .absent
      case .removed: .removed(at: WallTime(milliseconds: statement.integer(5)))
      case .expired: entry(statement, 6, of: id).map(StateRecord.Standing.expired)
      case nil: nil
      }
    guard let standing else { return nil }
    var intent: Intent?
    if !statement.isNull(7) {
      guard let entry = entry(statement, 7, of: id) else { return nil }
      let fingerprint = Fingerprint(statement.blob(8))
      guard fingerprint != nil || statement.isNull(8) else { return nil }
      intent = Intent(entry, fingerprint)
    }
    return StateRecord(id: id, version: statement.integer(3), standing: standing, intent: intent)
  }

  /// The removal in the present row of a statement that gives namespace, account and version; `nil` where it is none.
  static func readRemoval(_ statement: borrowing Statement) -> NamespaceRemoval? {
    guard let text = statement.text(0), let namespace = try? Namespace(text) else { return nil }
    var account: Account?
    if !statement.isNull(1) {
      guard let text = statement.text(1), let named = try? Account(text) else { return nil }
      account = named
    }
    return NamespaceRemoval(namespace: namespace, account: account, version: statement.integer(2))
  }

  private static func entry(_ statement: borrowing Statement, _ column: Int32, of id: EntryID) -> Entry? {
    statement.withBlob(column) { bytes in try? EntryForm.entry(bytes, in: .secretService, of: id) }
  }
}
