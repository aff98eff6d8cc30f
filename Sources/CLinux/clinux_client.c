#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "clinux_client.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// In the grandchild: becomes the program, or writes errno to `report`.
static _Noreturn void become(const char *path, char *const arguments[], char *const environment[], int report) {
  setsid();
  for (int signal_number = 1; signal_number < NSIG; signal_number++) signal(signal_number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  umask(077);
  // The report goes to 3 and is closed by execve; everything above it is closed here.
  int kept = fcntl(report, F_DUPFD_CLOEXEC, 3);
  if (kept > 3) {
    dup3(kept, 3, O_CLOEXEC);
    kept = 3;
  }
  close_range(4, ~0U, 0);
  int null = open("/dev/null", O_RDWR);
  if (chdir("/") == 0 && null >= 0) {
    for (int standard = 0; standard < 3; standard++) dup2(null, standard);
    if (null > 2) close(null);
    execve(path, arguments, environment);
  }
  int error = errno;
  if (write(kept, &error, sizeof error) < 0) _exit(126);
  _exit(127);
}

int clinux_start_detached(const char *path, char *const arguments[], char *const environment[]) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return -errno;
  pid_t child = fork();
  if (child < 0) {
    int error = errno;
    close(report[0]);
    close(report[1]);
    return -error;
  }
  if (child == 0) {
    pid_t grandchild = fork();
    if (grandchild == 0) become(path, arguments, environment, report[1]);
    int error = errno;
    if (grandchild < 0 && write(report[1], &error, sizeof error) < 0) _exit(126);
    _exit(0);
  }
  close(report[1]);
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
  int error = 0;
  ssize_t count;
  do {
    count = read(report[0], &error, sizeof error);
  } while (count < 0 && errno == EINTR);
  close(report[0]);
  return count == sizeof error ? -error : 0;
}

int clinux_become(char *const arguments[], char *const environment[]) {
  execvpe(arguments[0], arguments, environment);
  return -errno;
}

// What was blocked before clinux_hold_signals.
static sigset_t blocked_before;

int clinux_hold_signals(void) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
  sigset_t held;
  sigemptyset(&held);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaddset(&held, numbers[i]);
  if (sigprocmask(SIG_BLOCK, &held, &blocked_before) != 0) return -errno;
  int descriptor = signalfd(-1, &held, SFD_CLOEXEC);
  if (descriptor >= 0) return descriptor;
  int error = errno;
  sigprocmask(SIG_SETMASK, &blocked_before, NULL);
  return -error;
}

void clinux_release_signals(int descriptor) {
  close(descriptor);
  sigprocmask(SIG_SETMASK, &blocked_before, NULL);
}

void clinux_raise(int number) {
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  sigprocmask(SIG_UNBLOCK, &only, NULL);
  kill(getpid(), number);
}

int clinux_take_signal(int descriptor) {
  struct signalfd_siginfo information;
  ssize_t count;
  do {
    count = read(descriptor, &information, sizeof information);
  } while (count < 0 && errno == EINTR);
  if (count != sizeof information) return count < 0 ? -errno : -EIO;
  return (int)information.ssi_signo;
}
