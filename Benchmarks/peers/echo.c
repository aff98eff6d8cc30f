// The least that a server on a Unix socket can do: sends back what it receives. What a request costs in the
// vault is measured against it.
//
//   echo SOCKET
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void fail(const char *what) {
  perror(what);
  exit(1);
}

int main(int count, char **arguments) {
  if (count != 2 || strlen(arguments[1]) > 107) return 2;
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strcpy(address.sun_path, arguments[1]);
  unlink(arguments[1]);
  int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 4096) != 0) fail("bind");
  int poll = epoll_create1(EPOLL_CLOEXEC);
  struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
  epoll_ctl(poll, EPOLL_CTL_ADD, listener, &event);
  static char bytes[1 << 16];
  for (;;) {
    struct epoll_event ready[256];
    int n = epoll_wait(poll, ready, 256, -1);
    for (int i = 0; i < n; i++) {
      int from = ready[i].data.fd;
      if (from == listener) {
        int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (client < 0) continue;
        event = (struct epoll_event){.events = EPOLLIN, .data.fd = client};
        epoll_ctl(poll, EPOLL_CTL_ADD, client, &event);
        continue;
      }
      ssize_t got = recv(from, bytes, sizeof bytes, 0);
      // What is sent here is far smaller than a socket's buffer.
      if (got <= 0 || send(from, bytes, (size_t)got, MSG_NOSIGNAL) != got) close(from);
    }
  }
}
