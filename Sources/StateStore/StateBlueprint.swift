// The tables of `state.db`. Text is the bytes of the names and compared as such; times are Unix milliseconds;
// `entry` and `intent` are in the form that docs/vault-file.md describes.

import Database
import VaultModel

extension Blueprint {
  /// `state.db`, format 1.
  static let state = Blueprint(
    name: "state.db", place: .state, application: 0x564C_5453, format: 1,
    marks: "PRAGMA application_id = 0x564C5453; PRAGMA user_version = 1;",
    tables: [
      """
      CREATE TABLE state (
        id INTEGER PRIMARY KEY,
        highest INTEGER NOT NULL,
        provider INTEGER NOT NULL,
        latest INTEGER NOT NULL
      )
      """,
      """
      CREATE TABLE namespace_removal (
        namespace TEXT NOT NULL,
        account TEXT,
        version INTEGER NOT NULL
      )
      """,
      """
      CREATE TABLE record (
        namespace TEXT NOT NULL,
        name TEXT NOT NULL,
        account TEXT NOT NULL,
        version INTEGER NOT NULL,
        standing INTEGER NOT NULL,
        removed INTEGER,
        entry BLOB,
        intent BLOB,
        fingerprint BLOB,
        UNIQUE (namespace, name, account)
      )
      """,
    ])
}
