// A program that a client starts and waits for, with the signals that are meant for it. Every call returns a value
// of 0 or more, or the error number as a negative one.
#ifndef CLINUX_CHILD_H
#define CLINUX_CHILD_H
#include <stdbool.h>
#include <stdint.h>

/// Holds back the signals that people and service managers end a program with (SIGHUP, SIGINT, SIGQUIT, SIGTERM) and
/// those that mean what the program says (SIGUSR1, SIGUSR2), in the calling thread. Returns a close-on-exec descriptor
/// that tells of them and does not block.
int clinux_relay_open(void);

/// Closes such a descriptor; the signals do again what they did before.
void clinux_relay_close(int descriptor);

/// A signal that was held back.
struct clinux_relayed {
  /// Its number; 0 where there was none.
  int32_t number;
  /// Whether the terminal sent it, which sends it to the whole group of processes.
  bool from_terminal;
};

/// Takes the next one.
struct clinux_relayed clinux_relay_next(int descriptor);

/// Starts a program, found on PATH, with `output` as its standard output, the signals as they were before
/// clinux_relay_open, and where `dies_of_pipes` SIGPIPE as a new process has it. Returns its process.
int clinux_child_start(char *const arguments[], char *const environment[], int output, bool dies_of_pipes);

/// A close-on-exec descriptor that is readable once the process has ended.
int clinux_child_open(int32_t process);

/// Waits for the end of the process, which then is no more. Returns its exit status, or 256 and the number of the
/// signal that ended it.
int clinux_child_wait(int32_t process);

/// The name of a signal without `SIG`, as `TERM`; never NULL.
const char *clinux_signal_name(int number);

/// A pipe whose ends are close-on-exec and whose reading end does not block.
int clinux_child_pipe(int ends[2]);

#endif
