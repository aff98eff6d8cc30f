// The actor on which a request lives: one thread, jobs in order.

import TestSupport
import Testing
import VaultCore

@Suite struct VaultActorTests {
  init() { startVaultActor() }

  @Test("jobs of the actor run on one thread, each before the next begins")
  func oneThread() async {
    let counter = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<100 { group.addTask { await counter.add() } }
    }
    #expect(await counter.value == 100)
  }

  @Test("a job that runs the queue itself, as the event loop does, runs those that came with it")
  func nestedLoop() async {
    let counter = Counter()
    // All three are waiting before the first runs, since the actor's thread is busy until then.
    await counter.whileBusy {
      let loop = Task { @VaultActor in
        while counter.value < 2 { VaultActor.executor.runPending() }
      }
      let rest = (0..<2).map { _ in Task { @VaultActor in counter.add() } }
      return [loop] + rest
    }
    #expect(await counter.value == 2)
  }
}

@VaultActor private final class Counter {
  var value = 0
  func add() { value += 1 }

  /// Makes tasks while no other job can run, and waits for them.
  func whileBusy(_ make: @VaultActor () -> [Task<Void, Never>]) async {
    for task in make() { await task.value }
  }
}
