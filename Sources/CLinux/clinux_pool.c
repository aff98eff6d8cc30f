#include "clinux_pool.h"

#include "clinux_loop.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

// What swift/Runtime/Concurrency.h declares: the hook "to take over global enqueuing", and the call for executors
// that run a job. A job on no executor in particular has one that is all zeros.
#define SWIFT __attribute__((swiftcall))
struct executor {
  void *identity;
  uintptr_t implementation;
};
typedef void (*enqueue)(void *job) SWIFT;
extern void (*swift_task_enqueueGlobal_hook)(void *job, enqueue original) SWIFT;
extern void swift_job_run(void *job, struct executor executor) SWIFT;

static struct {
  pthread_mutex_t lock;
  void **jobs;
  size_t count, room;
  int wakeup;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static SWIFT void add(void *job, enqueue original) {
  (void)original;
  pthread_mutex_lock(&pool.lock);
  if (pool.count == pool.room) {
    pool.room = pool.room > 0 ? 2 * pool.room : 64;
    pool.jobs = realloc(pool.jobs, pool.room * sizeof *pool.jobs);
    // A job that is lost is a request that never ends.
    if (pool.jobs == NULL) abort();
  }
  pool.jobs[pool.count++] = job;
  bool was_empty = pool.count == 1;
  pthread_mutex_unlock(&pool.lock);
  if (was_empty && !clinux_loop_is_current()) clinux_wakeup_signal(pool.wakeup);
}

void clinux_pool_take_over(int wakeup) {
  pool.wakeup = wakeup;
  swift_task_enqueueGlobal_hook = add;
}

bool clinux_pool_run(void) {
  // Taken as a whole: those that come meanwhile are for the next call.
  pthread_mutex_lock(&pool.lock);
  void **jobs = pool.jobs;
  size_t count = pool.count, room = pool.room;
  pool.jobs = NULL;
  pool.count = pool.room = 0;
  pthread_mutex_unlock(&pool.lock);

  for (size_t i = 0; i < count; i++) swift_job_run(jobs[i], (struct executor){0});

  // The memory is kept for the next jobs, unless some were added and have their own.
  pthread_mutex_lock(&pool.lock);
  if (pool.jobs == NULL) {
    pool.jobs = jobs;
    pool.room = room;
    jobs = NULL;
  }
  pthread_mutex_unlock(&pool.lock);
  free(jobs);
  return count > 0;
}
