// How a task waits for what another thread brings. Not by a continuation: a task that one resumes goes through Swift's
// pool of threads before it comes back to its actor, which costs each request that waits two changes of thread, and
// the pool, once it runs, wakes the process up every second for ever. Here the waiting task steps into an actor whose
// executor keeps it until the value is there; from there it goes straight back to the actor that it came from.

import Synchronization

/// A value that comes later. Whoever brings it calls `resume` once; any number of tasks may wait.
public actor Promise<Value: Sendable> {
  private nonisolated let door = Door()
  private nonisolated let kept = Mutex<Value?>(nil)

  nonisolated public var unownedExecutor: UnownedSerialExecutor {
    unsafe door.asUnownedSerialExecutor()
  }

  /// Nothing has come yet.
  public init() {}

  /// Brings the value; from any thread. A second one is dropped.
  public nonisolated func resume(returning value: Value) {
    let isFirst = kept.withLock { kept in
      if kept != nil { return false }
      kept = value
      return true
    }
    if isFirst { door.open() }
  }

  /// The value, once it is there.
  public func value() -> Value {
    guard let value = kept.withLock({ $0 }) else { fatalError("a door opened before there was a value") }
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
/// and to ask for its own actor again, so it is run by whoever opens the door, or finds it open.
private final class Door: SerialExecutor {
  private struct State {
    var isOpen = false
    var jobs: [UnownedJob] = []
  }

  private let state = Mutex(State())

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isOpen = state.withLock { state in
      if !state.isOpen { state.jobs.append(job) }
      return state.isOpen
    }
    if isOpen { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
  }

  func open() {
    let jobs = state.withLock { state in
      state.isOpen = true
      defer { state.jobs = [] }
      return state.jobs
    }
    for job in jobs { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
  }
}
