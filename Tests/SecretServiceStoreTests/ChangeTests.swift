// What the store tells by itself: changes by other programs, locks, and the coming and going of providers.

import SecretServiceStore
import TestBus
import TestSupport
import Testing
import VaultCore
import VaultModel

@Suite struct ChangeTests {
  @Test("an item of another program is told by its key, as it comes, changes and goes")
  func items() async throws {
    try await withStore { test, bus in
      let changes = Changes(of: test)
      await test.store.start()
      let path = bus.fake.add(["namespace": "Told", "name": "key"], "theirs")
      try await changes.wait(for: .itemChanged(id("Told.key")))
      bus.fake.tell("delete", ["path": path])
      try await changes.wait(for: .itemDeleted(id("Told.key")))
    }
  }

  @Test("an item that was there before we were is known by its key when it goes")
  func learned() async throws {
    try await withStore { test, bus in
      let path = bus.fake.add(["namespace": "Told", "name": "before", "account": "a"], "theirs")
      let changes = Changes(of: test)
      await test.store.start()
      try await until("a search") { bus.fake.count("searches") > 0 }
      _ = try await test.store.list(nil, test.patience())
      bus.fake.tell("delete", ["path": path])
      try await changes.wait(for: .itemDeleted(id("Told.before", "a")))
    }
  }

  @Test("what is known of items is not asked for again, and not believed after a signal")
  func known() async throws {
    try await withStore { test, bus in
      let key = try id("Told.known")
      let entry = try await test.set(key, "value")
      _ = try await test.get(key)
      let asked = bus.fake.count("properties")
      for _ in 0..<5 {
        #expect(try await test.get(key) == "value")
        #expect(try await test.store.list(nil, test.patience()).map(\.version) == [entry.version])
      }
      #expect(bus.fake.count("properties") == asked)
      let item = try #require(bus.fake.items.first)
      var attributes = item.attributes
      attributes["version"] = "7"
      bus.fake.tell("describe", ["path": item.path, "attributes": attributes, "label": "theirs"])
      let read = try await test.store.read(key, test.patience())
      #expect(read?.entry.version == 7)
      #expect(read?.entry.label == "theirs")
      // No signal tells of a secret: it is read every time.
      bus.fake.change(item.path, "changed")
      #expect(try await test.get(key) == "changed")
    }
  }

  @Test("one of several items goes: the key is changed, not deleted")
  func oneOfTwo() async throws {
    try await withStore { test, bus in
      let changes = Changes(of: test)
      await test.store.start()
      let attributes = ["namespace": "Told", "name": "twice", "account": ""]
      bus.fake.add(attributes, "one")
      let path = bus.fake.add(attributes, "two")
      _ = try await test.store.list(nil, test.patience())
      bus.fake.tell("delete", ["path": path])
      bus.fake.tell("lock")
      try await changes.wait(for: .locked)
      #expect(try !changes.seen.contains(.itemDeleted(id("Told.twice"))))
    }
  }

  @Test("what we do ourselves is no news", arguments: [false, true])
  func ours(inKeyring: Bool) async throws {
    try await withStore { test, bus in
      if inKeyring { try bus.startKeyring() }
      let changes = Changes(of: test)
      let key = try id("Told.ours")
      for round in 0..<5 { try await test.set(key, "\(round)") }
      _ = try await test.clear(key)
      if inKeyring { try bus.lockKeyring() } else { bus.fake.tell("lock") }
      try await changes.wait(for: .locked)
      #expect(!changes.seen.contains(.itemChanged(key)))
      #expect(!changes.seen.contains(.itemDeleted(key)))
    }
  }

  @Test("what we do ourselves is no news either where the signals come after the answers")
  func oursLate() async throws {
    try await withStore { test, bus in
      bus.fake.set("signal_delay", 30)
      bus.fake.set("secret_signals", true)
      let changes = Changes(of: test)
      let key = try id("Told.late")
      for round in 0..<5 {
        try await test.set(key, "\(round)")
        // One of the earlier signals comes while the next set is under way, others between two.
        if round == 2 { try await until("the late signals") { bus.fake.tell("pending") as? Int == 0 } }
      }
      try await until("the late signals") { bus.fake.tell("pending") as? Int == 0 }
      #expect(try await test.get(key) == "4")
      _ = try await test.clear(key)
      try await until("the late signals") { bus.fake.tell("pending") as? Int == 0 }
      bus.fake.tell("lock")
      try await changes.wait(for: .locked)
      #expect(!changes.seen.contains(.itemChanged(key)))
      #expect(!changes.seen.contains(.itemDeleted(key)))
      #expect(!changes.seen.contains(.itemChanged(nil)))
    }
  }

  @Test("what others do to an item that we have just written is told")
  func othersAfterUs() async throws {
    try await withStore { test, bus in
      let changes = Changes(of: test)
      let key = try id("Told.others")
      try await test.set(key, "ours")
      let item = try #require(bus.fake.items.first)
      bus.fake.tell("describe", ["path": item.path, "attributes": item.attributes, "label": "theirs"])
      try await changes.wait(for: .itemChanged(key))
      try await test.set(key, "ours")
      bus.fake.set("secret_signals", true)
      bus.fake.change(item.path, "theirs")
      try await changes.wait(for: .itemChanged(key))
      try await test.set(key, "ours")
      bus.fake.add(["namespace": "Told", "name": "others"], "beside ours")
      try await changes.wait(for: .itemChanged(key))
    }
  }

  @Test("what others do to an item while we write it is told when that is done")
  func othersMeanwhile() async throws {
    try await withStore { test, bus in
      let changes = Changes(of: test)
      let key = try id("Told.meanwhile")
      try await test.set(key, "old")
      bus.fake.fault("GetSecrets", "late:100", times: 1)
      async let writing = test.set(key, "new")
      try await until("the secret's change") { bus.fake.count("set_secrets") >= 1 }
      bus.fake.add(["namespace": "Told", "name": "meanwhile"], "beside ours")
      _ = try await writing
      try await changes.wait(for: .itemChanged(key))
    }
  }

  @Test("who finds nothing because it was just deleted has been told of the deletion")
  func deletionFirst() async throws {
    try await withStore { test, bus in
      let changes = Changes(of: test)
      await test.store.start()
      try await changes.wait(for: .available)
      let key = try id("Told.deletion")
      for _ in 0..<10 {
        try await test.set(key, "value")
        let path = try #require(bus.fake.items.first).path
        bus.fake.fault("ReadAlias", "late:20", times: 1)
        bus.fake.tell("delete", ["path": path])
        #expect(try await test.get(key) == nil)
        #expect(changes.seen.contains(.itemDeleted(key)))
        try await changes.wait(for: .itemDeleted(key))
      }
    }
  }

  @Test("so has who finds nothing before the signal of the deletion comes")
  func deletionBeforeSignal() async throws {
    try await withStore { test, bus in
      let changes = Changes(of: test)
      await test.store.start()
      try await changes.wait(for: .available)
      let key = try id("Told.before")
      try await test.set(key, "value")
      bus.fake.set("signal_delay", 200)
      bus.fake.tell("delete", ["path": try #require(bus.fake.items.first).path])
      #expect(try await test.get(key) == nil)
      #expect(changes.seen.contains(.itemDeleted(key)))
      // Another provider's items are none that we saw.
      #expect(try await test.get(id("Told.never")) == nil)
      #expect(try !changes.seen.contains(.itemDeleted(id("Told.never"))))
    }
  }

  @Test("a list tells the size that a secret was last seen to have, not the one that we stored")
  func size() async throws {
    try await withStore { test, bus in
      let key = try id("Told.size")
      try await test.set(key, "four")
      #expect(try await test.store.list(nil, test.patience()).map(\.size) == [4])
      bus.fake.change(try #require(bus.fake.items.first).path, "longer than four")
      #expect(try await test.get(key) == "longer than four")
      #expect(try await test.store.list(nil, test.patience()).map(\.size) == [16])
      try await test.set(key, "again")
      #expect(try await test.store.list(nil, test.patience()).map(\.size) == [5])
    }
  }

  @Test("locks and unlocks are told, the status follows, and a thousand items make no flood")
  func locks() async throws {
    try await withStore { test, bus in
      bus.fake.tell("add-many", ["count": 1_000])
      let changes = Changes(of: test)
      await test.store.start()
      try await changes.wait(for: .available)
      bus.fake.tell("lock")
      try await changes.wait(for: .locked)
      #expect(test.store.status.state == .locked)
      bus.fake.tell("unlock")
      try await changes.wait(for: .unlocked)
      #expect(test.store.status.state == .available)
      #expect(changes.deliveries < 200)
    }
  }

  @Test(
    "a provider that did not answer in time is told to be available when it answers again, without a request")
  func answersAgain() async throws {
    try await withStore { test, bus in
      let changes = Changes(of: test)
      await test.store.start()
      try await changes.wait(for: .available)
      bus.fake.fault("SearchItems", "never")
      bus.fake.fault("ReadAlias", "late:150", times: 1)
      #expect(
        await test.failure { try await test.get(id("Told.late"), test.patience(0.05)) }?.outcome
          == .unavailable)
      try await changes.wait(for: .unavailable)
      try await changes.wait(for: .available)
    }
  }

  @Test("a provider that goes and comes, and a bus, are told without a request")
  func providers() async throws {
    try await withStore { test, bus in
      let changes = Changes(of: test)
      await test.store.start()
      try await changes.wait(for: .available)
      bus.fake.tell("release")
      try await changes.wait(for: .unavailable)
      #expect(test.store.status.detail.contains("gnome-keyring"))
      bus.fake.tell("acquire")
      try await changes.wait(for: .available)
      try bus.stopBus()
      try await changes.wait(for: .unavailable)
      try bus.startBus()
      try await changes.wait(for: .available)
      #expect(test.store.provider == "python3")
    }
  }
}

/// The changes that a store told.
@VaultActor
private final class Changes {
  private(set) var seen: [StoreChange] = []
  private(set) var deliveries = 0

  init(of test: StoreUnderTest) {
    test.store.onChange = { [weak self] changes in self?.take(changes) }
  }

  /// Waits until it is told, and forgets what was told up to it.
  func wait(for change: StoreChange) async throws {
    try await until("\(change)") { seen.contains(change) }
    if let index = seen.firstIndex(of: change) { seen.removeSubrange(...index) }
  }

  private func take(_ changes: [StoreChange]) {
    deliveries += 1
    seen += changes
  }
}
