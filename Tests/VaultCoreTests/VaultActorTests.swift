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
}

@VaultActor private final class Counter {
  var value = 0
  func add() { value += 1 }
}
