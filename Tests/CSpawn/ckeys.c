#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "ckeys.h"

#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

void ckeys_drop(const char *name) {
  // Who has not the user's ring among his own can't find its keys. Children inherit nothing of this, which they would
  // of a session's ring: merely to look into that makes one.
  syscall(SYS_keyctl, KEYCTL_LINK, KEY_SPEC_USER_KEYRING, KEY_SPEC_PROCESS_KEYRING);
  long key = syscall(SYS_keyctl, KEYCTL_SEARCH, KEY_SPEC_USER_KEYRING, "user", name, 0);
  if (key >= 0) syscall(SYS_keyctl, KEYCTL_UNLINK, key, KEY_SPEC_USER_KEYRING);
}
