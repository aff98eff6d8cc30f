// The thread of the main context as an executor: jobs and GLib's callbacks on one thread, waits with limits.

import GLibLoop
import Testing

@Suite struct GLibActorTests {
  @Test("jobs of the actor run one at a time, and a thousand of them all run")
  func jobs() async {
    let counter = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<1_000 { group.addTask { await counter.add() } }
    }
    #expect(await counter.value == 1_000)
  }

  @Test("a timer rings once, on the actor; a stopped one does not")
  func timers() async {
    let counter = Counter()
    await counter.run { counter in
      let waiters = Waiters()
      let stopped = Timer(.after(milliseconds: 1)) { counter.add() }
      stopped.stop()
      let rings = Timer(.after(milliseconds: 2)) {
        counter.add()
        waiters.wakeAll()
      }
      #expect(await waiters.wait(by: .after(milliseconds: 10_000)))
      _ = rings
    }
    #expect(await counter.value == 1)
  }

  @Test("those who wait are woken together, or leave at their own deadline")
  func waiters() async {
    await Counter().run { _ in
      let waiters = Waiters()
      #expect(await waiters.wait(by: .now) == false)
      #expect(await waiters.wait(by: .after(milliseconds: 5)) == false)
      let tasks = (0..<10).map { _ in
        Task { @GLibActor in await waiters.wait(by: .after(milliseconds: 10_000)) }
      }
      let impatient = Task { @GLibActor in await waiters.wait(by: .after(milliseconds: 5)) }
      #expect(await impatient.value == false)
      waiters.wakeAll()
      for task in tasks { #expect(await task.value) }
      #expect(waiters.isEmpty)
    }
  }

  @Test("what is shared is done once, and its outcome is there for those who come later")
  func shared() async {
    let counter = Counter()
    await counter.run { counter in
      let done = Waiters()
      let shared = Shared {
        counter.add()
        _ = await done.wait(by: .after(milliseconds: 10_000))
        return counter.value
      }
      #expect(await shared.value(by: .after(milliseconds: 5)) == nil)
      let waiting = (0..<5).map { _ in
        Task { @GLibActor in await shared.value(by: .after(milliseconds: 10_000)) }
      }
      await Task.yield()
      done.wakeAll()
      for task in waiting { #expect(await task.value == 1) }
      #expect(await shared.value(by: .now) == 1)
    }
  }

  @Test("deadlines neither overflow nor lie in the past by themselves")
  func deadlines() {
    #expect(Deadline.after(milliseconds: .max) > .now)
    #expect(Deadline.after(milliseconds: .max).millisecondsLeft > 1_000_000)
    #expect(Deadline.after(milliseconds: -5).isOver)
    #expect(Deadline.after(milliseconds: 5) < Deadline.after(milliseconds: 5_000))
  }
}

@GLibActor private final class Counter {
  nonisolated init() {}
  var value = 0
  func add() { value += 1 }
  func run(_ body: @GLibActor (Counter) async -> Void) async { await body(self) }
}
