// The vault file as somebody without the key sees it, who can write to it: rows as they are, to be moved,
// aged, removed and put back.

import Database
import VaultModel

@testable import FileStore

/// A row of the table `record`.
struct RawRow: Hashable {
  var id: Int64
  var version: Int64
  var marks: Int64
  var namespace: Int64
  var entry: [UInt8]
  var secret: [UInt8]
}

extension FileBench {
  /// The id of a key's record. Needs the keys.
  func recordID(_ key: String) throws -> Int64 { try store.unlocked().keys.id(of: try id(key)).row }

  /// The bucket that a key's record is summed in.
  func bucket(_ key: String) throws -> Int { try store.unlocked().keys.id(of: try id(key)).bucket }

  /// The row with an id; `nil` where there is none.
  func row(_ id: Int64) throws -> RawRow? {
    let connection = try Connection(file, .read, layer: .system)
    let statement = try connection.prepare(
      "SELECT id, version, marks, namespace, entry, secret FROM record WHERE id = ?")
    try statement.bind(.integer(id))
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    return RawRow(
      id: statement.integer(0), version: statement.integer(1), marks: statement.integer(2),
      namespace: statement.integer(3), entry: statement.blob(4), secret: statement.blob(5))
  }

  /// Puts a row where its id says, in place of what is there.
  func put(_ row: RawRow) throws {
    let connection = try Connection(file, .write, layer: .system)
    try connection.prepare(
      """
      INSERT INTO record (id, version, marks, namespace, entry, secret) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      ON CONFLICT (id) DO UPDATE SET version = ?2, marks = ?3, namespace = ?4, entry = ?5, secret = ?6
      """
    ).run(
      .integer(row.id), .integer(row.version), .integer(row.marks), .integer(row.namespace), .blob(row.entry),
      .blob(row.secret))
    _ = try connection.emptyLog()
  }

  /// Removes a row.
  func delete(_ id: Int64) throws {
    let connection = try Connection(file, .write, layer: .system)
    try connection.prepare("DELETE FROM record WHERE id = ?").run(.integer(id))
    _ = try connection.emptyLog()
  }

  /// The sealed state, and putting it back.
  func state() throws -> [UInt8] {
    let connection = try Connection(file, .read, layer: .system)
    let statement = try connection.prepare("SELECT sealed FROM state")
    defer { statement.reset() }
    return try statement.step() ? statement.blob(0) : []
  }

  func putState(_ sealed: [UInt8]) throws {
    let connection = try Connection(file, .write, layer: .system)
    try connection.prepare("UPDATE state SET sealed = ?").run(.blob(sealed))
    _ = try connection.emptyLog()
  }
}
