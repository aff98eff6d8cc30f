// What a process asks the kernel for itself: no tracing, no dumps, no new privileges, signals as descriptors.
// Every call returns a value of 0 or more, or the error number as a negative one.
#ifndef CLINUX_PROCESS_H
#define CLINUX_PROCESS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Forbids other processes of the user to trace this one, to read its memory and to take its descriptors
/// (PR_SET_DUMPABLE); core dumps go with it.
int clinux_forbid_tracing(void);

/// Whether that is in force.
bool clinux_tracing_is_forbidden(void);

/// Sets both limits of RLIMIT_CORE to 0.
int clinux_forbid_core(void);

/// Whether no core can be written.
bool clinux_core_is_forbidden(void);

/// No program that is started from here gains privileges (PR_SET_NO_NEW_PRIVS).
int clinux_forbid_new_privileges(void);

/// Whether that is in force.
bool clinux_new_privileges_are_forbidden(void);

/// Raises the soft limit of open descriptors to `wanted`, as far as the hard limit goes. Returns 0 also where it
/// was high enough.
int clinux_raise_descriptor_limit(uint64_t wanted);

/// Gives the signals of crashes back to the kernel, in place of a handler that prints memory.
void clinux_drop_crash_handlers(void);

/// Whether no signal of a crash has a handler.
bool clinux_crash_handlers_are_dropped(void);

/// Ignores SIGPIPE and SIGXFSZ, blocks SIGTERM, SIGINT and SIGHUP for this thread and those that it starts, and opens a
/// descriptor that reads the three.
int clinux_signals_open(void);

/// The next signal that came; 0 where there is none.
int clinux_signals_next(int signals);

/// How to write to a descriptor without blocking and without changing it.
enum clinux_output {
  /// It never blocks: a file.
  CLINUX_OUTPUT_FILE,
  /// A socket.
  CLINUX_OUTPUT_SOCKET,
  /// It has to be asked first: a pipe, a terminal.
  CLINUX_OUTPUT_STREAM,
};

/// What a descriptor is, for clinux_write_without_blocking.
enum clinux_output clinux_output_kind(int descriptor);

/// Writes at most `count` bytes to a descriptor that may be shared with other processes, and returns how many;
/// -EAGAIN where that would block. Leaves the descriptor's flags alone.
ptrdiff_t clinux_write_without_blocking(int descriptor, enum clinux_output kind, const void *bytes, size_t count);

/// Gives back the memory of code and constants, of this program and of its libraries, and what is free in the heaps of
/// all threads. What is needed again is read again, from the page cache.
void clinux_give_back_memory(void);

/// What an error number means, in English; never NULL.
const char *clinux_error_text(int error);

/// The path of the program that process `pid` runs, with a NUL, in `path`. Returns its length.
int clinux_process_executable(int32_t pid, char *path, size_t size);

/* Room for what clinux_read_boot_id writes. */
#define CLINUX_BOOT_ID_SIZE 64

/* Reads the kernel's boot_id (random(4)) into CLINUX_BOOT_ID_SIZE bytes. Returns its length, or 0. */
int clinux_read_boot_id(char *text);

#endif
