// Threads of our own and the semaphore that one sleeps on. Swift's concurrency gives no thread that may
// block.
#ifndef CLINUX_THREAD_H
#define CLINUX_THREAD_H
#include <stddef.h>

/// Starts a thread that runs `body` and ends with it; nobody joins it. It takes no signals. `name` (at most
/// 15 bytes) is what `top -H` shows. Returns 0 or an error number.
int clinux_thread_start(const char *name, size_t stack, void (*body)(void *), void *context);

typedef struct clinux_semaphore clinux_semaphore;

/// A semaphore at 0; NULL where there is no memory.
clinux_semaphore *clinux_semaphore_make(void);

/// Frees it; nobody may be waiting.
void clinux_semaphore_free(clinux_semaphore *semaphore);

/// Adds one, which wakes a thread that waits.
void clinux_semaphore_post(clinux_semaphore *semaphore);

/// Waits until there is one to take.
void clinux_semaphore_wait(clinux_semaphore *semaphore);

/// Sleeps for so many milliseconds: for a thread whose work cannot go on and that nobody waits for meanwhile.
void clinux_sleep(unsigned milliseconds);

#endif
