// Asks a server on a Unix socket, over one connection or many, one request at a time on each, and says how
// long the answers took. The same program asks every server, so that what it costs is the same for all.
//
//   load SOCKET CONNECTIONS IDLE CPU SECONDS REQUESTS END [EVERY]
//
// With one connection it waits in poll, as a client with a deadline does, and with many in epoll_wait. In the environment,
// LOAD_BLOCKS=1 makes it wait in recv instead: the kernel wakes up whoever waits so also when the server takes the request.
//
// IDLE further connections are opened first and stay silent. CPU is the one it runs on. REQUESTS is a file: 4
// bytes of length in the machine's order, then the request, again and again; they are sent in this order over
// and over for SECONDS, or once each where SECONDS is 0. END tells the end of an answer: `nul` (a NUL; an
// answer that begins with {"error" ends the run), `redis` (RESP; `-` ends the run) or `echo` (as many bytes as
// were sent). The first tenth of the time, 0.2 s at least, counts for nothing. With EVERY and one connection, a
// pass over REQUESTS begins so many seconds after the one before, at least.
//
// Prints one line: answers counted, seconds, the 50th, 90th and 99th of 100 round trips in nanoseconds, and
// its own share of the CPU; and a second one, the last answer.
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <fcntl.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

enum end { END_NUL, END_REDIS, END_ECHO };
enum { ANSWER = 1 << 16 };

struct connection {
  int socket;
  uint64_t sent_at;
  size_t sent, got;
  char answer[ANSWER];
};

static const char *requests, *requests_end, *next_request;
static size_t requests_left = SIZE_MAX;
static enum end end;
static bool blocks;
static uint32_t *times;
static size_t counted, room;
static char last[ANSWER];
static size_t last_count;

static void fail(const char *what) {
  fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
  exit(1);
}

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double cpu_seconds(void) {
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6;
}

static int open_connection(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strcpy(address.sun_path, path);
  // A server that was just started may need a moment.
  for (uint64_t give_up = now() + 30000000000u;;) {
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0) fail("socket");
    if (connect(s, (struct sockaddr *)&address, sizeof address) == 0) return s;
    if ((errno != ENOENT && errno != ECONNREFUSED) || now() > give_up) fail("connect");
    close(s);
    usleep(500);
  }
}

static void ask(struct connection *c) {
  uint32_t count;
  memcpy(&count, next_request, sizeof count);
  const char *bytes = next_request + sizeof count;
  next_request = bytes + count;
  if (next_request >= requests_end) next_request = requests;
  requests_left--;
  c->sent = count;
  c->got = 0;
  c->sent_at = now();
  if (send(c->socket, bytes, count, MSG_NOSIGNAL) != (ssize_t)count) fail("send");
}

static bool complete(const struct connection *c) {
  switch (end) {
  case END_NUL: return c->answer[c->got - 1] == 0;
  case END_ECHO: return c->got >= c->sent;
  case END_REDIS: {
    const char *line_end = memmem(c->answer, c->got, "\r\n", 2);
    if (line_end == NULL) return false;
    if (c->answer[0] != '$') return true;
    size_t length = strtoul(c->answer + 1, NULL, 10);
    return c->got >= (size_t)(line_end - c->answer) + 2 + length + 2;
  }
  }
  return true;
}

/// Takes what has come; true when the answer is whole.
static bool hear(struct connection *c, bool count_it) {
  ssize_t got = recv(c->socket, c->answer + c->got, ANSWER - c->got, 0);
  if (got < 0 && errno == EINTR) return false;
  if (got <= 0) fail(got == 0 ? "the server closed a connection" : "receive");
  c->got += (size_t)got;
  if (!complete(c)) return false;
  bool refused = (end == END_NUL && c->got >= 8 && memcmp(c->answer, "{\"error\"", 8) == 0) ||
                 (end == END_REDIS && c->answer[0] == '-') ||
                 (end == END_REDIS && c->answer[0] == '$' && c->answer[1] == '-');
  if (refused) {
    fprintf(stderr, "load: refused: %.*s\n", (int)c->got, c->answer);
    exit(1);
  }
  if (count_it) {
    if (counted == room) {
      room = room ? 2 * room : 1 << 20;
      times = realloc(times, room * sizeof *times);
      if (times == NULL) fail("memory");
    }
    uint64_t took = now() - c->sent_at;
    times[counted++] = took > UINT32_MAX ? UINT32_MAX : (uint32_t)took;
  }
  return true;
}

/// Waits for an answer as a client does that has a deadline.
static void wait_for(const struct connection *c) {
  if (blocks) return;
  struct pollfd what = {.fd = c->socket, .events = POLLIN};
  if (poll(&what, 1, 60000) == 0) fail("an answer in 60 s");
}

static int compare(const void *left, const void *right) {
  uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
  return (a > b) - (a < b);
}

int main(int count, char **arguments) {
  if (count < 8 || count > 9 || strlen(arguments[1]) > 107) return 2;
  uint64_t every = count == 9 ? (uint64_t)(atof(arguments[8]) * 1e9) : 0;
  const char *path = arguments[1];
  int connections = atoi(arguments[2]), idle = atoi(arguments[3]), cpu = atoi(arguments[4]);
  double seconds = atof(arguments[5]);
  end = strcmp(arguments[7], "nul") == 0 ? END_NUL : strcmp(arguments[7], "redis") == 0 ? END_REDIS : END_ECHO;
  blocks = getenv("LOAD_BLOCKS") != NULL;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) fail("sched_setaffinity");
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);

  int file = open(arguments[6], O_RDONLY | O_CLOEXEC);
  struct stat about;
  if (file < 0 || fstat(file, &about) != 0 || about.st_size == 0) fail(arguments[6]);
  requests = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
  if (requests == MAP_FAILED) fail("mmap");
  requests_end = requests + about.st_size;
  next_request = requests;
  bool once = seconds == 0;
  if (once) {
    requests_left = 0;
    for (const char *at = requests; at < requests_end; requests_left++) {
      uint32_t length;
      memcpy(&length, at, sizeof length);
      at += sizeof length + length;
    }
    if ((size_t)connections > requests_left) connections = (int)requests_left;
  }

  struct connection *all = calloc((size_t)connections, sizeof *all);
  for (int i = 0; i < connections; i++) all[i].socket = open_connection(path);
  for (int i = 0; i < idle; i++) open_connection(path);

  double warm_up = once ? 0 : seconds / 10 > 0.2 ? seconds / 10 : 0.2;
  uint64_t start = now(), from = start + (uint64_t)(warm_up * 1e9);
  uint64_t until = once ? UINT64_MAX : from + (uint64_t)(seconds * 1e9);
  uint64_t counting_since = 0, ended = 0;
  double cpu_since = 0;

  if (connections == 1) {
    struct connection *c = all;
    uint64_t next_pass = 0;
    while (requests_left > 0) {
      if (every > 0 && next_request == requests) {
        for (uint64_t t = now(); t < next_pass; t = now()) usleep((useconds_t)((next_pass - t) / 1000 + 1));
        next_pass = now() + every;
      }
      ask(c);
      bool counts = c->sent_at >= from;
      if (counts && counting_since == 0) {
        counting_since = c->sent_at;
        cpu_since = cpu_seconds();
      }
      do wait_for(c);
      while (!hear(c, counts));
      ended = now();
      if (ended >= until) break;
    }
    memcpy(last, c->answer, c->got);
    last_count = c->got;
  } else {
    int poll = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < connections; i++) {
      struct epoll_event event = {.events = EPOLLIN, .data.ptr = &all[i]};
      epoll_ctl(poll, EPOLL_CTL_ADD, all[i].socket, &event);
      ask(&all[i]);
    }
    for (int waiting = connections; waiting > 0;) {
      struct epoll_event ready[256];
      int n = epoll_wait(poll, ready, 256, -1);
      uint64_t t = now();
      if (t >= from && counting_since == 0) {
        counting_since = t;
        cpu_since = cpu_seconds();
      }
      if (t >= until) break;
      for (int i = 0; i < n; i++) {
        struct connection *c = ready[i].data.ptr;
        if (!hear(c, counting_since != 0)) continue;
        memcpy(last, c->answer, c->got);
        last_count = c->got;
        if (requests_left > 0) ask(c);
        else waiting--;
      }
    }
    ended = now();
  }
  if (counted == 0) fail("no answer in time");
  double took = (double)(ended - counting_since) / 1e9;
  qsort(times, counted, sizeof *times, compare);
  printf("%zu %.6f %u %u %u %.3f\n", counted, took, times[counted / 2], times[counted * 9 / 10],
         times[counted * 99 / 100], (cpu_seconds() - cpu_since) / took);
  if (last_count > 0 && last[last_count - 1] == 0) last_count--;
  printf("%.*s\n", (int)last_count, last);
  return 0;
}
