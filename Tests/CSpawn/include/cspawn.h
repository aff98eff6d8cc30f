// Starts a program as tests need it: glibc's own extensions of posix_spawn, which Swift does not see.
#ifndef CSPAWN_H
#define CSPAWN_H

/// Starts `arguments[0]`, looked up on PATH where it holds no slash, in `folder`, with exactly `environment`, with
/// the three descriptors as its standard input, output and error and no other one open, every signal at its default
/// and none blocked. Both arrays end with NULL. Returns its process, or the negative error number.
int cspawn(char *const arguments[], char *const environment[], const char *folder, int input, int output, int errors);

#endif
