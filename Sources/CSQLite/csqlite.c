#include "csqlite.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int csqlite_start(void) {
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  return sqlite3_initialize();
}

// The layer leaves the base's file objects as they are and exchanges their table of methods for a copy with
// some methods replaced. So a method of ours finds the base's table from the file that it is called with. What it
// keeps of a file is behind the base's object.

typedef struct {
  sqlite3_io_methods methods;
  const sqlite3_io_methods *base;
  // The size of the base's object.
  size_t size;
} table;

typedef struct {
  sqlite3_vfs vfs;
  sqlite3_vfs *base;
  table database;
  table log;
} layer;

static pthread_mutex_t tables = PTHREAD_MUTEX_INITIALIZER;

enum { LARGEST_PAGE = 65536, FILE_HEADER = 100 };

static unsigned two_bytes(const unsigned char *at) { return (unsigned)at[0] << 8 | at[1]; }

// The gap of a b-tree page: between the end of the cell pointers and the first cell (SQLite's file format,
// section 1.6). An overflow page or a page of the freelist begins with a page number whose first byte is 0 in
// files of less than 2^24 pages, so it is never taken for one.
static bool find_gap(const unsigned char *page, unsigned size, sqlite3_int64 offset, unsigned *start, unsigned *end) {
  unsigned header = offset == 0 ? FILE_HEADER : 0;
  unsigned char kind = page[header];
  bool interior = kind == 2 || kind == 5;
  if (!interior && kind != 10 && kind != 13) return false;
  *start = header + (interior ? 12 : 8) + 2 * two_bytes(page + header + 3);
  *end = two_bytes(page + header + 5);
  if (*end == 0) *end = LARGEST_PAGE;
  return *start < *end && *end <= size;
}

static int write_database(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  const sqlite3_io_methods *base = ((const table *)file->pMethods)->base;
  unsigned char cleaned[LARGEST_PAGE];
  unsigned start, end;
  bool page = count >= 512 && count <= LARGEST_PAGE && (count & (count - 1)) == 0 && offset % count == 0;
  if (page && find_gap(bytes, (unsigned)count, offset, &start, &end)) {
    memcpy(cleaned, bytes, (size_t)count);
    memset(cleaned + start, 0, end - start);
    bytes = cleaned;
  }
  return base->xWrite(file, bytes, count, offset);
}

// What was written to a log and not handed on. SQLite writes each page of a commit by two calls, one behind the other, and
// tells nobody of them before it has synced the log: so all go to the system by one call. Whatever asks for the file's
// bytes or its size has them written first.
typedef struct {
  unsigned char *bytes;
  int count;
  sqlite3_int64 offset;
} gathered;

enum { MOST_GATHERED = 65536 };

static gathered *gathered_of(sqlite3_file *file) {
  return (gathered *)((char *)file + ((const table *)file->pMethods)->size);
}

// Where it fails, SQLite takes the transaction back, and what was gathered of it counts no more.
static int hand_on(sqlite3_file *file) {
  gathered *own = gathered_of(file);
  int count = own->count;
  own->count = 0;
  return count == 0 ? SQLITE_OK : ((const table *)file->pMethods)->base->xWrite(file, own->bytes, count, own->offset);
}

static int write_log(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
  gathered *own = gathered_of(file);
  if (own->count > 0 && (offset != own->offset + own->count || count > MOST_GATHERED - own->count)) {
    int code = hand_on(file);
    if (code != SQLITE_OK) return code;
  }
  if (own->bytes == NULL && count <= MOST_GATHERED) own->bytes = malloc(MOST_GATHERED);
  if (own->bytes == NULL || count > MOST_GATHERED)
    return ((const table *)file->pMethods)->base->xWrite(file, bytes, count, offset);
  if (own->count == 0) own->offset = offset;
  memcpy(own->bytes + own->count, bytes, (size_t)count);
  own->count += count;
  return SQLITE_OK;
}

static int sync_log(sqlite3_file *file, int flags) {
  int code = hand_on(file);
  if (code == SQLITE_OK) code = ((const table *)file->pMethods)->base->xSync(file, flags);
  // Until the next commit nobody needs it.
  gathered *own = gathered_of(file);
  free(own->bytes);
  own->bytes = NULL;
  return code;
}

static int read_log(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
  int code = hand_on(file);
  return code == SQLITE_OK ? ((const table *)file->pMethods)->base->xRead(file, bytes, count, offset) : code;
}

static int size_of_log(sqlite3_file *file, sqlite3_int64 *size) {
  int code = hand_on(file);
  return code == SQLITE_OK ? ((const table *)file->pMethods)->base->xFileSize(file, size) : code;
}

static int truncate_log(sqlite3_file *file, sqlite3_int64 size) {
  const sqlite3_io_methods *base = ((const table *)file->pMethods)->base;
  int code = hand_on(file);
  if (code == SQLITE_OK) code = base->xTruncate(file, size);
  return code == SQLITE_OK ? base->xSync(file, SQLITE_SYNC_NORMAL) : code;
}

static int close_log(sqlite3_file *file) {
  // As if it had been written when SQLite asked for it: nobody waits for how that ends.
  (void)hand_on(file);
  free(gathered_of(file)->bytes);
  return ((const table *)file->pMethods)->base->xClose(file);
}

// Gives `file` the methods of `ours`, which is made from the base's at the first file of its kind.
static bool exchange(sqlite3_file *file, table *ours, bool database, size_t size) {
  pthread_mutex_lock(&tables);
  if (ours->base == NULL) {
    ours->methods = *file->pMethods;
    if (database) {
      ours->methods.xWrite = write_database;
    } else {
      ours->methods.xWrite = write_log;
      ours->methods.xSync = sync_log;
      ours->methods.xRead = read_log;
      ours->methods.xFileSize = size_of_log;
      ours->methods.xTruncate = truncate_log;
      ours->methods.xClose = close_log;
    }
    ours->base = file->pMethods;
    ours->size = size;
  }
  bool same = ours->base == file->pMethods;
  pthread_mutex_unlock(&tables);
  if (same) file->pMethods = &ours->methods;
  return same;
}

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out) {
  layer *self = (layer *)vfs;
  int code = self->base->xOpen(self->base, path, file, flags, out);
  if (code != SQLITE_OK || file->pMethods == NULL) return code;
  bool database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
  if (!database && (flags & SQLITE_OPEN_WAL) == 0) return SQLITE_OK;
  size_t size = (size_t)self->vfs.szOsFile - sizeof(gathered);
  if (!database) *(gathered *)((char *)file + size) = (gathered){0};
  if (exchange(file, database ? &self->database : &self->log, database, size)) return SQLITE_OK;
  // The base has another table for this file than for the first of its kind: rather none than unprotected.
  file->pMethods->xClose(file);
  file->pMethods = NULL;
  return SQLITE_CANTOPEN;
}

int csqlite_register_layer(const char *name, const char *base) {
  sqlite3_vfs *below = sqlite3_vfs_find(base);
  if (below == NULL) return SQLITE_NOTFOUND;
  layer *made = calloc(1, sizeof *made);
  if (made == NULL) return SQLITE_NOMEM;
  // The base's other methods are called with our VFS; those of the unix VFS take nothing from it but its size
  // and its own data, which are copied.
  made->vfs = *below;
  made->vfs.pNext = NULL;
  // Room behind the base's object, where what is in there can be aligned.
  made->vfs.szOsFile = (below->szOsFile + 15) / 16 * 16 + (int)sizeof(gathered);
  made->vfs.zName = name;
  made->vfs.xOpen = open_file;
  made->base = below;
  return sqlite3_vfs_register(&made->vfs, 0);
}

int csqlite_harden(sqlite3 *connection) {
  static const struct {
    int setting, value;
  } settings[] = {
      {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_VIEW, 0},
      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0}, {SQLITE_DBCONFIG_DEFENSIVE, 1},
      {SQLITE_DBCONFIG_DQS_DML, 0},        {SQLITE_DBCONFIG_DQS_DDL, 0},
      {SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1},
  };
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    int code = sqlite3_db_config(connection, settings[i].setting, settings[i].value, (int *)NULL);
    if (code != SQLITE_OK) return code;
  }
  sqlite3_limit(connection, SQLITE_LIMIT_ATTACHED, 0);
  return SQLITE_OK;
}

int csqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
  if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
  return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

int csqlite_bind_text(sqlite3_stmt *statement, int index, const char *bytes, int count) {
  return sqlite3_bind_text(statement, index, count == 0 ? "" : bytes, count, SQLITE_TRANSIENT);
}

static int note_log_pages(void *counts, sqlite3 *connection, const char *name, int count) {
  (void)connection, (void)name;
  ((csqlite_counts *)counts)->log_pages = count;
  return SQLITE_OK;
}

void csqlite_count_log_pages(sqlite3 *connection, csqlite_counts *counts) {
  sqlite3_wal_hook(connection, note_log_pages, counts);
}

void csqlite_find_changes(sqlite3 *connection, csqlite_counts *counts) {
  enum { REGION = 32768, CHANGES = 8 };
  counts->changes = NULL;
  sqlite3_file *file = NULL;
  if (sqlite3_file_control(connection, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || file == NULL ||
      file->pMethods == NULL || file->pMethods->iVersion < 2)
    return;
  // The region is mapped already, since the connection has read: this only says where.
  void volatile *region = NULL;
  int code = file->pMethods->xShmMap(file, 0, REGION, 0, &region);
  if ((code != SQLITE_OK && code != SQLITE_READONLY) || region == NULL) return;
  counts->changes = (const uint32_t *)((const char *)region + CHANGES);
}

uint32_t csqlite_change_count(const csqlite_counts *counts) {
  return __atomic_load_n(counts->changes, __ATOMIC_ACQUIRE);
}

int csqlite_keep_log(sqlite3 *connection) {
  int keep = 1;
  return sqlite3_file_control(connection, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
}
