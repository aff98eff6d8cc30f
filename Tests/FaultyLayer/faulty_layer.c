#include "faulty_layer.h"

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>

typedef struct {
  sqlite3_vfs vfs;
  sqlite3_vfs *base;
  char name[16];
  atomic_int steps, failing, code;
  atomic_bool lasting;
} faulty_layer;

static faulty_layer layers[FAULTY_LAYERS];

typedef struct {
  sqlite3_file file;
  faulty_layer *layer;
  sqlite3_file real[];
} faulty_file;

static sqlite3_file *real_of(sqlite3_file *file) { return ((faulty_file *)file)->real; }

static int step(sqlite3_file *file) {
  faulty_layer *layer = ((faulty_file *)file)->layer;
  int number = atomic_fetch_add(&layer->steps, 1) + 1;
  int failing = atomic_load(&layer->failing);
  bool fails = failing != 0 && (number == failing || (number > failing && atomic_load(&layer->lasting)));
  return fails ? atomic_load(&layer->code) : SQLITE_OK;
}

// What is passed on as it is.
#define PASS(name, method, parameters, arguments)                       \
  static int name parameters {                                          \
    return real_of(file)->pMethods->method arguments;                   \
  }

PASS(close_file, xClose, (sqlite3_file *file), (real_of(file)))
PASS(read_file, xRead, (sqlite3_file *file, void *to, int count, sqlite3_int64 at), (real_of(file), to, count, at))
PASS(size_of, xFileSize, (sqlite3_file *file, sqlite3_int64 *size), (real_of(file), size))
PASS(lock_file, xLock, (sqlite3_file *file, int lock), (real_of(file), lock))
PASS(unlock_file, xUnlock, (sqlite3_file *file, int lock), (real_of(file), lock))
PASS(check_lock, xCheckReservedLock, (sqlite3_file *file, int *out), (real_of(file), out))
PASS(control, xFileControl, (sqlite3_file *file, int what, void *with), (real_of(file), what, with))
PASS(sector_size, xSectorSize, (sqlite3_file *file), (real_of(file)))
PASS(characteristics, xDeviceCharacteristics, (sqlite3_file *file), (real_of(file)))
PASS(shm_map, xShmMap, (sqlite3_file *file, int page, int size, int extend, void volatile **out),
     (real_of(file), page, size, extend, out))
PASS(shm_lock, xShmLock, (sqlite3_file *file, int offset, int n, int flags), (real_of(file), offset, n, flags))
PASS(shm_unmap, xShmUnmap, (sqlite3_file *file, int remove), (real_of(file), remove))
static void shm_barrier(sqlite3_file *file) { real_of(file)->pMethods->xShmBarrier(real_of(file)); }

// Frames of a log (24 bytes and a page of 1 KiB) that come in one write are a step each: it may fail behind any of them.
static int write_file(sqlite3_file *file, const void *from, int count, sqlite3_int64 at) {
  enum { FRAME = 24 + 1024 };
  for (int done = 0; done < count; done += FRAME) {
    int code = step(file);
    int part = count - done < FRAME ? count - done : FRAME;
    if (code == SQLITE_OK) {
      const char *bytes = (const char *)from + done;
      code = real_of(file)->pMethods->xWrite(real_of(file), bytes, part, at + done);
    }
    if (code != SQLITE_OK) return code;
  }
  return SQLITE_OK;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
  int code = step(file);
  return code != SQLITE_OK ? code : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int sync_file(sqlite3_file *file, int flags) {
  int code = step(file);
  // That a disk is full is told by what writes. SQLite's own layer says nothing but SQLITE_IOERR_FSYNC here, after which
  // nobody knows what is on the disk.
  if (code == SQLITE_FULL) code = SQLITE_OK;
  return code != SQLITE_OK ? code : real_of(file)->pMethods->xSync(real_of(file), flags);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_of,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = check_lock,
    .xFileControl = control,
    .xSectorSize = sector_size,
    .xDeviceCharacteristics = characteristics,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};

static int open_file(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out) {
  faulty_layer *layer = (faulty_layer *)vfs;
  faulty_file *opened = (faulty_file *)file;
  opened->layer = layer;
  opened->file.pMethods = NULL;
  int code = layer->base->xOpen(layer->base, path, opened->real, flags, out);
  if (opened->real->pMethods != NULL) opened->file.pMethods = &methods;
  return code;
}

void faulty_layer_register(int number) {
  faulty_layer *layer = &layers[number];
  sqlite3_initialize();
  if (layer->base != NULL) return;
  snprintf(layer->name, sizeof layer->name, "faulty-%d", number);
  layer->base = sqlite3_vfs_find("unix");
  layer->vfs = *layer->base;
  layer->vfs.pNext = NULL;
  layer->vfs.zName = layer->name;
  layer->vfs.szOsFile = (int)sizeof(faulty_file) + layer->base->szOsFile;
  layer->vfs.xOpen = open_file;
  sqlite3_vfs_register(&layer->vfs, 0);
}

void faulty_layer_arm(int number, int step, int code, bool lasting) {
  faulty_layer *layer = &layers[number];
  atomic_store(&layer->failing, 0);
  atomic_store(&layer->code, code);
  atomic_store(&layer->lasting, lasting);
  atomic_store(&layer->steps, 0);
  atomic_store(&layer->failing, step);
}

int faulty_layer_steps(int number) { return atomic_load(&layers[number].steps); }
