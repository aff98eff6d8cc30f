#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "clinux_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

int clinux_stream_socket(bool nonblocking) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | (nonblocking ? SOCK_NONBLOCK : 0), 0);
  if (fd < 0) return -errno;
  // The file that bind() makes takes its mode from the socket's inode, less the umask.
  if (fchmod(fd, 0600) != 0) {
    int error = errno;
    close(fd);
    return -error;
  }
  return fd;
}

// The address of `path`. An abstract name has no NUL at its end, so its length counts.
static int address(const char *path, bool abstract, struct sockaddr_un *to, socklen_t *size) {
  size_t length = strlen(path);
  if (length == 0 || length > CLINUX_SOCKET_PATH_MAX) return -ENAMETOOLONG;
  memset(to, 0, sizeof *to);
  to->sun_family = AF_UNIX;
  memcpy(to->sun_path, path, length);
  if (abstract) to->sun_path[0] = 0;
  *size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + (abstract ? 0 : 1));
  return 0;
}

int clinux_socket_bind(int socket, const char *path) {
  struct sockaddr_un at;
  socklen_t size;
  int error = address(path, false, &at, &size);
  if (error != 0) return error;
  return bind(socket, (struct sockaddr *)&at, size) == 0 ? 0 : -errno;
}

int clinux_socket_listen(int socket, int backlog) { return listen(socket, backlog) == 0 ? 0 : -errno; }

int clinux_socket_connect(int socket, const char *path) {
  struct sockaddr_un to;
  socklen_t size;
  int error = address(path, false, &to, &size);
  if (error != 0) return error;
  // An interrupted connect of a Unix stream socket has not happened: it can be tried again.
  while (connect(socket, (struct sockaddr *)&to, size) != 0) {
    if (errno != EINTR) return -errno;
  }
  return 0;
}

int clinux_socket_accept(int socket) {
  for (;;) {
    int fd = accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) return fd;
    if (errno != EINTR) return -errno;
  }
}

int clinux_socket_peer(int socket, struct clinux_credentials *peer) {
  struct ucred found;
  socklen_t size = sizeof found;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &found, &size) != 0) return -errno;
  peer->pid = found.pid;
  peer->uid = found.uid;
  return 0;
}

static bool option_is(int socket, int option, int expected) {
  int value = 0;
  socklen_t size = sizeof value;
  return getsockopt(socket, SOL_SOCKET, option, &value, &size) == 0 && value == expected;
}

bool clinux_socket_listens(int descriptor) {
  return option_is(descriptor, SO_DOMAIN, AF_UNIX) && option_is(descriptor, SO_TYPE, SOCK_STREAM) &&
         option_is(descriptor, SO_ACCEPTCONN, 1);
}

int clinux_socket_path(int socket, char *path) {
  struct sockaddr_un at = {0};
  socklen_t size = sizeof at;
  path[0] = 0;
  if (getsockname(socket, (struct sockaddr *)&at, &size) != 0) return -errno;
  if (at.sun_family != AF_UNIX || size <= offsetof(struct sockaddr_un, sun_path)) return 0;
  // A path of the full length has no NUL of its own; an abstract name begins with one.
  memcpy(path, at.sun_path, CLINUX_SOCKET_PATH_MAX);
  path[CLINUX_SOCKET_PATH_MAX] = 0;
  return 0;
}

int clinux_socket_adopt(int socket) {
  int status = fcntl(socket, F_GETFL);
  if (status < 0 || fcntl(socket, F_SETFL, status | O_NONBLOCK) != 0) return -errno;
  return fcntl(socket, F_SETFD, FD_CLOEXEC) == 0 ? 0 : -errno;
}

int clinux_socket_pair(int sockets[2]) {
  return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, sockets) == 0 ? 0 : -errno;
}

ptrdiff_t clinux_receive(int socket, void *bytes, size_t count) {
  for (;;) {
    // Not by recv(3), nor below by send(3): see `clinux_epoll_wait`.
    ssize_t received = syscall(SYS_recvfrom, socket, bytes, count, 0, NULL, NULL);
    if (received >= 0) return received;
    if (errno != EINTR) return -errno;
  }
}

ptrdiff_t clinux_send(int socket, const void *bytes, size_t count) {
  for (;;) {
    ssize_t sent = syscall(SYS_sendto, socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
    if (sent >= 0) return sent;
    if (errno != EINTR) return -errno;
  }
}

int clinux_send_datagram(const char *path, const void *bytes, size_t count) {
  struct sockaddr_un to;
  socklen_t size;
  int error = address(path, path[0] == '@', &to, &size);
  if (error != 0) return error;
  int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -errno;
  ssize_t sent = sendto(fd, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&to, size);
  error = sent < 0 ? -errno : 0;
  close(fd);
  return error;
}
