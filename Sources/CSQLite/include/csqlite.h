// SQLite as Swift calls it: the library's own header, its variadic calls as plain ones, and the file layer
// that every database of ours is opened through.
#ifndef CSQLITE_H
#define CSQLITE_H
#include <sqlite3.h>
#include <stdint.h>

/// Settings of the library as a whole: no accounting of memory, since that is a lock around each allocation.
/// Call it before anything else of SQLite; later calls do nothing.
int csqlite_start(void);

/// Makes `name` a file layer (VFS) on top of the file layer `base`, which lets no deleted content reach a
/// database file. Two things differ from `base`:
///
/// - A b-tree page on its way into a database file has the gap between its cell pointers and its cells
///   zeroed. SQLite's `secure_delete` overwrites cells that are deleted, but a page that was rebuilt or split
///   keeps old copies of cells in that gap.
/// - A write-ahead log that was made shorter is synced, so that what was cut off is gone from the disk's view
///   when the call that cut it returns. SQLite itself leaves that to the next commit.
///
/// `name` must live as long as the process.
int csqlite_register_layer(const char *name, const char *base);

/// Makes `name` a file layer over `base` that shows a database as it would be found after a crash: read-only, with
/// an index of the write-ahead log made from the log itself and shared with nobody, a missing log as an empty one,
/// and no locks. Only where nobody writes meanwhile. `name` must live as long as the process.
int csqlite_register_crash_view(const char *name, const char *base);

/// Settings of one connection: no triggers, no views, no functions from the schema that is read, no writes to
/// the schema by SQL, no double-quoted text, and no checkpoint when it is closed.
int csqlite_harden(sqlite3 *connection);

/// Binds a copy of `count` bytes. Zero bytes are an empty blob, not NULL.
int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count);

/// Binds a copy of `count` bytes of UTF-8.
int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *bytes, int count);

/// What is counted for a connection. It must live as long as the connection.
typedef struct {
  /// Pages in the write-ahead log after the last commit of this connection.
  int log_pages;
  /// A number that each transaction on the database increments, whoever makes it: in the memory that all who have the
  /// database open share ("iChange" at byte 8 of the WAL index: SQLite's WAL file format, section 2.1). NULL where the
  /// database has no log or its index cannot be mapped.
  const uint32_t *changes;
} csqlite_counts;

/// Keeps `log_pages` right from now on, in place of the checkpoints that SQLite makes by itself. Setting
/// `wal_autocheckpoint` afterwards would undo this.
void csqlite_count_log_pages(sqlite3 *connection, csqlite_counts *counts);

/// Finds `changes`, once the connection has read.
void csqlite_find_changes(sqlite3 *connection, csqlite_counts *counts);

/// How many transactions there were by now, modulo 2^32. `changes` must not be NULL.
uint32_t csqlite_change_count(const csqlite_counts *counts);

/// Keeps the write-ahead log and its index when the last connection is closed (SQLITE_FCNTL_PERSIST_WAL).
int csqlite_keep_log(sqlite3 *connection);

#endif
