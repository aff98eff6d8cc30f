// The isolation that connections and the vault share: the daemon's main thread. The event loop runs as one
// job of this actor that never ends; jobs that arrive meanwhile are run by it, nested. So a request that can
// be answered from memory or from the file is answered inside the readiness callback, without a task or a
// hop. Makes no system call: whoever runs the loop says how it is woken.

import Synchronization

/// Isolates everything that a request touches on its way, except inside the stores.
@globalActor
public actor VaultActor {
  public static let shared = VaultActor()

  /// Runs the jobs of this actor.
  public static let executor = VaultExecutor()

  nonisolated public var unownedExecutor: UnownedSerialExecutor {
    unsafe Self.executor.asUnownedSerialExecutor()
  }
}

/// A queue of jobs that the thread of the event loop runs.
public final class VaultExecutor: SerialExecutor {
  private struct Queue {
    var jobs: [UnownedJob] = []
    var wake: (@Sendable () -> Void)?
  }

  private let queue = Mutex(Queue())

  /// Says how to wake the thread that calls `runPending`; called from any thread, once for each time that the
  /// queue stops being empty.
  public func onWork(_ wake: @escaping @Sendable () -> Void) {
    let behind = queue.withLock { queue in
      queue.wake = wake
      return !queue.jobs.isEmpty
    }
    if behind { wake() }
  }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let wake = queue.withLock { queue in
      queue.jobs.append(job)
      return queue.jobs.count == 1 ? queue.wake : nil
    }
    wake?()
  }

  /// Runs the jobs that are waiting now, on the calling thread, which must be the one thread that ever does.
  /// - Returns: whether there were any.
  @discardableResult
  public func runPending() -> Bool {
    let jobs = queue.withLock { queue in
      let jobs = queue.jobs
      queue.jobs = []
      return jobs
    }
    for job in jobs { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
    return !jobs.isEmpty
  }
}
