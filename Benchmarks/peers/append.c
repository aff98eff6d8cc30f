// The least that a durable write can do: appends a record to a file and waits until it is on the disk.
//
//   append FILE BYTES TIMES CPU
//
// Prints the median of one append and fdatasync, in nanoseconds.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

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
  if (count != 5) return 2;
  size_t bytes = (size_t)atol(arguments[2]), times = (size_t)atol(arguments[3]);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(atoi(arguments[4]), &set);
  sched_setaffinity(0, sizeof set, &set);
  int file = open(arguments[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  char *record = malloc(bytes);
  uint64_t *took = calloc(times, sizeof *took);
  if (file < 0 || record == NULL || took == NULL || times == 0) return 1;
  memset(record, 'r', bytes);
  for (size_t i = 0; i < times; i++) {
    uint64_t start = now();
    if (write(file, record, bytes) != (ssize_t)bytes || fdatasync(file) != 0) return 1;
    took[i] = now() - start;
  }
  qsort(took, times, sizeof *took, compare);
  printf("%llu\n", (unsigned long long)took[times / 2]);
  return 0;
}
