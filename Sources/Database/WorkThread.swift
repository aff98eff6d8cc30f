// A thread for work that blocks: SQLite's writes, scrypt. Work is done in the order in which it came, one
// piece at a time, and what the thread works with is made and kept by it alone. Swift's own pool has no
// thread that may wait.

import CLinux
import Synchronization
import VaultModel

/// A thread with a queue of work, and a resident that only its work can reach. Ends when its owner lets go of
/// it, after the work that was queued by then.
public final class WorkThread<Resident: ~Copyable>: Sendable {
  /// A piece of work.
  public typealias Work = @Sendable (inout Resident) -> Void

  private let queue: WorkQueue<Resident>

  /// Starts a thread whose resident `make` makes, on the thread. The name, at most 15 bytes, is what the
  /// system's tools show.
  public init(name: StaticString, make: @escaping @Sendable () -> Resident) {
    let queue = WorkQueue<Resident>()
    self.queue = queue
    let body = ThreadBody {
      var resident = make()
      while let work = queue.next() { work(&resident) }
    } ended: {
      queue.end()
    }
    let context = unsafe Unmanaged.passRetained(body).toOpaque()
    let text = unsafe UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)
    // Room for OpenSSL, SQLite and a page of the largest size on the stack.
    let error = unsafe clinux_thread_start(
      text, 1 << 20,
      { context in
        guard let context = unsafe context else { return }
        unsafe Unmanaged<ThreadBody>.fromOpaque(context).takeRetainedValue().runOnce()
      }, context)
    precondition(error == 0, "the system gives no thread (error \(error))")
  }

  deinit {
    queue.close()
  }

  /// Adds work behind what is queued.
  public func enqueue(_ work: @escaping Work) {
    queue.add(work)
  }

  /// Lets the thread end after what is queued, and waits until it has let go of its resident. No work may be
  /// added after that.
  nonisolated(nonsending) public func end() async {
    await withPromise { done in queue.close(done) }
  }

  /// Does work on the thread and returns what it gives.
  nonisolated(nonsending) public func run<Result: Sendable>(
    _ body: @escaping @Sendable (inout Resident) -> Result
  ) async -> Result {
    await withPromise { done in
      enqueue { resident in done.resume(returning: body(&resident)) }
    }
  }
}

private final class ThreadBody {
  private var run: (() -> Void)?
  private let ended: () -> Void

  init(run: @escaping () -> Void, ended: @escaping () -> Void) {
    self.run = run
    self.ended = ended
  }

  func runOnce() {
    run?()
    // With everything that it holds.
    run = nil
    ended()
  }
}

/// What the thread and its owner share.
@safe private final class WorkQueue<Resident: ~Copyable>: Sendable {
  typealias Work = WorkThread<Resident>.Work

  private struct Waiting {
    var work: [Work] = []
    var first = 0
    var ended = false
    var waitingForEnd: [Promise<Void>] = []
  }

  private let waiting = Mutex(Waiting())
  // Its calls are thread-safe, and it is freed with the last of the two that hold the queue.
  private nonisolated(unsafe) let bell: OpaquePointer

  init() {
    guard let bell = unsafe clinux_semaphore_make() else { fatalError("no memory for a semaphore") }
    unsafe self.bell = unsafe bell
  }

  deinit {
    unsafe clinux_semaphore_free(bell)
  }

  func add(_ work: @escaping Work) {
    waiting.withLock { $0.work.append(work) }
    unsafe clinux_semaphore_post(bell)
  }

  /// Lets the thread end when it has done what is queued. One ring without work for it tells it so.
  func close(_ done: Promise<Void>? = nil) {
    let ended = waiting.withLock { waiting in
      if let done, !waiting.ended { waiting.waitingForEnd.append(done) }
      return waiting.ended
    }
    if ended { done?.resume() } else { unsafe clinux_semaphore_post(bell) }
  }

  /// The thread has ended.
  func end() {
    let waiting = waiting.withLock { waiting in
      waiting.ended = true
      defer { waiting.waitingForEnd = [] }
      return waiting.waitingForEnd
    }
    for one in waiting { one.resume() }
  }

  /// Waits for work; `nil` when the queue is closed and empty.
  func next() -> Work? {
    unsafe clinux_semaphore_wait(bell)
    return waiting.withLock { waiting in
      guard waiting.first < waiting.work.count else { return nil }
      let work = waiting.work[waiting.first]
      waiting.first += 1
      if waiting.first == waiting.work.count {
        waiting.work.removeAll(keepingCapacity: true)
        waiting.first = 0
      }
      return work
    }
  }
}
