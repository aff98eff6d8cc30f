// A keyring that is locked: who is asked, how often, and what everybody is told.

import SecretServiceStore
import TestBus
import TestSupport
import Testing
import VaultCore
import VaultModel

@Suite struct LockTests {
  @Test(
    "a prompt that nobody answers ends as Locked, in time, and stays on the screen for those who come later")
  func unanswered() async throws {
    try await withStore { test, bus in
      let key = try id("Locks.unanswered")
      try await test.set(key, "value")
      bus.fake.set("prompt", "never")
      bus.fake.tell("lock")
      let time = await elapsed {
        let outcome = await test.failure { try await test.get(key, test.patience(0.2, prompt: 0.5)) }
        #expect(outcome?.outcome == .locked)
      }
      #expect(time > .milliseconds(450) && time < .seconds(3))
      #expect(
        await test.failure { try await test.get(key, test.patience(0.2, prompt: 0.3)) }?.outcome == .locked)
      #expect(bus.fake.count("prompts") == 1)
      #expect(bus.fake.count("dismissals") == 0)
    }
  }

  @Test("a request that wants no prompt is Locked at once, also while one is on the screen")
  func notInteractive() async throws {
    try await withStore { test, bus in
      let key = try id("Locks.quiet")
      try await test.set(key, "value")
      bus.fake.set("prompt", "never")
      bus.fake.tell("lock")
      let quiet = test.patience(interactive: false)
      try await until("the store knows that it is locked") { test.store.status.state == .locked }
      for _ in 0..<3 { #expect(await test.failure { try await test.get(key, quiet) }?.outcome == .locked) }
      #expect(bus.fake.count("prompts") == 0)
      #expect(bus.fake.count("unlocks") == 1)
      async let asking = test.failure { try await test.get(key, test.patience(0.5, prompt: 1)) }
      try await until("the prompt") { bus.fake.tell("shown") as? Int == 1 }
      let time = await elapsed {
        #expect(await test.failure { try await test.get(key, quiet) }?.outcome == .locked)
      }
      #expect(time < .milliseconds(400))
      #expect(await asking?.outcome == .locked)
    }
  }

  @Test(
    "that a prompt of ours is on the screen is known, from its coming to its end", arguments: [true, false])
  func prompting(dismissed: Bool) async throws {
    try await withStore { test, bus in
      let key = try id("Locks.prompting")
      try await test.set(key, "value")
      #expect(!test.store.isPrompting)
      bus.fake.set("prompt", "manual")
      bus.fake.tell("lock")
      #expect(
        await test.failure { try await test.get(key, test.patience(0.2, prompt: 0.3)) }?.outcome == .locked)
      // Nobody waits for it any more; it is there all the same.
      #expect(test.store.isPrompting)
      bus.fake.tell("complete", ["dismissed": dismissed])
      try await until("the prompt's end") { !test.store.isPrompting }
      #expect(await test.word(key, test.patience(interactive: false)) == (dismissed ? "Locked" : "value"))
      #expect(bus.fake.count("prompts") == 1)
    }
  }

  @Test("a dismissed prompt is Locked, and writes nothing")
  func dismissed() async throws {
    try await withStore { test, bus in
      let key = try id("Locks.dismissed")
      try await test.set(key, "value")
      bus.fake.set("prompt", "dismiss")
      bus.fake.tell("lock")
      #expect(await test.failure { try await test.get(key) }?.outcome == .locked)
      #expect(await test.failure { try await test.set(key, "new") }?.outcome == .locked)
      #expect(await test.failure { try await test.set(id("Locks.other"), "new") }?.outcome == .locked)
      // What was never there is not found, locked or not.
      #expect(try await test.get(id("Locks.never")) == nil)
      #expect(bus.fake.items.map(\.secret) == [Array("value".utf8)])
      #expect(bus.fake.count("deletes") == 0)
    }
  }

  @Test("a prompt that succeeds is followed: get and set succeed at the first try")
  func accepted() async throws {
    try await withStore { test, bus in
      let key = try id("Locks.accepted")
      try await test.set(key, "value")
      bus.fake.tell("lock")
      #expect(try await test.get(key) == "value")
      bus.fake.tell("lock")
      try await test.set(key, "new")
      bus.fake.tell("lock")
      try await test.set(id("Locks.acceptedNew"), "value")
      #expect(try await test.get(key) == "new")
      #expect(bus.fake.count("prompts") == 3)
    }
  }

  @Test("a slow prompt has the time that prompts have, and the request goes on after it")
  func slow() async throws {
    try await withStore { test, bus in
      let key = try id("Locks.slow")
      try await test.set(key, "value")
      bus.fake.set("prompt", "accept:600")
      bus.fake.tell("lock")
      #expect(try await test.get(key, test.patience(0.3, prompt: 10)) == "value")
    }
  }

  @Test("what is unlocked by somebody else answers those who wait for a prompt, and nothing is remembered")
  func unlockedElsewhere() async throws {
    try await withStore { test, bus in
      let key = try id("Locks.elsewhere")
      try await test.set(key, "value")
      bus.fake.set("prompt", "never")
      bus.fake.tell("lock")
      #expect(
        await test.failure { try await test.get(key, test.patience(interactive: false)) }?.outcome == .locked)
      async let waiting = test.get(key, test.patience(1, prompt: 20))
      try await until("the prompt") { bus.fake.tell("shown") as? Int == 1 }
      bus.fake.tell("unlock")
      #expect(try await waiting == "value")
      #expect(try await test.get(key) == "value")
    }
  }

  @Test(
    "50 reads of 5 keys share one prompt, one session, one connection and one outcome",
    arguments: [true, false])
  func storm(accepted: Bool) async throws {
    try await withStore { test, bus in
      var keys: [EntryID] = []
      for number in 0..<5 { keys.append(try id("Storm.key\(number)")) }
      for key in keys { try await test.set(key, key.description) }
      let other = StoreUnderTest()
      bus.fake.set("prompt", accepted ? "accept:300" : "dismiss:300")
      bus.fake.tell("lock")
      bus.fake.tell("forget-clients")
      let before = bus.fake.count("sessions")
      let asked = keys
      let outcomes = await tally(50) { number in
        let word = await other.word(asked[number % 5])
        return word == asked[number % 5].description ? "read" : word
      }
      #expect(outcomes == [accepted ? "read" : "Locked": 50])
      #expect(bus.fake.count("prompts") == 1)
      #expect(bus.fake.count("sessions") - before == (accepted ? 1 : 0))
      #expect((bus.fake.tell("clients") as? [String])?.count == 1)
      await other.store.close()
    }
  }

  @Test("an item that is locked by itself is unlocked by itself; one that stays so is Locked, not missing")
  func itemLocked() async throws {
    try await withStore { test, bus in
      let key = try id("Locks.item")
      try await test.set(key, "value")
      let path = try #require(bus.fake.items.first).path
      bus.fake.set("prompt", "none")
      bus.fake.tell("lock-item", ["path": path])
      #expect(try await test.get(key) == "value")
      bus.fake.set("omit", true)
      #expect(await test.failure { try await test.get(key) }?.outcome == .locked)
    }
  }

  @Test("clear never prompts: what is locked is Locked and stays")
  func clearing() async throws {
    try await withStore { test, bus in
      let key = try id("Locks.clear")
      try await test.set(key, "value")
      bus.fake.tell("lock")
      let failure = await test.writeFailure { try await test.clear(key) }
      #expect(failure?.error.outcome == .locked)
      #expect(failure?.mayTakeEffect == false)
      #expect(bus.fake.count("prompts") == 0)
      #expect(bus.fake.items.count == 1)
    }
  }

  @Test("list never prompts: a locked keyring with items of ours is Locked, without any it has none")
  func listing() async throws {
    try await withStore { test, bus in
      bus.fake.add(["service": "mail"], "other")
      bus.fake.tell("lock")
      #expect(try await test.store.list(nil, test.patience()) == [])
      bus.fake.tell("unlock")
      try await test.set(id("Locks.list"), "value")
      bus.fake.tell("lock")
      #expect(await test.failure { try await test.store.list(nil, test.patience()) }?.outcome == .locked)
      let namespace = try Namespace("Locks")
      #expect(
        await test.failure { try await test.store.list(namespace, test.patience()) }?.outcome == .locked)
      #expect(bus.fake.count("prompts") == 0)
    }
  }

  @Test("a new item whose provider asks somebody is made once that is answered")
  func createPrompt() async throws {
    try await withStore { test, bus in
      bus.fake.set("create_prompt", "accept:100")
      try await test.set(id("Locks.create"), "value")
      #expect(try await test.get(id("Locks.create")) == "value")
      bus.fake.set("create_prompt", "dismiss")
      #expect(await test.failure { try await test.set(id("Locks.refused"), "value") }?.outcome == .locked)
      let quiet = test.patience(interactive: false)
      #expect(
        await test.failure { try await test.set(id("Locks.quiet"), "value", quiet) }?.outcome == .locked)
      #expect(bus.fake.items.count == 1)
    }
  }
}
