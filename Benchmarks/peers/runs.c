// Starts a program again and again, one after the other, and says how long it took from start to end.
//
//   runs TIMES CPU PROGRAM [ARGUMENT ...]
//
// Its output goes nowhere. Prints the median in nanoseconds; ends with 1 where a run doesn't end with 0.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

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
  if (count < 4) return 2;
  size_t times = (size_t)atol(arguments[1]);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(atoi(arguments[2]), &set);
  sched_setaffinity(0, sizeof set, &set);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  uint64_t *took = calloc(times, sizeof *took);
  if (took == NULL || times == 0) return 1;
  for (size_t i = 0; i < times; i++) {
    pid_t child;
    int status;
    uint64_t start = now();
    if (posix_spawnp(&child, arguments[3], &actions, NULL, arguments + 3, environ) != 0) return 1;
    if (waitpid(child, &status, 0) != child) return 1;
    took[i] = now() - start;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
      fprintf(stderr, "runs: %s ended with status %d\n", arguments[3],
              WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
      return 1;
    }
  }
  qsort(took, times, sizeof *took, compare);
  printf("%llu\n", (unsigned long long)took[times / 2]);
  return 0;
}
