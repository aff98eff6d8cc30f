// Sees to it that every request ends (behaviour.md, "Waiting"). Stores end by themselves and say why; this is for what
// cannot be ended: a disk that hangs, a change of the same key that does not come to its end. The request is answered,
// and what it began goes on.

import VaultModel

/// Whether somebody still waits for what a request does.
@VaultActor
final class Life {
  /// Whether the request was answered without waiting for its end: nothing more is to be begun for it.
  fileprivate(set) var isOver = false

  fileprivate var end: BootTime
  /// The end where a prompt is on the screen when `end` comes; `nil` where there is none.
  fileprivate var promptEnd: BootTime?
  private let late: () -> Void

  fileprivate init(_ patience: Patience, late: @escaping () -> Void) {
    end = patience.deadline.advanced(by: Limits.graceMilliseconds)
    promptEnd = patience.interactive ? patience.promptDeadline.advanced(by: Limits.graceMilliseconds) : nil
    self.late = late
  }

  /// Answers the request.
  fileprivate func giveUp() {
    isOver = true
    late()
  }
}

/// The ends of the requests that run.
@VaultActor
final class Deadlines {
  private let clock: any Clock
  private let isPrompting: @VaultActor () -> Bool
  private var waits: [UInt64: Life] = [:]
  private var last: UInt64 = 0
  private var ordered: BootTime?

  /// Nobody waits. `isPrompting` tells whether a prompt is on the screen.
  init(clock: any Clock, isPrompting: @escaping @VaultActor () -> Bool) {
    self.clock = clock
    self.isPrompting = isPrompting
  }

  /// Runs `work`; where it does not end by itself, ends with `late` a moment after the patience is over.
  func run<Success: Sendable>(
    _ patience: Patience, late: @escaping @autoclosure () -> VaultError,
    _ work: @escaping @VaultActor (Life) async throws(VaultError) -> Success
  ) async throws(VaultError) -> Success {
    let outcome: Result<Success, VaultError> = await withPromise { outcome in
      last += 1
      let number = last
      // Of what comes late and what comes of the work, the first counts.
      let life = Life(patience) { outcome.resume(returning: .failure(late())) }
      waits[number] = life
      order(life.end)
      Task { @VaultActor in
        let result: Result<Success, VaultError>
        do throws(VaultError) { result = .success(try await work(life)) } catch { result = .failure(error) }
        waits[number] = nil
        outcome.resume(returning: result)
      }
    }
    return try outcome.get()
  }

  private func order(_ time: BootTime) {
    if let ordered, ordered <= time { return }
    ordered = time
    clock.alarms.set(time) { [weak self] in self?.sweep(time) }
  }

  private func sweep(_ time: BootTime) {
    guard ordered == time else { return }
    ordered = nil
    let now = clock.boot
    for (number, wait) in waits where wait.end <= now {
      if let promptEnd = wait.promptEnd, promptEnd > wait.end, isPrompting() {
        wait.end = promptEnd
        wait.promptEnd = nil
      } else {
        waits[number] = nil
        wait.giveUp()
      }
    }
    let next = waits.values.lazy.map { $0.end }.min()
    if let next { order(next) }
  }
}
