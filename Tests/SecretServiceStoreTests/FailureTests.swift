// A provider, or a bus, that is absent, slow, or dies: every request ends in time and with the truth, and the
// next one works.

import Foundation
import SecretServiceStore
import TestBus
import TestSupport
import Testing
import VaultCore
import VaultModel

@Suite struct FailureTests {
  @Test("nobody provides the Secret Service: Unavailable at once, and which packages do")
  func nobody() async throws {
    try await withStore { test, bus in
      let key = try id("Failures.nobody")
      bus.fake.tell("release")
      let time = await elapsed {
        let failure = await test.failure { try await test.get(key) }
        #expect(failure?.outcome == .unavailable)
        #expect(failure?.description.contains("gnome-keyring") == true)
      }
      #expect(time < .seconds(1))
      bus.fake.tell("acquire")
      #expect(try await test.get(key) == nil)
    }
  }

  @Test("the bus goes away and comes back: Unavailable, then the next request works, with one new connection")
  func bus() async throws {
    try await withStore { test, bus in
      let key = try id("Failures.bus")
      try await test.set(key, "value")
      try bus.stopBus()
      for _ in 0..<3 {
        let time = await elapsed {
          #expect(await test.failure { try await test.get(key) }?.outcome == .unavailable)
        }
        #expect(time < .seconds(2))
      }
      try bus.startBus()
      bus.fake.tell("forget-clients")
      #expect(try await test.get(key) == "value")
      #expect((bus.fake.tell("clients") as? [String])?.count == 1)
    }
  }

  @Test(
    "no default collection: a new key is Unavailable, says so, and nothing is made",
    arguments: ["no", "missing"])
  func noDefault(how: String) async throws {
    try await withStore { test, bus in
      let key = try id("Failures.default")
      bus.fake.set("default", how)
      let failure = await test.writeFailure { try await test.set(key, "value") }
      #expect(failure?.error.outcome == .unavailable)
      #expect(failure?.error.description.contains("no default collection") == true)
      #expect(failure?.mayTakeEffect == false)
      #expect(bus.fake.count("collections") == 0)
      #expect(bus.fake.items.isEmpty)
      #expect(try await test.get(key) == nil)
    }
  }

  @Test(
    "a provider that dies while it is read is Unavailable, never `not found`; restarted, it is read again")
  func diesReading() async throws {
    try await withStore { test, bus in
      let key = try id("Failures.reading")
      try await test.set(key, "value")
      bus.fake.fault("GetSecrets", "crash", times: 1)
      #expect(await test.failure { try await test.get(key) }?.outcome == .unavailable)
      try bus.restartFake()
      #expect(try await test.get(key) == "value")
      bus.fake.fault("SearchItems", "crash", times: 1)
      #expect(await test.failure { try await test.get(key) }?.outcome == .unavailable)
      try bus.restartFake()
      #expect(try await test.get(key) == "value")
    }
  }

  @Test("a provider that dies in the middle of a write: what is there afterwards is the old or the new")
  func diesWriting() async throws {
    try await withStore { test, bus in
      let key = try id("Failures.writing")
      for (fault, stored) in [("crash", nil), ("crash-after", "new")] as [(String, String?)] {
        bus.fake.fault("CreateItem", fault, times: 1)
        let failure = await test.writeFailure { try await test.set(key, "new") }
        #expect(failure?.error.outcome == .unavailable)
        #expect(failure?.mayTakeEffect == true)
        try bus.restartFake()
        #expect(try await test.get(key) == stored)
      }
      bus.fake.fault("SetSecret", "crash", times: 1)
      #expect(await test.writeFailure { try await test.set(key, "newer") }?.mayTakeEffect == true)
      try bus.restartFake()
      #expect(try await test.get(key) == "new")
      try await test.set(key, "newer")
      #expect(try await test.get(key) == "newer")
      #expect(bus.fake.items.count == 1)
    }
  }

  @Test("a write that the next provider can be asked about is tried again there")
  func diesAndReturns() async throws {
    try await withStore { test, bus in
      let key = try id("Failures.returns")
      try await test.set(key, "old")
      // The session is lost with it; the name is free for a moment only.
      bus.fake.fault("SetSecret", "error:org.freedesktop.DBus.Error.NoReply", times: 1)
      try await test.set(key, "new")
      #expect(try await test.get(key) == "new")
    }
  }

  @Test("objects and sessions that went stale are found anew at the first try")
  func stale() async throws {
    try await withStore { test, bus in
      let key = try id("Failures.stale")
      try await test.set(key, "value")
      bus.fake.tell("drop-sessions")
      #expect(try await test.get(key) == "value")
      bus.fake.tell("drop-sessions")
      try await test.set(key, "next")
      bus.fake.tell("rename", ["path": bus.fake.items[0].path])
      #expect(try await test.get(key) == "next")
      try bus.restartFake()
      #expect(try await test.get(key) == "next")
      try bus.restartFake()
      try await test.set(key, "last")
      #expect(try await test.get(key) == "last")
    }
  }

  @Test("50 reads whose session is gone open one new session together")
  func staleTogether() async throws {
    try await withStore { test, bus in
      let key = try id("Failures.together")
      try await test.set(key, "value")
      let sessions = bus.fake.count("sessions")
      bus.fake.tell("drop-sessions")
      #expect(await tally(50) { _ in await test.word(key) } == ["value": 50])
      #expect(bus.fake.count("sessions") == sessions + 1)
    }
  }

  @Test("a provider that is stopped: Unavailable in time; it goes on, and so do we")
  func stopped() async throws {
    try await withStore { test, bus in
      let key = try id("Failures.stopped")
      try await test.set(key, "old")
      kill(bus.fake.pid, SIGSTOP)
      let time = await elapsed {
        #expect(await test.failure { try await test.get(key, test.patience(0.3)) }?.outcome == .unavailable)
      }
      #expect(time < .seconds(2))
      #expect(test.store.status.state == .unavailable)
      kill(bus.fake.pid, SIGCONT)
      #expect(try await test.get(key) == "old")
      #expect(test.store.status.state == .available)
    }
  }

  @Test("a write that was sent and not answered may take effect, and says so; one that was not sent may not")
  func unanswered() async throws {
    try await withStore { test, bus in
      let key = try id("Failures.unanswered")
      try await test.set(key, "old")
      bus.fake.fault("SetSecret", "late:600", times: 1)
      let failure = await test.writeFailure { try await test.set(key, "late", test.patience(0.3)) }
      #expect(failure?.error.outcome == .unavailable)
      #expect(failure?.mayTakeEffect == true)
      bus.fake.fault("SearchItems", "never", times: 2)
      let unsent = await test.writeFailure { try await test.set(key, "unsent", test.patience(0.3)) }
      #expect(unsent?.mayTakeEffect == false)
    }
  }

  @Test(
    "calls on their way are bounded: requests beyond that end in time, and what nobody waits for is not sent")
  func bounded() async throws {
    try await withStore { test, bus in
      for round in 0..<2 {
        #expect(try await test.get(id("Bounded.before")) == nil)
        kill(bus.fake.pid, SIGSTOP)
        let keys = try (0..<200).map { try id("Bounded.key\(round)x\($0)") }
        let outcomes = await tally(200) { await test.word(keys[$0], test.patience(0.5)) }
        #expect(outcomes == ["Unavailable": 200])
        kill(bus.fake.pid, SIGCONT)
        // Behind all of them on the connection.
        #expect(try await test.get(id("Bounded.after")) == nil)
        // The store's own look at what is there has no attributes and is not counted.
        let searched = bus.fake.searched.filter { $0["name"]?.hasPrefix("key\(round)x") ?? false }
        #expect((1...Limits.busCalls).contains(searched.count), "\(searched.count)")
      }
    }
  }

  @Test(
    "a provider that dies of two sessions at once lives through 100 first reads, and the session is closed")
  func oneSession() async throws {
    try await withStore { test, bus in
      bus.fake.add(["namespace": "One", "name": "key", "account": ""], "value")
      bus.fake.fault("OpenSession", "late:100")
      bus.fake.set("one_session", true)
      let key = try id("One.key")
      let values = await tally(100) { _ in await test.word(key) }
      #expect(values == ["value": 100])
      #expect(bus.fake.count("sessions") == 1)
      await test.store.close()
      #expect(bus.fake.count("closes") == 1)
    }
  }

  @Test("closing while the session is being opened waits for it and closes it")
  func closeWhileOpening() async throws {
    try await withStore { test, bus in
      bus.fake.add(["namespace": "One", "name": "key", "account": ""], "value")
      bus.fake.fault("OpenSession", "late:200")
      async let read = test.failure { try await test.get(id("One.key")) }
      try await until("a search") { bus.fake.count("searches") > 0 }
      await test.store.close()
      _ = await read
      #expect(bus.fake.count("sessions") == bus.fake.count("closes"))
    }
  }

  @Test("a bus that does not let us is Unavailable and says why, never `not found`")
  func denied() async throws {
    try await withStore { test, bus in
      bus.fake.fault("*", "error:org.freedesktop.DBus.Error.AccessDenied")
      let failure = await test.failure { try await test.get(id("Failures.denied")) }
      #expect(failure?.outcome == .unavailable)
      #expect(failure?.description.contains("g-dbus") == true)
    }
  }

  @Test("a slow first answer is waited for, and what was set last is read")
  func slow() async throws {
    try await withStore { test, bus in
      let key = try id("Failures.slow")
      for round in 0..<5 {
        bus.fake.fault("SearchItems", "late:150", times: 1)
        try await test.set(key, "value \(round)")
        bus.fake.fault("GetSecrets", "late:150", times: 1)
        #expect(try await test.get(key) == "value \(round)")
      }
    }
  }

  @Test("another provider takes the name: the next request is its, with a session of its own")
  func replaced() async throws {
    try await withStore { test, bus in
      let key = try id("Failures.replaced")
      try await test.set(key, "value")
      try bus.startKeyring()
      #expect(try await test.get(key) == nil)
      try await test.set(key, "in the keyring")
      #expect(test.store.provider == "gnome-keyring-daemon")
      try bus.stopKeyring()
      bus.fake.tell("acquire")
      #expect(try await test.get(key) == "value")
    }
  }
}
