// What a client of the socket needs of the system and Swift cannot see: starting the daemon detached, signals as a
// descriptor while a question is on the terminal. Every call returns a value of 0 or more, or the error number as
// a negative one.
#ifndef CLINUX_CLIENT_H
#define CLINUX_CLIENT_H
#include <stdint.h>

/// Starts the program at `path` as nobody's child, in a session of its own, in `/`, with umask 077, default
/// signals, /dev/null as standard streams and no other descriptor. Returns when it was executed.
int clinux_start_detached(const char *path, char *const arguments[], char *const environment[]);

/// Makes this process another program, found on PATH. Returns only where that is impossible.
int clinux_become(char *const arguments[], char *const environment[]);

/// Holds back the signals that end or stop a process at its terminal (SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP),
/// in the calling thread. Returns a close-on-exec descriptor that tells of them.
int clinux_hold_signals(void);

/// Takes one signal from such a descriptor: its number.
int clinux_take_signal(int descriptor);

/// Closes such a descriptor; the signals do again what they did before.
void clinux_release_signals(int descriptor);

/// Sends this process a signal that was held back, even where a careless parent has blocked it: whoever is asked
/// something can always leave.
void clinux_raise(int number);

#endif
