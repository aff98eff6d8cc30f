#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "clinux_process.h"

#include <fcntl.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int clinux_forbid_tracing(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 ? 0 : -errno; }

bool clinux_tracing_is_forbidden(void) { return prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0; }

int clinux_forbid_core(void) {
  struct rlimit none = {0, 0};
  return setrlimit(RLIMIT_CORE, &none) == 0 ? 0 : -errno;
}

bool clinux_core_is_forbidden(void) {
  struct rlimit core;
  return getrlimit(RLIMIT_CORE, &core) == 0 && core.rlim_max == 0;
}

int clinux_forbid_new_privileges(void) { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : -errno; }

bool clinux_new_privileges_are_forbidden(void) { return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1; }

int clinux_raise_descriptor_limit(uint64_t wanted) {
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return -errno;
  rlim_t target = wanted < files.rlim_max ? (rlim_t)wanted : files.rlim_max;
  if (files.rlim_cur >= target) return 0;
  files.rlim_cur = target;
  return setrlimit(RLIMIT_NOFILE, &files) == 0 ? 0 : -errno;
}

static const int crashes[] = {SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
enum { CRASHES = sizeof crashes / sizeof *crashes };

void clinux_drop_crash_handlers(void) {
  for (int i = 0; i < CRASHES; i++) signal(crashes[i], SIG_DFL);
}

bool clinux_crash_handlers_are_dropped(void) {
  for (int i = 0; i < CRASHES; i++) {
    struct sigaction action;
    if (sigaction(crashes[i], NULL, &action) != 0) return false;
    if ((action.sa_flags & SA_SIGINFO) || action.sa_handler != SIG_DFL) return false;
  }
  return true;
}

int clinux_signals_open(void) {
  signal(SIGPIPE, SIG_IGN);
  // A file that may not grow any more is an error of the write, and no end.
  signal(SIGXFSZ, SIG_IGN);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  int error = pthread_sigmask(SIG_BLOCK, &set, NULL);
  if (error != 0) return -error;
  int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  return signals >= 0 ? signals : -errno;
}

int clinux_signals_next(int signals) {
  struct signalfd_siginfo info;
  for (;;) {
    ssize_t count = read(signals, &info, sizeof info);
    if (count == sizeof info) return (int)info.ssi_signo;
    if (count < 0 && errno == EINTR) continue;
    return 0;
  }
}

enum clinux_output clinux_output_kind(int descriptor) {
  struct stat status;
  if (fstat(descriptor, &status) != 0) return CLINUX_OUTPUT_STREAM;
  if (S_ISSOCK(status.st_mode)) return CLINUX_OUTPUT_SOCKET;
  return S_ISREG(status.st_mode) ? CLINUX_OUTPUT_FILE : CLINUX_OUTPUT_STREAM;
}

ptrdiff_t clinux_write_without_blocking(int descriptor, enum clinux_output kind, const void *bytes, size_t count) {
  ssize_t written;
  switch (kind) {
    case CLINUX_OUTPUT_SOCKET:
      written = send(descriptor, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
      break;
    case CLINUX_OUTPUT_STREAM: {
      // O_NONBLOCK would be set for everyone who shares a terminal or a pipe. Of a pipe that is ready, the kernel
      // promises room for PIPE_BUF bytes.
      struct pollfd ready = {.fd = descriptor, .events = POLLOUT};
      if (poll(&ready, 1, 0) <= 0 || !(ready.revents & POLLOUT)) return -EAGAIN;
      written = write(descriptor, bytes, count < PIPE_BUF ? count : PIPE_BUF);
      break;
    }
    case CLINUX_OUTPUT_FILE:
      written = write(descriptor, bytes, count);
      break;
  }
  return written >= 0 ? written : -errno;
}

static int drop_unwritten(struct dl_phdr_info *object, size_t size, void *unused) {
  (void)size;
  (void)unused;
  uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  // Read before anything is dropped: the list of parts lies in one of them, and looking into it again would bring
  // that page and the kernel's 15 beside it back, for every library.
  struct {
    uintptr_t start, end;
  } parts[16];
  int count = 0;
  for (int i = 0; i < object->dlpi_phnum && count < 16; i++) {
    const ElfW(Phdr) *part = &object->dlpi_phdr[i];
    // Only what is never written: what was written to a private mapping would be lost.
    if (part->p_type != PT_LOAD || (part->p_flags & PF_W)) continue;
    parts[count].start = (object->dlpi_addr + part->p_vaddr) & ~(page - 1);
    parts[count].end = (object->dlpi_addr + part->p_vaddr + part->p_filesz) & ~(page - 1);
    count++;
  }
  for (int i = 0; i < count; i++) {
    if (parts[i].end > parts[i].start) madvise((void *)parts[i].start, parts[i].end - parts[i].start, MADV_DONTNEED);
  }
  return 0;
}

void clinux_give_back_memory(void) {
  malloc_trim(0);
  dl_iterate_phdr(drop_unwritten, NULL);
}

const char *clinux_error_text(int error) {
  const char *text = strerrordesc_np(error);
  return text != NULL ? text : "unknown error";
}

int clinux_process_executable(int32_t pid, char *path, size_t size) {
  if (size == 0) return -EINVAL;
  char link[32];
  snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
  ssize_t length = readlink(link, path, size - 1);
  if (length < 0) return -errno;
  path[length] = 0;
  return (int)length;
}

int clinux_read_boot_id(char *text) {
  int descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return 0;
  ssize_t count = read(descriptor, text, CLINUX_BOOT_ID_SIZE);
  close(descriptor);
  /* Without the line end. */
  while (count > 0 && text[count - 1] == '\n') count--;
  return count > 0 ? (int)count : 0;
}
