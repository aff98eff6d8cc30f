// The one thread that waits for all asynchronous calls of the process. Swift's pool has as many threads as the
// machine has processors, and one that blocks is missing there; a thread for each connection would be one for each
// call that waits for a person. Here a call that waits costs a descriptor in one poll(2). Started by the first call
// that has to wait, and there until the process ends; it carries no secret and runs no code of the program's.

import CLinux
import Glibc
import Synchronization
import VaultModel

/// What an asynchronous call waits for.
struct Wants {
  /// Ready ones, or
  var descriptors: [pollfd]
  /// this time; `nil`: no time.
  var until: Deadline?
}

/// What became of a step of an asynchronous call.
enum Driven<Value> {
  case waits(Wants)
  case over(Value)
}

/// A thread that waits for descriptors.
final class PollThread: Sendable {
  private struct Waiter: Sendable {
    let isCancelled: Cancellation
    /// Does what can be done; `nil` when it is over and whoever waited was told.
    let step: @Sendable (_ isCancelled: Bool) -> Wants?
  }

  private final class Cancellation: Sendable {
    let flag = Atomic(false)
  }

  private static let shared = Mutex<PollThread?>(nil)

  private let added = Mutex<[Waiter]>([])
  private let wakeup: Wakeup

  /// Starts the thread.
  private init() throws(VaultError) {
    wakeup = try Wakeup()
    let context = unsafe Unmanaged.passRetained(self)
    let code = unsafe clinux_thread_start(
      "vault-client", Limits.pollThreadStack, runPollThread, context.toOpaque())
    guard code == 0 else {
      unsafe context.release()
      let reason = unsafe String(cString: clinux_error_text(code))
      throw .unavailable(store: .vault, reason: "this process can start no thread: \(reason)")
    }
  }

  /// The thread of this process.
  private static func running() throws(VaultError) -> PollThread {
    let result = shared.withLock { thread in
      Result { () throws(VaultError) in
        if let thread { return thread }
        let started = try PollThread()
        thread = started
        return started
      }
    }
    return try result.get()
  }

  /// Repeats `step`, first at once and here, then whenever what it waits for is there, until it is over.
  /// - Parameter step: does what can be done without waiting. Where the task was cancelled it is told so, once, and
  ///   is to be over then.
  /// - Returns: what it came to.
  /// - Throws: `.unavailable` where the process can have no thread; then `step` was not called.
  static func drive<Value: Sendable>(
    _ step: @escaping @Sendable (_ isCancelled: Bool) -> Driven<Value>
  ) async throws(VaultError) -> Value {
    let thread = try running()
    if case .over(let value) = step(Task.isCancelled) { return value }
    let cancellation = Cancellation()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        thread.add(
          Waiter(isCancelled: cancellation) { isCancelled in
            switch step(isCancelled) {
            case .waits(let wants): return wants
            case .over(let value):
              continuation.resume(returning: value)
              return nil
            }
          })
      }
    } onCancel: {
      cancellation.flag.store(true, ordering: .releasing)
      thread.wakeup.signal()
    }
  }

  private func add(_ waiter: Waiter) {
    added.withLock { $0.append(waiter) }
    wakeup.signal()
  }

  fileprivate func run() -> Never {
    var waiting: [(waiter: Waiter, wants: Wants)] = []
    while true {
      var ready = [wakeup.wanted]
      for (_, wants) in waiting { ready += wants.descriptors }
      ready = poll(ready, until: waiting.compactMap(\.wants.until).min())
      if ready[0].revents != 0 { wakeup.clear() }
      var index = 1
      waiting = waiting.compactMap { waiter, wants in
        let mine = ready[index..<index + wants.descriptors.count]
        index += wants.descriptors.count
        return Self.step(waiter, wants, isReady: mine.contains { $0.revents != 0 })
      }
      let new = added.withLock { added in
        defer { added = [] }
        return added
      }
      // What it waited for may have come before it was here.
      waiting += new.compactMap { Self.step($0, Wants(descriptors: []), isReady: true) }
    }
  }

  private static func step(_ waiter: Waiter, _ wants: Wants, isReady: Bool) -> (Waiter, Wants)? {
    let isCancelled = waiter.isCancelled.flag.load(ordering: .acquiring)
    guard isReady || isCancelled || wants.until?.isOver == true else { return (waiter, wants) }
    return waiter.step(isCancelled).map { (waiter, $0) }
  }
}

/// What the thread runs; `context` is the one that started it.
private func runPollThread(_ context: UnsafeMutableRawPointer?) {
  guard let context = unsafe context else { return }
  unsafe Unmanaged<PollThread>.fromOpaque(context).takeRetainedValue().run()
}
