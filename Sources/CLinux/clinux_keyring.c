#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "clinux_keyring.h"

#include <errno.h>
#include <linux/keyctl.h>
#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

static long serial_of(enum clinux_ring ring) {
  if (ring == CLINUX_SESSION_RING) {
    // Who has no session's ring uses the user's default one from here on; to put a key would give him one of his own,
    // which ends with him.
    syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
    return KEY_SPEC_SESSION_KEYRING;
  }
  // Keys of the user's ring can be read by those who have it among their own; a login session has, others don't.
  syscall(SYS_keyctl, KEYCTL_LINK, KEY_SPEC_USER_KEYRING, KEY_SPEC_PROCESS_KEYRING);
  return KEY_SPEC_USER_KEYRING;
}

bool clinux_has_session_ring(void) {
  // Without one, the ring that all sessions of the user without one share stands in for it.
  long own = syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
  long shared = syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_SESSION_KEYRING, 0);
  return own >= 0 && own != shared;
}

int32_t clinux_key_put(enum clinux_ring ring, const char *name, const void *bytes, size_t count) {
  long key = syscall(SYS_add_key, "user", name, bytes, count, serial_of(ring));
  return key < 0 ? -errno : (int32_t)key;
}

int32_t clinux_key_find(enum clinux_ring ring, const char *name) {
  long key = syscall(SYS_keyctl, KEYCTL_SEARCH, serial_of(ring), "user", name, 0);
  return key < 0 ? -errno : (int32_t)key;
}

ptrdiff_t clinux_key_read(int32_t key, void *bytes, size_t count) {
  long size = syscall(SYS_keyctl, KEYCTL_READ, key, bytes, count);
  return size < 0 ? -errno : size;
}

int clinux_key_remove(enum clinux_ring ring, int32_t key) {
  return syscall(SYS_keyctl, KEYCTL_UNLINK, key, serial_of(ring)) == 0 ? 0 : -errno;
}

bool clinux_folder_is_memory(const char *path) {
  struct statfs status;
  if (statfs(path, &status) != 0) return false;
  return status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC;
}
