// How a task waits for what another thread brings. Not by a continuation: a task that one resumes goes through Swift's
// pool of threads before it comes back to its actor, which costs each request that waits two changes of thread, and
// the pool, once it runs, wakes the process up every second for ever. Here the waiting task steps into an actor whose
// executor keeps it until the value is there; from there it goes straight back to the actor that it came from.

import Synchronization

/// A value that comes later. Whoever brings it calls `resume` once; any number of tasks may wait.
public actor Promise<Value: Sendable> {
  private nonisolated let door = Door()

  nonisolated public var unownedExecutor: UnownedSerialExecutor {
    unsafe door.asUnownedSerialExecutor()
  }

  /// Nothing has come yet.
  public init() {}

  /// Brings the value; from any thread. A second one is dropped.
  public nonisolated func resume(returning value: Value) {
    door.open(with: value)
  }

  /// The value, once it is there.
  public func value() -> Value {
    guard let value = door.value as? Value else { fatalError("a door opened before there was a value") }
    return value
  }
}

extension Promise<Void> {
  /// Brings nothing but the news.
  public nonisolated func resume() {
    resume(returning: ())
  }
}

/// Calls `body` at once, with a promise that it hands to whoever is going to keep it, and waits for the value. The
/// caller's actor is not left before `body` has returned, and is the first that the task comes back to.
public func withPromise<Value: Sendable>(
  isolation: isolated (any Actor)? = #isolation, _ body: (Promise<Value>) -> Void
) async -> Value {
  let promise = Promise<Value>()
  body(promise)
  return await promise.value()
}

/// Keeps jobs until it is opened, and lets them through from then on. A job does no more here than to look at a value
/// and to ask for its own actor again, so it is run by whoever opens the door, or finds it open. Of no type of value:
/// what depends on one is asked of the runtime each time that a promise is made, kept and dropped.
private final class Door: SerialExecutor {
  private struct State {
    var value: (any Sendable)?
    // Nearly always there is one.
    var job: UnownedJob?
    var jobs: [UnownedJob] = []
  }

  private let state = Mutex(State())

  /// What it was opened with.
  var value: (any Sendable)? { state.withLock { $0.value } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isOpen = state.withLock { state in
      if state.value != nil { return true }
      if state.job == nil { state.job = job } else { state.jobs.append(job) }
      return false
    }
    if isOpen { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
  }

  /// Opens it, where it is not open yet.
  func open(with value: any Sendable) {
    let (job, jobs) = state.withLock { state in
      if state.value != nil { return (UnownedJob?.none, [UnownedJob]()) }
      state.value = value
      defer { (state.job, state.jobs) = (nil, []) }
      return (state.job, state.jobs)
    }
    if let job { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
    for job in jobs { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
  }
}
