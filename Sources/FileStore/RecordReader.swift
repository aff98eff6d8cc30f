// Reads the vault file on the main thread, by a connection of its own: one row for a look-up, a few hundred
// for a part of a list. What it gives is as the file has it, unopened; whether to believe it is the store's
// to say. Never writes.

import Database
import VaultModel

/// The statements that read.
final class RecordReader {
  private let connection: Connection
  private let one: Statement
  private let ofNamespace: Statement
  private let all: Statement
  private let counting: Statement

  init(_ connection: consuming Connection) throws(DatabaseFault) {
    one = try connection.prepare(
      "SELECT id, version, marks, namespace, entry, secret FROM record WHERE id = ?")
    ofNamespace = try connection.prepare(
      """
      SELECT id, version, marks, namespace, entry FROM record
      WHERE namespace = ?1 AND id >= ?2 ORDER BY id LIMIT ?3
      """)
    all = try connection.prepare(
      "SELECT id, version, marks, namespace, entry FROM record WHERE id >= ?1 ORDER BY id LIMIT ?2")
    counting = try connection.prepare("SELECT count(*) FROM record")
    self.connection = connection
  }

  /// How many transactions there were on the file; `nil` where that can't be told.
  var changeCount: UInt32? { connection.changeCount }

  /// The file.
  var path: String { connection.path }

  /// Reads the row of an id, `nil` where there is none: gives `body` the row's name, `nil` where it is none,
  /// and its sealed entry and secret in SQLite's memory.
  func withRow<Result>(
    _ id: RecordID, _ body: (RecordName?, Span<UInt8>, Span<UInt8>) -> Result
  ) throws(DatabaseFault) -> Result? {
    try one.bind(id.row, at: 1)
    defer { one.reset() }
    guard try one.step() else { return nil }
    return one.withBlob(4) { entry in one.withBlob(5) { secret in body(RecordName(one), entry, secret) } }
  }

  /// Reads rows in the order of their ids.
  /// - Parameters:
  ///   - namespace: whose; `nil` for all.
  ///   - first: the row to begin with.
  ///   - count: how many at most.
  ///   - body: gets each row's name and sealed entry.
  /// - Throws: what SQLite says.
  /// - Returns: the row to go on from; `nil` where there are no more.
  func forEachRow(
    of namespace: RecordID?, from first: Int64, count: Int, _ body: (RecordName?, Span<UInt8>) -> Void
  ) throws(DatabaseFault) -> Int64? {
    guard let namespace else {
      try all.bind(.integer(first), .integer(Int64(count)))
      return try rows(of: all, body)
    }
    try ofNamespace.bind(.integer(namespace.row), .integer(first), .integer(Int64(count)))
    return try rows(of: ofNamespace, body)
  }

  private func rows(
    of statement: borrowing Statement, _ body: (RecordName?, Span<UInt8>) -> Void
  ) throws(DatabaseFault) -> Int64? {
    defer { statement.reset() }
    var last: Int64?
    while try statement.step() {
      statement.withBlob(4) { entry in body(RecordName(statement), entry) }
      last = statement.integer(0)
    }
    return last.flatMap { $0 == .max ? nil : $0 + 1 }
  }

  /// How many rows there are.
  func count() throws(DatabaseFault) -> Int {
    defer { counting.reset() }
    return try counting.step() ? Int(counting.integer(0)) : 0
  }

  /// The largest version that a row shows, authenticated or not; 0 where there is none.
  func largestVersion() throws(DatabaseFault) -> Version {
    let largest = try connection.prepare("SELECT max(version) FROM record")
    defer { largest.reset() }
    return try largest.step() ? largest.integer(0) : 0
  }

  /// The slots, by number; a damaged one is `nil`.
  func slots() throws(DatabaseFault) -> [SlotRow?] {
    try SlotRow.readAll(connection)
  }
}

extension RecordName {
  /// The name in the first four columns of a row: id, version, marks, namespace. `nil` where they are none.
  init?(_ row: borrowing Statement) {
    guard let standing = Standing(version: row.integer(1), marks: row.integer(2)) else { return nil }
    self.init(id: RecordID(row: row.integer(0)), namespace: RecordID(row: row.integer(3)), standing: standing)
  }
}
