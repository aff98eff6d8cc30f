#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "clinux_loop.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

int clinux_epoll_open(void) {
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  return epoll >= 0 ? epoll : -errno;
}

static int control(int epoll, int operation, int descriptor, uint32_t interest, uint64_t token) {
  struct epoll_event event = {.data.u64 = token};
  if (interest & CLINUX_READABLE) event.events |= EPOLLIN;
  if (interest & CLINUX_WRITABLE) event.events |= EPOLLOUT;
  if (interest & CLINUX_ONCE) event.events |= EPOLLET;
  if ((interest & CLINUX_ONCE) && (interest & CLINUX_READABLE)) event.events |= EPOLLRDHUP;
  return epoll_ctl(epoll, operation, descriptor, &event) == 0 ? 0 : -errno;
}

int clinux_epoll_add(int epoll, int descriptor, uint32_t interest, uint64_t token) {
  return control(epoll, EPOLL_CTL_ADD, descriptor, interest, token);
}

int clinux_epoll_change(int epoll, int descriptor, uint32_t interest, uint64_t token) {
  return control(epoll, EPOLL_CTL_MOD, descriptor, interest, token);
}

int clinux_epoll_remove(int epoll, int descriptor) {
  return control(epoll, EPOLL_CTL_DEL, descriptor, 0, 0);
}

int clinux_epoll_wait(int epoll, struct clinux_event *events, int milliseconds) {
  struct epoll_event ready[CLINUX_EVENTS];
  // Not by epoll_wait(3), a cancellation point: it asks twice whether the thread is to end. Ours never are to.
  int count = (int)syscall(SYS_epoll_pwait, epoll, ready, CLINUX_EVENTS, milliseconds, NULL, (size_t)0);
  if (count < 0) return errno == EINTR ? 0 : -errno;
  for (int i = 0; i < count; i++) {
    events[i].token = ready[i].data.u64;
    events[i].ready = 0;
    if (ready[i].events & EPOLLIN) events[i].ready |= CLINUX_READABLE;
    if (ready[i].events & EPOLLOUT) events[i].ready |= CLINUX_WRITABLE;
    if (ready[i].events & (EPOLLHUP | EPOLLERR)) events[i].ready |= CLINUX_HUNG_UP;
    if (ready[i].events & EPOLLRDHUP) events[i].ready |= CLINUX_LAST;
  }
  return count;
}

int clinux_wakeup_open(void) {
  int wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return wakeup >= 0 ? wakeup : -errno;
}

void clinux_wakeup_signal(int wakeup) {
  uint64_t one = 1;
  // It fails only where the counter is full, and then the loop has been woken already.
  while (write(wakeup, &one, sizeof one) < 0 && errno == EINTR) {}
}

void clinux_wakeup_clear(int wakeup) {
  uint64_t count;
  while (read(wakeup, &count, sizeof count) < 0 && errno == EINTR) {}
}

int clinux_timer_open(void) {
  int timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  return timer >= 0 ? timer : -errno;
}

int clinux_timer_set(int timer, int64_t milliseconds) {
  struct itimerspec when = {0};
  if (milliseconds >= 0) {
    when.it_value.tv_sec = milliseconds / 1000;
    when.it_value.tv_nsec = milliseconds % 1000 * 1000000;
    // All zeros would disarm it.
    if (milliseconds == 0) when.it_value.tv_nsec = 1;
  }
  return timerfd_settime(timer, TFD_TIMER_ABSTIME, &when, NULL) == 0 ? 0 : -errno;
}

void clinux_timer_clear(int timer) {
  uint64_t count;
  while (read(timer, &count, sizeof count) < 0 && errno == EINTR) {}
}

int clinux_clock_watch_open(void) {
  int timer = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
  return timer >= 0 ? timer : -errno;
}

int clinux_clock_watch_arm(int timer) {
  // The end of the year 9999, and for the kernel never.
  struct itimerspec never = {.it_value.tv_sec = 253402300799};
  return timerfd_settime(timer, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL) == 0 ? 0 : -errno;
}

static int64_t milliseconds(clockid_t clock) {
  struct timespec now;
  if (clock_gettime(clock, &now) != 0) return 0;
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clinux_wall_milliseconds(void) { return milliseconds(CLOCK_REALTIME); }

int64_t clinux_boot_milliseconds(void) { return milliseconds(CLOCK_BOOTTIME); }

static _Thread_local bool runs_loop;

void clinux_loop_enter(void) { runs_loop = true; }

bool clinux_loop_is_current(void) { return runs_loop; }
