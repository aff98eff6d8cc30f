// Calls on files that Swift's Glibc does not show. Each returns 0, or the error number as a negative one.
#ifndef CLINUX_FILES_H
#define CLINUX_FILES_H

/// Renames `from` to `to` within a folder; -EEXIST where there is a `to`.
int clinux_rename_without_replacing(int folder, const char *from, const char *to);

#endif
