// What a provider does to data, and to whose data: bytes come back as they were given, and no item of anybody
// else is touched.

import SecretServiceStore
import TestBus
import Testing
import VaultCore
import VaultModel

@Suite struct BytesTests {
  @Test(
    "a provider that changes bytes of 0x80 and above gives back every byte; text stays readable for others")
  func mangled() async throws {
    try await withStore { test, bus in
      bus.fake.set("mangle", true)
      let key = try id("Bytes.mangled")
      let high: [UInt8] = [0x7F, 0x80, 0x81, 0xFF]
      for _ in 0..<2 {
        try await test.set(key, high)
        #expect(try await test.bytes(key) == high)
      }
      let item = try #require(bus.fake.items.first)
      #expect(item.attributes["encoding"] == "base64")
      #expect(item.secret == Array("vaultd-base64:f4CB/w==".utf8))
      try await test.set(key, "plain")
      #expect(try await test.get(key) == "plain")
      #expect(bus.fake.items.first?.secret == Array("plain".utf8))
      #expect(bus.fake.items.first?.attributes["encoding"] == "")
      #expect(bus.fake.items.count == 1)
    }
  }

  @Test("nobody reads what a provider made of a value, also while it is being found out")
  func neverAltered() async throws {
    try await withStore { test, bus in
      let key = try id("Bytes.never")
      try await test.set(key, "old")
      bus.fake.set("mangle", true)
      bus.fake.fault("GetSecrets", "late:30")
      let high: [UInt8] = [0xC3, 0xFF, 0x00]
      async let writing: Entry = test.set(key, high)
      var seen = Set<[UInt8]>()
      for _ in 0..<10 { if let value = try await test.bytes(key) { seen.insert(value) } }
      _ = try await writing
      #expect(seen.isSubset(of: [Array("old".utf8), high]))
      bus.fake.tell("no-faults")
      #expect(try await test.bytes(key) == high)
    }
  }

  @Test("a value that looks like our own mark comes back as it was given")
  func mark() async throws {
    try await withStore { test, bus in
      let key = try id("Bytes.mark")
      try await test.set(key, "vaultd-base64:QUJD")
      #expect(try await test.get(key) == "vaultd-base64:QUJD")
      // Another program's item is read as it is.
      bus.fake.add(["namespace": "Bytes", "name": "foreign"], "vaultd-base64:QUJD")
      #expect(try await test.get(id("Bytes.foreign")) == "vaultd-base64:QUJD")
    }
  }

  @Test("content types that a provider refuses are not insisted upon", arguments: ["strict", "bytes"])
  func contentTypes(refused: String) async throws {
    try await withStore { test, bus in
      bus.fake.set("refuse", refused)
      let values: [[UInt8]] = [[0xFF, 0xFE, 0x00], Array("text".utf8), Array("grüße".utf8)]
      for (number, value) in values.enumerated() {
        let key = try id("Bytes.type\(number)")
        try await test.set(key, value)
        #expect(try await test.bytes(key) == value)
        try await test.set(key, value + value)
        #expect(try await test.bytes(key) == value + value)
      }
    }
  }

  @Test("text goes as text/plain, anything else as application/octet-stream")
  func types() async throws {
    try await withStore { test, bus in
      try await test.set(id("Bytes.text"), "grüße")
      try await test.set(id("Bytes.bytes"), [0xFF])
      let types = bus.fake.items.map { [$0.attributes["name"], $0.contentType] }
      #expect(types == [["text", "text/plain"], ["bytes", "application/octet-stream"]])
    }
  }

  @Test("a provider that accepts and forgets is found out")
  func forgets() async throws {
    try await withStore { test, bus in
      try await test.set(id("Bytes.kept"), "old")
      bus.fake.set("forget", true)
      #expect(await test.failure { try await test.set(id("Bytes.kept"), "new") }?.outcome == .unavailable)
      #expect(await test.failure { try await test.set(id("Bytes.new"), "new") }?.outcome == .unavailable)
      #expect(try await test.get(id("Bytes.kept")) == "old")
    }
  }

  @Test("an unencrypted session is used where it is allowed, and only there; the status shows it")
  func plain() async throws {
    try await withStore { test, bus in
      bus.fake.set("no_dh", true)
      bus.fake.add(["namespace": "Plain", "name": "key", "account": ""], "value")
      let failure = await test.failure { try await test.get(id("Plain.key")) }
      #expect(failure?.outcome == .unavailable)
      #expect(failure?.description.contains("--plain-session") == true)
      #expect(await test.failure { try await test.set(id("Plain.key"), "new") }?.outcome == .unavailable)
      let allowed = StoreUnderTest(plainSession: true)
      #expect(try await allowed.get(id("Plain.key")) == "value")
      try await allowed.set(id("Plain.key"), "new")
      #expect(try await allowed.get(id("Plain.key")) == "new")
      #expect(allowed.store.status.detail.contains("not encrypted"))
      await allowed.store.close()
    }
  }

  @Test("every item has the same attributes, and labels hold no password of a URL")
  func attributes() async throws {
    try await withStore { test, bus in
      try await test.set(id("https://u:pw@host.token"), "value")
      try await test.set(id("Bytes.token", "alice"), "value")
      let names = Set(bus.fake.items.map { $0.attributes.keys.sorted() })
      #expect(
        names == [
          [
            "account", "created", "encoding", "expires", "idle", "modified", "name", "namespace", "size",
            "until-logout", "version", "xdg:schema",
          ]
        ])
      #expect(bus.fake.items.map(\.label) == ["https://u@host.token", "Bytes.token (alice)"])
      #expect(bus.fake.items.allSatisfy { $0.attributes["xdg:schema"] == "org.vaultd.Token" })
    }
  }

  @Test("no account, account a and account b are three items, set in any order")
  func accounts() async throws {
    let orders = [
      ["", "a", "b"], ["", "b", "a"], ["a", "", "b"], ["a", "b", ""], ["b", "", "a"], ["b", "a", ""],
    ]
    try await withStore { test, bus in
      for order in orders {
        for account in order { try await test.set(id("Accounts.key", account), "of \(account)") }
        #expect(bus.fake.items.count == 3)
        for account in order { #expect(try await test.get(id("Accounts.key", account)) == "of \(account)") }
        for account in order { #expect(try await test.clear(id("Accounts.key", account))) }
        #expect(bus.fake.items.isEmpty)
      }
    }
  }

  @Test(
    "items of other programs with our attributes are entries: no account is the empty one, no version is 0"
  )
  func foreign() async throws {
    try await withStore { test, bus in
      bus.fake.add(
        ["namespace": "Foreign", "name": "token"], "theirs", label: "Their label", modified: 1_700_000_000)
      bus.fake.add(["namespace": "Foreign", "name": "token", "account": "a"], "of a")
      bus.fake.add(["service": "mail"], "unrelated")
      let token = try #require(try await test.store.read(id("Foreign.token"), test.patience()))
      #expect(token.entry.version == 0)
      #expect(token.entry.modified.seconds == 1_700_000_000)
      #expect(token.entry.label == "Their label")
      #expect(token.entry.size == 6)
      #expect(try await test.get(id("Foreign.token", "a")) == "of a")
      let all = try await test.store.list(nil, test.patience()).sorted { $0.id < $1.id }
      #expect(all.map(\.id) == [try id("Foreign.token"), try id("Foreign.token", "a")])
      #expect(all.map(\.size) == [6, 4])
      #expect(all.map(\.version) == [0, 0])
      #expect(all.first?.modified.seconds == 1_700_000_000)

      // Ours to write from now on, in place; what else they noted stays.
      try await test.set(id("Foreign.token"), "ours")
      #expect(bus.fake.items.count == 3)
      #expect(bus.fake.items.first?.attributes["account"] == "")
      #expect(try await test.clear(id("Foreign.token")))
      #expect(bus.fake.items.map(\.secret) == [Array("of a".utf8), Array("unrelated".utf8)])
    }
  }

  @Test("of several items of one key the one that was changed last counts; a clear removes all")
  func duplicates() async throws {
    try await withStore { test, bus in
      let attributes = ["namespace": "Twice", "name": "key", "account": ""]
      bus.fake.add(attributes, "old", modified: 1_700_000_000)
      bus.fake.add(attributes, "newest", modified: 1_700_000_200)
      bus.fake.add(["namespace": "Twice", "name": "key"], "newer", modified: 1_700_000_100)
      #expect(try await test.get(id("Twice.key")) == "newest")
      #expect(try await test.store.list(Namespace("Twice"), test.patience()).count == 1)
      try await test.set(id("Twice.key"), "set")
      #expect(try await test.get(id("Twice.key")) == "set")
      #expect(try await test.clear(id("Twice.key")))
      #expect(bus.fake.items.isEmpty)
    }
  }

  @Test(
    "a provider that refuses the attributes it made itself gets ours alone, and keeps the entry all the same")
  func ownAttributes() async throws {
    try await withStore { test, bus in
      bus.fake.set("own_attributes", true)
      let key = try id("Bytes.own")
      for value in ["first", "second", "grün", "third"] {
        let entry = try await test.set(key, value)
        #expect(try await test.store.read(key, test.patience())?.entry.version == entry.version)
        #expect(try await test.get(key) == value)
      }
      #expect(bus.fake.items.first?.attributes["encoding"] == "")
    }
  }

  @Test("an item without the secret that its size tells of was never stored")
  func torn() async throws {
    try await withStore { test, bus in
      bus.fake.add(["namespace": "Torn", "name": "key", "account": "", "size": "5"], "")
      #expect(try await test.get(id("Torn.key")) == nil)
      try await test.set(id("Torn.key"), "")
      #expect(try await test.get(id("Torn.key")) == "")
      #expect(bus.fake.items.count == 1)
    }
  }

  @Test(
    "a removal that the provider would ask about, or does not carry out, is a failure",
    arguments: ["never", "ignore"])
  func removal(how: String) async throws {
    try await withStore { test, bus in
      try await test.set(id("Removal.key"), "value")
      bus.fake.set("delete_prompt", how)
      #expect(await test.failure { try await test.clear(id("Removal.key")) }?.outcome == .unavailable)
      #expect(bus.fake.count("prompts") == 0)
      #expect(try await test.get(id("Removal.key")) == "value")
      bus.fake.set("delete_prompt", "")
      #expect(try await test.clear(id("Removal.key")))
    }
  }
}
