// Unix stream sockets, for both ends. Every call returns a value of 0 or more, or the error number as a
// negative one, and retries nothing but EINTR. Descriptors are close-on-exec from the start.
#ifndef CLINUX_SOCKET_H
#define CLINUX_SOCKET_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The longest path of a socket in bytes, without the NUL.
enum { CLINUX_SOCKET_PATH_MAX = 107 };

/// Who is at the other end, by the kernel, as of its connect or listen.
struct clinux_credentials {
  int32_t pid;
  uint32_t uid;
};

/// A new stream socket that is not bound; `nonblocking` for event loops. The socket file that binding makes
/// has mode 0600 at most, whatever the umask, because the mode is set before there is a file.
int clinux_stream_socket(bool nonblocking);

/// Makes the socket file at `path`, of CLINUX_SOCKET_PATH_MAX bytes at most.
int clinux_socket_bind(int socket, const char *path);

/// Starts to listen.
int clinux_socket_listen(int socket, int backlog);

/// Connects to the socket at `path`, of CLINUX_SOCKET_PATH_MAX bytes at most.
int clinux_socket_connect(int socket, const char *path);

/// Takes the next connection, as a non-blocking descriptor.
int clinux_socket_accept(int socket);

/// Asks the kernel who is at the other end.
int clinux_socket_peer(int socket, struct clinux_credentials *peer);

/// Whether the descriptor is a Unix stream socket that listens.
bool clinux_socket_listens(int descriptor);

/// The path that a socket is bound to, with a NUL, in `path` of CLINUX_SOCKET_PATH_MAX + 1 bytes; empty where it
/// has none or an abstract name.
int clinux_socket_path(int socket, char *path);

/// Sets O_NONBLOCK and FD_CLOEXEC.
int clinux_socket_adopt(int socket);

/// Two connected non-blocking sockets.
int clinux_socket_pair(int sockets[2]);

/// Receives up to `count` bytes. 0: the other end will send no more.
ptrdiff_t clinux_receive(int socket, void *bytes, size_t count);

/// Sends up to `count` bytes without blocking and without SIGPIPE.
ptrdiff_t clinux_send(int socket, const void *bytes, size_t count);

/// Sends one datagram to the socket at `path`; a `@` in front is an abstract name. Doesn't block.
int clinux_send_datagram(const char *path, const void *bytes, size_t count);

#endif
