// Memory that is locked, left out of dumps, emptied in a forked child, and wiped.
#ifndef CLINUX_MEMORY_H
#define CLINUX_MEMORY_H
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/// Maps `size` bytes (a multiple of 4,096, at most 2^48) between two guard pages, left out of core dumps,
/// emptied in a forked child and, with `lock`, kept out of swap; `*guarded` tells whether the kernel does all
/// that (it locks no more than RLIMIT_MEMLOCK). With `whole_at_once` all its pages are there when this returns, for
/// memory that is filled at once. Returns NULL where there is no memory. Give it back with clinux_secret_unmap.
void *clinux_secret_map(size_t size, bool lock, bool whole_at_once, bool *guarded);

/// Gives back the memory of whole pages of such a mapping, which stays: they read as zeros from then on. Wipe them first.
/// Before Linux 5.18 locked pages are kept.
void clinux_secret_give_back(void *bytes, size_t size);

/// Gives back what clinux_secret_map returned for the same `size`. Wipe it first.
void clinux_secret_unmap(void *bytes, size_t size);

/// Overwrites `count` bytes in a way that the compiler does not remove.
static inline void clinux_wipe(void *bytes, size_t count) { explicit_bzero(bytes, count); }

#endif
