// The kernel's keyrings (keyrings(7)): a key of a few bytes that lives as long as the ring which it is in, whatever
// becomes of the process. Every call returns a value of 0 or more, or the error number as a negative one.
#ifndef CLINUX_KEYRING_H
#define CLINUX_KEYRING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whose ring.
enum clinux_ring {
  /// The session's that the calling thread belongs to.
  CLINUX_SESSION_RING,
  /// The user's.
  CLINUX_USER_RING,
};

/// Whether the calling thread belongs to a session with a ring of its own. Where it does not, the kernel would make one
/// with the first key that is put there, for this process alone.
bool clinux_has_session_ring(void);

/// Puts a key called `name` into the ring, in place of one of that name. Returns its serial number.
int32_t clinux_key_put(enum clinux_ring ring, const char *name, const void *bytes, size_t count);

/// The serial number of the key called `name` in the ring; -ENOKEY where there is none.
int32_t clinux_key_find(enum clinux_ring ring, const char *name);

/// Reads at most `count` bytes of a key. Returns how many it has.
ptrdiff_t clinux_key_read(int32_t key, void *bytes, size_t count);

/// Takes a key out of the ring.
int clinux_key_remove(enum clinux_ring ring, int32_t key);

/// Whether what is written to the file system of the folder `path` stays in memory: tmpfs or ramfs. Memory may be
/// swapped.
bool clinux_folder_is_memory(const char *path);

#endif
