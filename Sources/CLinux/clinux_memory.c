#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "clinux_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#ifndef MLOCK_ONFAULT
#define MLOCK_ONFAULT 0x01
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

void *clinux_secret_map(size_t size, bool lock, bool whole_at_once, bool *guarded) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *whole = mmap(NULL, size + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (whole == MAP_FAILED) return NULL;
  char *bytes = whole + page;
  if (mprotect(bytes, size, PROT_READ | PROT_WRITE) != 0) {
    munmap(whole, size + 2 * page);
    return NULL;
  }
  bool locked = !lock || mlock2(bytes, size, MLOCK_ONFAULT) == 0;
  bool undumped = madvise(bytes, size, MADV_DONTDUMP) == 0;
  bool unforked = madvise(bytes, size, MADV_WIPEONFORK) == 0;
  // A system that can't (before Linux 5.14) gives the pages one by one, as they are used.
  if (whole_at_once) (void)madvise(bytes, size, MADV_POPULATE_WRITE);
  *guarded = locked && undumped && unforked;
  return bytes;
}

void clinux_secret_give_back(void *bytes, size_t size) {
  // The mapping stays as it is: what is touched again is a new page, locked like the others.
  (void)madvise(bytes, size, MADV_DONTNEED_LOCKED);
}

void clinux_secret_unmap(void *bytes, size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  munmap((char *)bytes - page, size + 2 * page);
}
