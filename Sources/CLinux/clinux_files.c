#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "clinux_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int clinux_rename_without_replacing(int folder, const char *from, const char *to) {
  if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL) return -errno;
  // A file system without that flag: a link is refused where the name is taken, too.
  if (linkat(folder, from, folder, to, 0) != 0) return -errno;
  return unlinkat(folder, from, 0) == 0 ? 0 : -errno;
}
