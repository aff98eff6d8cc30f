// What an event loop waits with: epoll, an eventfd that wakes it, a timerfd, and the clocks. Every call
// returns a value of 0 or more, or the error number as a negative one, and retries nothing but EINTR.
#ifndef CLINUX_LOOP_H
#define CLINUX_LOOP_H
#include <stdbool.h>
#include <stdint.h>

/// What is asked of a descriptor, and what became of it.
enum {
  CLINUX_READABLE = 1,
  CLINUX_WRITABLE = 2,
  /// Reported whether asked for or not: both directions are shut, or the descriptor failed.
  CLINUX_HUNG_UP = 4,
  /// Asked for: report what is ready when it comes up, and not again for as long as it lasts.
  CLINUX_ONCE = 8,
  /// Reported where readability is asked for once: the other end sends no more, so that nothing else will come up which
  /// says that there is something to read.
  CLINUX_LAST = 16,
};

/// A descriptor that is ready, by the token that it was added with.
struct clinux_event {
  uint64_t token;
  uint32_t ready;
};

/// The most events that one wait returns.
enum { CLINUX_EVENTS = 128 };

/// Opens an epoll instance.
int clinux_epoll_open(void);

/// Watches `descriptor`, level-triggered unless CLINUX_ONCE is asked for.
int clinux_epoll_add(int epoll, int descriptor, uint32_t interest, uint64_t token);

/// Changes what is asked of a descriptor that is watched.
int clinux_epoll_change(int epoll, int descriptor, uint32_t interest, uint64_t token);

/// Stops watching.
int clinux_epoll_remove(int epoll, int descriptor);

/// Waits for at most `milliseconds`, for ever where that is negative, and fills in up to CLINUX_EVENTS events.
/// Returns how many; a signal that was handled counts as none.
int clinux_epoll_wait(int epoll, struct clinux_event *events, int milliseconds);

/// Opens an eventfd.
int clinux_wakeup_open(void);

/// Makes it readable. From any thread.
void clinux_wakeup_signal(int wakeup);

/// Makes it unreadable.
void clinux_wakeup_clear(int wakeup);

/// Opens a timer of the clock that counts suspend.
int clinux_timer_open(void);

/// Sets the timer to a point in time in milliseconds since the machine was started; one that is over fires at
/// once; a negative one disarms it.
int clinux_timer_set(int timer, int64_t milliseconds);

/// Makes a timer that fired unreadable.
void clinux_timer_clear(int timer);

/// Opens a timer that becomes readable when the wall clock is set, once it is armed.
int clinux_clock_watch_open(void);

/// Arms it, for the first time or again.
int clinux_clock_watch_arm(int timer);

/// Milliseconds since 1970.
int64_t clinux_wall_milliseconds(void);

/// Milliseconds since the machine was started, suspend included.
int64_t clinux_boot_milliseconds(void);

/// Marks the calling thread as the one that runs the event loop. Not inline, and never declared constant: a
/// thread's identity must not be remembered over a suspension.
void clinux_loop_enter(void);

/// Whether the calling thread was marked.
bool clinux_loop_is_current(void);

#endif
