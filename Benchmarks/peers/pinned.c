// Becomes another program, on one CPU, that ends when the benchmark does, however that ends.
//
//   pinned CPU PROGRAM [ARGUMENT ...]
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int count, char **arguments) {
  if (count < 3) return 2;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(atoi(arguments[1]), &set);
  sigset_t none;
  sigemptyset(&none);
  if (sched_setaffinity(0, sizeof set, &set) != 0 || sigprocmask(SIG_SETMASK, &none, NULL) != 0 ||
      prctl(PR_SET_PDEATHSIG, SIGTERM) != 0)
    return 1;
  execvp(arguments[2], arguments + 2);
  perror(arguments[2]);
  return 127;
}
