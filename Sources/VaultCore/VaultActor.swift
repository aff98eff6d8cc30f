// The isolation that connections and the vault share: the daemon's main thread. The event loop runs as one
// job of this actor that never ends; jobs that arrive meanwhile are run by it, nested. So a request that can
// be answered from memory or from the file is answered inside the readiness callback, without a task or a
// hop. Makes no system call: whoever runs the loop says how it is woken.

import Synchronization
import VaultModel

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

extension VaultActor {
  /// Lets the jobs run that wait, and the loop look at its descriptors. `Task.yield` goes through Swift's pool of threads
  /// (see `Promise`).
  @VaultActor public static func giveWay() async {
    await withPromise { done in
      Task { @VaultActor in done.resume() }
    }
  }
}

/// A queue of jobs that the thread of the event loop runs. Tasks must not prefer it (`executorPreference`): with a
/// preference a call between two functions of one actor suspends, and whoever looks and then waits, as `Waiters` of the
/// bus do, misses what comes in between.
public final class VaultExecutor: SerialExecutor {
  // In a type of its own: as a bare function it would be wrapped anew each time that it leaves the lock.
  private struct Wake: Sendable {
    let call: @Sendable () -> Void
  }

  private struct Queue {
    private var jobs: [UnownedJob] = []
    // The first that was not taken yet.
    private var next = 0
    var wake: Wake?

    var count: Int { jobs.count - next }

    mutating func add(_ job: UnownedJob) {
      jobs.append(job)
    }

    mutating func take() -> UnownedJob? {
      guard next < jobs.count else { return nil }
      defer {
        next += 1
        if next == jobs.count {
          jobs.removeAll(keepingCapacity: true)
          next = 0
        } else if next == 4_096 {
          // Rarely, so that taking costs nothing, and often enough that a queue which is never empty does not grow.
          jobs.removeFirst(next)
          next = 0
        }
      }
      return jobs[next]
    }
  }

  private let queue = Mutex(Queue())

  /// Says how to wake the thread that calls `runPending`; called from any thread, once for each time that the
  /// queue stops being empty.
  public func onWork(_ wake: @escaping @Sendable () -> Void) {
    let behind = queue.withLock { queue in
      queue.wake = Wake(call: wake)
      return queue.count > 0
    }
    if behind { wake() }
  }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let wake = queue.withLock { queue in
      queue.add(job)
      return queue.count == 1 ? queue.wake : nil
    }
    wake?.call()
  }

  /// Runs the jobs that are waiting now, on the calling thread, which must be the one thread that ever does. Takes
  /// them one by one: a job may be the event loop, which never returns and runs those behind it itself.
  /// - Parameter most: how many of them at most.
  /// - Returns: how many there were to be run.
  @discardableResult
  public func runPending(atMost most: Int = .max) -> Int {
    let count = min(most, queue.withLock { $0.count })
    for _ in 0..<count {
      guard let job = queue.withLock({ $0.take() }) else { break }
      unsafe job.runSynchronously(on: asUnownedSerialExecutor())
    }
    return count
  }
}
