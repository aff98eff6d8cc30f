// What a client of the socket needs of the system and Swift cannot see: connecting with a time limit, the
// peer's uid, starting the daemon detached, signals as a descriptor.
#ifndef CLINUX_CLIENT_H
#define CLINUX_CLIENT_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <signal.h>
#include <stdint.h>

/// Connects a stream socket to the Unix socket at `path` (at most 107 bytes), waiting at most `milliseconds`
/// (at least 1) for room in the listener's queue. Returns a close-on-exec descriptor, or -errno: -EAGAIN when
/// the time was over.
int clinux_connect(const char *path, int64_t milliseconds);

/// The uid that the process at the other end of a connected Unix socket had when it connected or listened
/// (SO_PEERCRED, unix(7)); or -errno.
int64_t clinux_peer_user(int descriptor);

/// Starts the program at `path` as nobody's child, in a session of its own, in `/`, with umask 077, default
/// signals, /dev/null as standard streams and no other descriptor. Returns when it was executed: 0, or errno.
int clinux_start_detached(const char *path, char *const arguments[], char *const environment[]);

/// A close-on-exec descriptor that tells of the signals in `signals`, which the caller has blocked; or -errno.
int clinux_signal_descriptor(const sigset_t *signals);

/// Takes one signal from such a descriptor; its number, or -errno.
int clinux_take_signal(int descriptor);
#endif
