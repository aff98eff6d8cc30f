// The tables of the vault file, format 1, and what is different about the file of the session store, which is the
// same in all but name, number and place. docs/vault-file.md says what is in each column.

import Database
import VaultModel

extension Blueprint {
  /// `vault.db`.
  static let vault = Blueprint(
    name: "vault.db", place: .file, application: 0x564C_5446, format: 1,
    marks: "PRAGMA application_id = 0x564C5446; PRAGMA user_version = 1;", tables: fileTables)

  /// `session.db`, in the runtime folder.
  static let session = Blueprint(
    name: "session.db", place: .session, application: 0x564C_5353, format: 1,
    marks: "PRAGMA application_id = 0x564C5353; PRAGMA user_version = 1;", tables: fileTables)

  /// The store that such a file is.
  var store: StoreName { place == .session ? .session : .file }

  /// The names of everything that belongs to such a file.
  var files: [String] { ["", "-journal", "-wal", "-shm"].map { name + $0 } + [anchorName] }

  /// The name of the anchor's file.
  var anchorName: String { name.hasSuffix(".db") ? name.dropLast(3) + ".anchor" : name + ".anchor" }
}

private let fileTables: [StaticString] = [
  """
  CREATE TABLE header (
    id INTEGER PRIMARY KEY,
    format INTEGER NOT NULL,
    vault BLOB NOT NULL,
    checksum BLOB NOT NULL
  )
  """,
  """
  CREATE TABLE slot (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    detail TEXT NOT NULL,
    created INTEGER NOT NULL,
    salt BLOB NOT NULL,
    log_n INTEGER NOT NULL,
    r INTEGER NOT NULL,
    p INTEGER NOT NULL,
    wrapped BLOB NOT NULL,
    checksum BLOB NOT NULL
  )
  """,
  "CREATE TABLE state (id INTEGER PRIMARY KEY, sealed BLOB NOT NULL)",
  """
  CREATE TABLE record (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL,
    marks INTEGER NOT NULL,
    namespace INTEGER NOT NULL,
    entry BLOB NOT NULL,
    secret BLOB NOT NULL
  )
  """,
  "CREATE INDEX record_namespace ON record (namespace)",
]
