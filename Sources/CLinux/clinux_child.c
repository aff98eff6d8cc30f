#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "clinux_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

// What was blocked before clinux_relay_open.
static sigset_t blocked_before;

int clinux_relay_open(void) {
  static const int numbers[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
  sigset_t held;
  sigemptyset(&held);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaddset(&held, numbers[i]);
  int descriptor = signalfd(-1, &held, SFD_CLOEXEC | SFD_NONBLOCK);
  if (descriptor < 0) return -errno;
  if (sigprocmask(SIG_BLOCK, &held, &blocked_before) == 0) return descriptor;
  int error = errno;
  close(descriptor);
  return -error;
}

void clinux_relay_close(int descriptor) {
  close(descriptor);
  sigprocmask(SIG_SETMASK, &blocked_before, NULL);
}

struct clinux_relayed clinux_relay_next(int descriptor) {
  struct signalfd_siginfo information;
  ssize_t count;
  do {
    count = read(descriptor, &information, sizeof information);
  } while (count < 0 && errno == EINTR);
  if (count != sizeof information) return (struct clinux_relayed){0};
  return (struct clinux_relayed){
      .number = (int32_t)information.ssi_signo, .from_terminal = information.ssi_code == SI_KERNEL};
}

int clinux_child_pipe(int ends[2]) {
  if (pipe2(ends, O_CLOEXEC) != 0) return -errno;
  if (fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0) return 0;
  int error = errno;
  close(ends[0]);
  close(ends[1]);
  return -error;
}

int clinux_child_start(char *const arguments[], char *const environment[], int output, bool dies_of_pipes) {
  // A child that nobody may wait for could not tell how it ended.
  signal(SIGCHLD, SIG_DFL);
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
  int error = posix_spawnattr_init(&attributes);
  if (error != 0) return -error;
  error = posix_spawn_file_actions_init(&actions);
  if (error != 0) {
    posix_spawnattr_destroy(&attributes);
    return -error;
  }
  sigset_t defaults;
  sigemptyset(&defaults);
  if (dies_of_pipes) sigaddset(&defaults, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setsigmask(&attributes, &blocked_before);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  pid_t process = 0;
  error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (error == 0) error = posix_spawnp(&process, arguments[0], &actions, &attributes, arguments, environment);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error == 0 ? process : -error;
}

int clinux_child_open(int32_t process) {
  int descriptor = pidfd_open(process, 0);
  return descriptor >= 0 ? descriptor : -errno;
}

int clinux_child_wait(int32_t process) {
  int status;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return -errno;
  }
  return WIFSIGNALED(status) ? 256 + WTERMSIG(status) : WEXITSTATUS(status);
}

const char *clinux_signal_name(int number) {
  const char *name = sigabbrev_np(number);
  return name != NULL ? name : "?";
}
