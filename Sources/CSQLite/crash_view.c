#include "csqlite.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// A whole layer of objects of its own, over those of the base: the index of the log, which processes share, is
// memory that only the one connection sees, and no lock is asked for. So SQLite reads the log from its beginning and
// believes what it can check, as it does after a crash.

enum { MOST_REGIONS = 64 };

typedef struct {
  sqlite3_vfs vfs;
  sqlite3_vfs *base;
} view;

typedef struct {
  sqlite3_file file;
  // A log that is not there is an empty one.
  bool absent;
  void *regions[MOST_REGIONS];
  sqlite3_file real[];
} view_file;

static sqlite3_file *real_of(sqlite3_file *file) { return ((view_file *)file)->real; }

static int close_file(sqlite3_file *file) {
  view_file *opened = (view_file *)file;
  for (size_t i = 0; i < MOST_REGIONS; i++) free(opened->regions[i]);
  return opened->absent ? SQLITE_OK : real_of(file)->pMethods->xClose(real_of(file));
}

static int read_file(sqlite3_file *file, void *to, int count, sqlite3_int64 at) {
  if (!((view_file *)file)->absent) return real_of(file)->pMethods->xRead(real_of(file), to, count, at);
  memset(to, 0, (size_t)count);
  return SQLITE_IOERR_SHORT_READ;
}

static int size_of(sqlite3_file *file, sqlite3_int64 *size) {
  if (!((view_file *)file)->absent) return real_of(file)->pMethods->xFileSize(real_of(file), size);
  *size = 0;
  return SQLITE_OK;
}

static int write_file(sqlite3_file *file, const void *from, int count, sqlite3_int64 at) {
  (void)file, (void)from, (void)count, (void)at;
  return SQLITE_READONLY;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
  (void)file, (void)size;
  return SQLITE_READONLY;
}

static int do_nothing(sqlite3_file *file, int how) {
  (void)file, (void)how;
  return SQLITE_OK;
}

static int check_lock(sqlite3_file *file, int *out) {
  (void)file;
  *out = 0;
  return SQLITE_OK;
}

static int control(sqlite3_file *file, int what, void *with) {
  (void)file, (void)with;
  // Whoever only reads keeps the log anyway.
  return what == SQLITE_FCNTL_PERSIST_WAL ? SQLITE_OK : SQLITE_NOTFOUND;
}

static int sector_size(sqlite3_file *file) {
  (void)file;
  return 0;
}

static int shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **out) {
  view_file *opened = (view_file *)file;
  *out = NULL;
  if (region < 0 || region >= MOST_REGIONS) return SQLITE_NOMEM;
  if (opened->regions[region] == NULL && extend) {
    opened->regions[region] = calloc(1, (size_t)size);
    if (opened->regions[region] == NULL) return SQLITE_NOMEM;
  }
  *out = opened->regions[region];
  return SQLITE_OK;
}

static int shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  (void)file, (void)offset, (void)count, (void)flags;
  return SQLITE_OK;
}

static void shm_barrier(sqlite3_file *file) { (void)file; }

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = do_nothing,
    .xFileSize = size_of,
    .xLock = do_nothing,
    .xUnlock = do_nothing,
    .xCheckReservedLock = check_lock,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = sector_size,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = do_nothing,
};

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out) {
  sqlite3_vfs *base = ((view *)vfs)->base;
  view_file *opened = (view_file *)file;
  memset(opened, 0, sizeof *opened);
  bool log = (flags & SQLITE_OPEN_WAL) != 0;
  if (log) flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
  int exists = 1;
  if (log) base->xAccess(base, path, SQLITE_ACCESS_EXISTS, &exists);
  if (!exists) {
    opened->absent = true;
    if (out != NULL) *out = flags;
  } else {
    int code = base->xOpen(base, path, opened->real, flags, out);
    if (code != SQLITE_OK) return code;
  }
  opened->file.pMethods = &methods;
  return SQLITE_OK;
}

int csqlite_register_crash_view(const char *name, const char *base) {
  sqlite3_vfs *below = sqlite3_vfs_find(base);
  if (below == NULL) return SQLITE_NOTFOUND;
  view *made = calloc(1, sizeof *made);
  if (made == NULL) return SQLITE_NOMEM;
  made->vfs = *below;
  made->vfs.pNext = NULL;
  made->vfs.zName = name;
  made->vfs.szOsFile = (int)sizeof(view_file) + below->szOsFile;
  made->vfs.xOpen = open_file;
  made->base = below;
  return sqlite3_vfs_register(&made->vfs, 0);
}
