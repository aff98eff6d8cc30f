// The jobs that Swift would give to its own pool of threads, given to the thread of the event loop instead.
//
// Every task that waits for something comes back through that pool, also where the actor that it comes back to has
// an executor of its own (swift_continuation_resume): a thread more to wake for each wait. And once the pool has
// threads, libdispatch looks at them each second for as long as the process lives. A process whose work is done by
// threads of its own needs no pool.
#ifndef CLINUX_POOL_H
#define CLINUX_POOL_H
#include <stdbool.h>

/// From now on jobs for the pool wait for clinux_pool_run on the calling thread, which has called
/// clinux_loop_enter; `wakeup` (see clinux_wakeup_open) is signalled when one comes from another thread. Call it
/// once, before there are such jobs.
void clinux_pool_take_over(int wakeup);

/// Runs the jobs that are waiting now. Returns whether there were any.
bool clinux_pool_run(void);

#endif
