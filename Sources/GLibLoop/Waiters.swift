// Those who wait for one thing on the bus's thread, each with a limit of its own. It only wakes them; what
// happened they look up themselves.

import VaultModel

/// Callers that are suspended until something happens or their time is over.
@GLibActor
public final class Waiters {
  private struct Waiter {
    var continuation: Promise<Bool>
    var timer: Timer
  }

  private var waiting: [UInt64: Waiter] = [:]
  private var next: UInt64 = 0

  /// Nobody waits.
  public init() {}

  /// Whether anybody waits.
  public var isEmpty: Bool { waiting.isEmpty }

  /// Waits until `wakeAll` or `wakeOne` is called.
  /// - Returns: false where the deadline came first.
  public func wait(by deadline: Deadline) async -> Bool {
    guard !deadline.isOver else { return false }
    return await withPromise { continuation in
      let number = next
      next &+= 1
      let timer = Timer(deadline) { [weak self] in self?.resume(number, false) }
      waiting[number] = Waiter(continuation: continuation, timer: timer)
    }
  }

  /// Wakes everybody who waits now.
  public func wakeAll() {
    for number in waiting.keys.sorted() { resume(number, true) }
  }

  /// Wakes the one who has waited longest.
  public func wakeOne() {
    if let first = waiting.keys.min() { resume(first, true) }
  }

  // Taken out before it is resumed, so that no continuation is resumed twice.
  private func resume(_ number: UInt64, _ woken: Bool) {
    guard let waiter = waiting.removeValue(forKey: number) else { return }
    waiter.timer.stop()
    waiter.continuation.resume(returning: woken)
  }
}

/// Something that is done once, for all who want its outcome, and goes on when they have left.
@GLibActor
public final class Shared<Value: Sendable> {
  /// What came of it; `nil` while it goes on.
  public private(set) var outcome: Value?

  private let waiters = Waiters()

  /// Begins `work` at once.
  public init(_ work: @escaping @GLibActor () async -> Value) {
    Task { @GLibActor in
      let value = await work()
      outcome = value
      waiters.wakeAll()
    }
  }

  /// The outcome; `nil` where the deadline came first.
  public func value(by deadline: Deadline) async -> Value? {
    if let outcome { return outcome }
    _ = await waiters.wait(by: deadline)
    return outcome
  }
}
