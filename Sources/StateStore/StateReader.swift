// Reads `state.db` on the main thread, by a connection of its own. Never writes.

import Database
import VaultCore
import VaultModel

/// The statements that read.
final class StateReader {
  private let connection: Connection
  private let one: Statement
  private let ofNamespace: Statement
  private let all: Statement

  init(_ connection: consuming Connection) throws(DatabaseFault) {
    one = try connection.prepare(
      """
      SELECT namespace, name, account, version, standing, removed, entry, intent, fingerprint FROM record
      WHERE namespace = ? AND name = ? AND account = ?
      """)
    ofNamespace = try connection.prepare(
      """
      SELECT namespace, name, account, version, standing, removed, entry, intent, fingerprint FROM record
      WHERE namespace = ?
      """)
    all = try connection.prepare(
      """
      SELECT namespace, name, account, version, standing, removed, entry, intent, fingerprint FROM record
      """)
    self.connection = connection
  }

  var path: String { connection.path }

  func record(_ id: EntryID) throws(VaultError) -> StateRecord? {
    try rows(of: one, .text(id.key.namespace.text), .text(id.key.name), .text(id.account.text)).first
  }

  func records(_ namespace: Namespace?) throws(VaultError) -> [StateRecord] {
    guard let namespace else { return try rows(of: all) }
    return try rows(of: ofNamespace, .text(namespace.text))
  }

  private func rows(of statement: borrowing Statement, _ values: Statement.Value...) throws(VaultError)
    -> [StateRecord]
  {
    try Place.state.judge { () throws(DatabaseFault) in try statement.bind(values) }
    defer { statement.reset() }
    var records: [StateRecord] = []
    while try Place.state.judge({ () throws(DatabaseFault) in try statement.step() }) {
      guard let record = StateRow.read(statement) else {
        throw .damaged(
          store: .state,
          reason:
            "a record of \(path) is damaged: end vaultd and move the file away; the keyring is believed then")
      }
      records.append(record)
    }
    return records
  }

  /// The numbers of the whole, counted.
  func count() throws(DatabaseFault) -> StateNumbers? {
    let whole = try connection.prepare("SELECT highest, provider, latest FROM state WHERE id = 1")
    let counts = try connection.prepare(
      """
      SELECT count(*), count(*) FILTER (WHERE standing = 1), count(*) FILTER (WHERE standing = 3) FROM record
      """)
    let removals = try connection.prepare("SELECT namespace, account, version FROM namespace_removal")
    defer {
      whole.reset()
      counts.reset()
      removals.reset()
    }
    guard try whole.step(), try counts.step() else { return nil }
    var numbers = StateNumbers(
      highest: whole.integer(0), providerAnswered: whole.integer(1) != 0, records: Int(counts.integer(0)),
      present: Int(counts.integer(1)), removals: Int(counts.integer(2)),
      latest: WallTime(milliseconds: whole.integer(2)))
    while try removals.step() {
      guard let removal = StateRow.readRemoval(removals) else { return nil }
      numbers.namespaceRemovals.append(removal)
    }
    return numbers
  }

  /// Whether SQLite finds the file consistent.
  func isConsistent() throws(DatabaseFault) -> Bool {
    let check = try connection.prepare("PRAGMA quick_check(1)")
    defer { check.reset() }
    return try check.step() && check.text(0) == "ok"
  }
}
