// Takes keys out of the kernel's keyring of the user: what a daemon leaves there outlives it, and a user may have 200 of them.
#ifndef CKEYS_H
#define CKEYS_H

/// Takes the key of the type `user` with this name out of the user's keyring.
void ckeys_drop(const char *name);

#endif
