// The store against the real thing: gnome-keyring on the tests' bus, and `secret-tool` as the other program.

import SecretServiceStore
import StoreConformance
import TestBus
import Testing
import VaultCore
import VaultModel

@Suite struct GnomeKeyringTests {
  @Test("gnome-keyring keeps what every store promises")
  func conformance() async throws {
    try await withStore { test, bus in
      try bus.startKeyring()
      try await checkConformance(of: test.store, clock: test.clock)
      let status = test.store.status
      #expect(status.state == .available)
      #expect(status.detail == "gnome-keyring-daemon, session encrypted")
    }
  }

  @Test("other programs find and read what we set, and nothing else is printed")
  func read() async throws {
    try await withStore { test, bus in
      try bus.startKeyring()
      try await test.set(id("Back4Gram.sessionToken"), "tok-1")
      let lookup = ["lookup", "namespace", "Back4Gram", "name", "sessionToken"]
      #expect(try bus.run("secret-tool", lookup) == ("tok-1", 0))
      try await test.set(id("Back4Gram.sessionToken"), "tok-2")
      #expect(try bus.run("secret-tool", lookup) == ("tok-2", 0))
    }
  }

  @Test(
    "what secret-tool stores is read, without an account as the empty one; what it replaces of ours is replaced"
  )
  func written() async throws {
    try await withStore { test, bus in
      try bus.startKeyring()
      let key = try id("Back4Gram.sessionToken")
      let theirs = ["store", "--label=x", "namespace", "Back4Gram", "name", "sessionToken"]
      _ = try bus.run("secret-tool", theirs, input: "theirs")
      #expect(try await test.get(key) == "theirs")
      try await test.set(key, "ours")
      #expect(try await test.get(key) == "ours")
      // gnome-keyring replaces an item that has more attributes than it was given.
      _ = try bus.run("secret-tool", theirs, input: "theirs again")
      #expect(try await test.get(key) == "theirs again")
      #expect(try await test.store.list(nil, test.patience()).map(\.id) == [key])
      #expect(try await test.clear(key))
      #expect(try bus.run("secret-tool", ["lookup", "namespace", "Back4Gram"]).1 == 1)
    }
  }

  @Test("an item of ours with an account never counts for another account, nor for none")
  func accounts() async throws {
    try await withStore { test, bus in
      try bus.startKeyring()
      try await test.set(id("Acc.key", "a"), "of a")
      #expect(try await test.get(id("Acc.key")) == nil)
      #expect(try await test.get(id("Acc.key", "b")) == nil)
      #expect(try await test.clear(id("Acc.key")) == false)
      #expect(try await test.get(id("Acc.key", "a")) == "of a")
    }
  }

  @Test("locked, also since the start of the daemon: Locked, never missing; nothing is written or removed")
  func locked() async throws {
    try await withStore { test, bus in
      try bus.startKeyring()
      let key = try id("Lock.key", "a")
      try await test.set(key, "value")
      try await test.set(id("Lock.key"), "value")
      _ = try bus.run(
        "secret-tool", ["store", "--label=x", "namespace", "Lock", "name", "theirs"], input: "theirs")
      for sinceStart in [false, true] {
        if sinceStart { try bus.startLockedKeyring() } else { try bus.lockKeyring() }
        let quiet = test.patience(interactive: false)
        for key in [key, try id("Lock.key"), try id("Lock.theirs")] {
          #expect(await test.failure { try await test.get(key, quiet) }?.outcome == .locked)
          #expect(await test.failure { try await test.set(key, "new", quiet) }?.outcome == .locked)
          #expect(await test.failure { try await test.clear(key) }?.outcome == .locked)
        }
        #expect(try await test.get(id("Lock.never"), quiet) == nil)
        let none = try id("Lock.theirs", "a")
        #expect(try await test.get(none, quiet) == nil)
        #expect(await test.failure { try await test.store.list(nil, quiet) }?.outcome == .locked)
        #expect(test.store.status.state == .locked)
        // Without a display the prompter ends at once: dismissed.
        #expect(await test.failure { try await test.get(key) }?.outcome == .locked)
      }
      try bus.startKeyring(fresh: false)
      #expect(try await test.get(key) == "value")
      #expect(try await test.get(id("Lock.theirs")) == "theirs")
    }
  }

  @Test("killed at any moment of an update, it keeps the old or the new", arguments: 0..<6)
  func killed(round: Int) async throws {
    try await withStore { test, bus in
      try bus.startKeyring()
      let key = try id("Kill.key")
      try await test.set(key, "0")
      let writing = Task { @VaultActor in
        var last = 0
        while last < 10_000 {
          do { try await test.set(key, "\(last + 1)", test.patience(1, interactive: false)) } catch { break }
          last += 1
        }
        return last
      }
      for _ in 0..<(1 + 3 * round) { _ = try await test.get(key) }
      try bus.killKeyring()
      let acknowledged = await writing.value
      try bus.startKeyring(fresh: false)
      let value = try await test.get(key)
      #expect(value == "\(acknowledged)" || value == "\(acknowledged + 1)")
    }
  }
}
