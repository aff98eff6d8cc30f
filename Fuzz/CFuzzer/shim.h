// libFuzzer as a library that our `main` calls: the toolchain links it in with `-sanitize=fuzzer`.
#ifndef CFUZZER_SHIM_H
#define CFUZZER_SHIM_H
#include <stddef.h>
#include <stdint.h>

/// Calls `one` with inputs that it makes up until its limits (flags in `argv`) are reached; returns only then.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*one)(const uint8_t *data, size_t size));

#endif
