// A provider that changes bytes, and one that dies, at every moment of a change: nobody ever reads an altered value.

import SecretServiceStore
import TestBus
import TestSupport
import Testing
import VaultCore
import VaultModel

@Suite struct AlteringProviderTests {
  /// What is replaced by what, with what kind of provider.
  struct Scenario: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var setting: String
    var value: String = ""
    var old: [UInt8]?
    var new: [UInt8]
  }

  private static let high: [UInt8] = [0x7F, 0x80, 0x81, 0xFF, 0x00]

  static let scenarios = [
    Scenario(testDescription: "altered: a new key", setting: "mangle", new: high),
    Scenario(
      testDescription: "altered: bytes over text", setting: "mangle", old: Array("old".utf8), new: high),
    Scenario(
      testDescription: "altered: text over bytes", setting: "mangle", old: high, new: Array("new".utf8)),
    Scenario(testDescription: "kept: bytes over text", setting: "", old: Array("old".utf8), new: high),
    Scenario(
      testDescription: "kept: text over bytes", setting: "", old: high, new: Array("gr\u{FC}n\n".utf8)),
    Scenario(
      testDescription: "refused: bytes over text", setting: "refuse", value: "strict", old: Array("old".utf8),
      new: high),
  ]

  @Test("killed after any call of a set, the provider has the old value or the new", arguments: scenarios)
  func killed(scenario: Scenario) async throws {
    try await withStore { test, bus in
      let key = try id("Altering.killed")
      func prepare() {
        guard !scenario.setting.isEmpty else { return }
        bus.fake.set(scenario.setting, scenario.value.isEmpty ? true : scenario.value)
      }
      var deaths = 0
      for calls in 1...30 {
        bus.fake.tell("reset")
        prepare()
        // Nothing is known of the provider yet: it is another one to the store.
        try bus.restartFake()
        prepare()
        if let old = scenario.old { try await test.set(key, old) }
        try bus.restartFake()
        prepare()
        #expect(try await test.bytes(key) == scenario.old)
        bus.fake.set("crash_after", calls)
        let failure = await test.writeFailure { try await test.set(key, scenario.new) }
        if failure == nil { break }
        deaths += 1
        try bus.restartFake()
        prepare()
        let value = try await test.bytes(key)
        #expect(value == scenario.old || value == scenario.new, "after \(calls) calls: \(value ?? [])")
        // The next set makes it right.
        try await test.set(key, scenario.new)
        #expect(try await test.bytes(key) == scenario.new)
        #expect(bus.fake.items.count == 1)
      }
      #expect((3..<29).contains(deaths), "\(deaths)")
    }
  }

  @Test("what a provider keeps is found out once for each kind of bytes, and other programs read it as it is")
  func foundOutOnce() async throws {
    try await withStore { test, bus in
      let values: [[UInt8]] = [Array("gr\u{FC}n".utf8), [0x80, 0xFF], Array("a\nb\r\n".utf8), [0, 0x1B]]
      for value in values {
        let key = try id("Altering.once")
        try await test.set(key, value)
        #expect(bus.fake.items.first?.secret == value)
        #expect(bus.fake.items.first?.attributes["encoding"] == "")
        let sets = bus.fake.count("set_secrets")
        for _ in 0..<3 { try await test.set(key, value) }
        #expect(bus.fake.count("set_secrets") - sets == 3)
        #expect(bus.fake.items.first?.secret == value)
      }
    }
  }

  @Test("printable ASCII is never tried out: nothing would be safer")
  func plain() async throws {
    try await withStore { test, bus in
      let key = try id("Altering.plain")
      try await test.set(key, "eyJhbGciOiJIUzI1NiJ9.e30.x_-~ !")
      try await test.set(key, "next")
      #expect(bus.fake.count("creates") == 1)
      #expect(bus.fake.count("set_secrets") == 1)
    }
  }

  @Test("a secret that another program changes under our hands is not taken for an altering provider")
  func changedMeanwhile() async throws {
    try await withStore { test, bus in
      let key = try id("Altering.meanwhile")
      try await test.set(key, "old")
      let path = try #require(bus.fake.items.first).path
      bus.fake.fault("GetSecrets", "late:100", times: 1)
      async let writing = test.set(key, "new")
      try await until("the secret's change") { bus.fake.count("set_secrets") >= 1 }
      bus.fake.change(path, "theirs")
      _ = try await writing
      #expect(bus.fake.items.map(\.secret) == [Array("new".utf8)])
      try await test.set(key, Array("gr\u{FC}n".utf8))
      #expect(bus.fake.items.map(\.secret) == [Array("gr\u{FC}n".utf8)])
    }
  }
}
