// Asks a server on a Unix socket one thing, as often as it is told, and hears answers of any size.
//
//   ask SOCKET CPU TIMES REQUEST
//
// REQUEST is the request without the NUL that ends it. An answer that begins with {"error" ends the run.
//
// Prints one line: the median round trip in nanoseconds, and how many entries the last answer has; and a second
// one, the beginning of the last answer.
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static void fail(const char *what) {
  fprintf(stderr, "ask: %s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int compare(const void *left, const void *right) {
  uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
  return (a > b) - (a < b);
}

int main(int count, char **arguments) {
  if (count != 5 || strlen(arguments[1]) > 107) return 2;
  size_t times = (size_t)atol(arguments[3]), length = strlen(arguments[4]) + 1;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(atoi(arguments[2]), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) fail("sched_setaffinity");
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strcpy(address.sun_path, arguments[1]);
  int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (s < 0 || connect(s, (struct sockaddr *)&address, sizeof address) != 0) fail("connect");
  size_t room = 1 << 20, got = 0;
  char *answer = malloc(room);
  uint64_t *took = calloc(times, sizeof *took);
  if (answer == NULL || took == NULL || times == 0) fail("memory");
  for (size_t i = 0; i < times; i++) {
    uint64_t start = now();
    if (send(s, arguments[4], length, MSG_NOSIGNAL) != (ssize_t)length) fail("send");
    got = 0;
    do {
      if (got == room) {
        answer = realloc(answer, room *= 2);
        if (answer == NULL) fail("memory");
      }
      ssize_t n = recv(s, answer + got, room - got, 0);
      if (n <= 0) fail(n == 0 ? "the server closed the connection" : "receive");
      got += (size_t)n;
    } while (answer[got - 1] != 0);
    took[i] = now() - start;
    if (got >= 8 && memcmp(answer, "{\"error\"", 8) == 0) {
      fprintf(stderr, "ask: refused: %s\n", answer);
      return 1;
    }
  }
  size_t entries = 0;
  for (char *at = answer; (at = strstr(at, "\"version\":")) != NULL; at++) entries++;
  qsort(took, times, sizeof *took, compare);
  printf("%llu %zu\n%.200s\n", (unsigned long long)took[times / 2], entries, answer);
  return 0;
}
