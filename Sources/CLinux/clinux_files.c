#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "clinux_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int clinux_look(int folder, const char *name, struct clinux_file *file) {
  struct statx found;
  int flags = AT_SYMLINK_NOFOLLOW | (name[0] == 0 ? AT_EMPTY_PATH : 0);
  if (statx(folder, name, flags, STATX_INO | STATX_NLINK | STATX_SIZE, &found) != 0) return -errno;
  file->device = makedev(found.stx_dev_major, found.stx_dev_minor);
  file->inode = found.stx_ino;
  file->links = found.stx_nlink;
  file->size = found.stx_size;
  return 0;
}

int clinux_rename_without_replacing(int folder, const char *from, const char *to) {
  if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL) return -errno;
  // A file system without that flag: a link is refused where the name is taken, too.
  if (linkat(folder, from, folder, to, 0) != 0) return -errno;
  return unlinkat(folder, from, 0) == 0 ? 0 : -errno;
}
