// Calls on files that Swift's Glibc does not show. Each returns 0, or the error number as a negative one.
#ifndef CLINUX_FILES_H
#define CLINUX_FILES_H

#include <stdint.h>

/// Which file it is, how many names it has, and its size in bytes.
struct clinux_file {
  uint64_t device, inode, links, size;
};

/// Looks at the file called `name` in a folder, no symbolic link followed; where `name` is empty, at the open file that
/// `folder` is. Does not ask for its times: once somebody has, Linux (6.13 and later) gives the next write to it a time of
/// its own and has the inode written with the next sync, which is then half as slow again.
int clinux_look(int folder, const char *name, struct clinux_file *file);

/// Renames `from` to `to` within a folder; -EEXIST where there is a `to`.
int clinux_rename_without_replacing(int folder, const char *from, const char *to);

#endif
