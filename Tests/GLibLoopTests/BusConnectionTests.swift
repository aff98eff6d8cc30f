// A connection to a real bus: calls and their limits, signals, and the bus's end.

import GLibLoop
import TestBus
import Testing

@Suite struct BusConnectionTests {
  private static let driver = "org.freedesktop.DBus"
  private static let path = "/org/freedesktop/DBus"

  @Test("a call is answered, and an answer of another type is an error")
  func call() async throws {
    try await TestBus.use { _ in
      try await onBus { bus in
        let names = try await bus.call(
          Self.driver, Self.path, Self.driver, "ListNames", reply: "(as)", by: .after(milliseconds: 5_000))
        #expect(names[0]?.texts.contains("org.freedesktop.secrets") == true)
        await #expect(throws: GLibError.self) {
          try await bus.call(
            Self.driver, Self.path, Self.driver, "ListNames", reply: "(s)", by: .after(milliseconds: 5_000))
        }
      }
    }
  }

  @Test("an error of the other side keeps its name, its domain and its code")
  func errors() async throws {
    try await TestBus.use { _ in
      try await onBus { bus in
        do {
          _ = try await bus.call(
            "org.nobody.Here", "/", "org.nobody.Here", "Nothing", reply: "()", by: .after(milliseconds: 5_000)
          )
          Issue.record("nobody answered")
        } catch let error as GLibError {
          #expect(error.remoteName == "org.freedesktop.DBus.Error.ServiceUnknown")
          #expect(error.description.hasSuffix("(g-dbus 2)"))
          #expect(!error.message.contains("GDBus.Error"))
        }
      }
    }
  }

  @Test("a call that is not answered ends at its deadline, and its late answer hurts nobody")
  func deadline() async throws {
    try await TestBus.use { test in
      test.fake.fault("ReadAlias", "late:200", times: 1)
      try await onBus { bus in
        let call = bus.begin(
          "org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.Secret.Service",
          "ReadAlias",
          .tuple([.string("default")]), reply: "(o)")
        await #expect(throws: GLibError.timedOut) { try await call.answer(by: .after(milliseconds: 20)) }
        #expect(call.isSent)
        let late = try await call.answer(by: .after(milliseconds: 5_000))
        #expect(late[0]?.string?.hasPrefix("/") == true)
      }
    }
  }

  @Test("a call that waited for room and was given up is never sent")
  func abandoned() async throws {
    try await TestBus.use { test in
      test.fake.fault("ReadAlias", "late:100", times: 1)
      try await onBus(limit: 1) { bus in
        @GLibActor func begin() -> BusCall {
          bus.begin(
            "org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.Secret.Service",
            "SearchItems",
            .tuple([.strings([:])]), reply: "(aoao)")
        }
        let first = bus.begin(
          "org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.Secret.Service",
          "ReadAlias",
          .tuple([.string("default")]), reply: "(o)")
        let second = begin()
        await #expect(throws: GLibError.timedOut) { try await second.answer(by: .after(milliseconds: 10)) }
        #expect(!second.isSent)
        let third = begin()
        _ = try await first.answer(by: .after(milliseconds: 5_000))
        _ = try await third.answer(by: .after(milliseconds: 5_000))
        #expect(!second.isSent)
      }
      #expect(test.fake.count("searches") == 1)
    }
  }

  @Test("signals come until the subscription is cancelled")
  func signals() async throws {
    try await TestBus.use { test in
      try await onBus { bus in
        let waiters = Waiters()
        var paths: [String] = []
        let subscription = bus.subscribe(
          sender: "org.freedesktop.secrets", interface: "org.freedesktop.Secret.Collection",
          member: "ItemCreated"
        ) { signal in
          paths.append(signal.parameters[0]?.string ?? "")
          waiters.wakeAll()
        }
        // An answer of the bus: it knows of the subscription.
        _ = try await bus.call(
          Self.driver, Self.path, Self.driver, "GetId", reply: "(s)", by: .after(milliseconds: 5_000))
        let path = test.fake.add(["a": "b"], "x")
        while paths.isEmpty { #expect(await waiters.wait(by: .after(milliseconds: 5_000))) }
        #expect(paths == [path])
        subscription.cancel()
        test.fake.add(["a": "b"], "x")
        _ = try await bus.call(
          "org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.Secret.Service",
          "ReadAlias",
          .tuple([.string("default")]), reply: "(o)", by: .after(milliseconds: 5_000))
        #expect(paths == [path])
      }
    }
  }

  @Test("a bus that ends is told once, ends the calls, and not the process")
  func closed() async throws {
    try await TestBus.use { test in
      try await onBus { bus in
        let waiters = Waiters()
        var closed = 0
        bus.onClosed = {
          closed += 1
          waiters.wakeAll()
        }
        test.fake.fault("ReadAlias", "never")
        let call = bus.begin(
          "org.freedesktop.secrets", "/org/freedesktop/secrets", "org.freedesktop.Secret.Service",
          "ReadAlias",
          .tuple([.string("default")]), reply: "(o)")
        try test.stopBus()
        if closed == 0 { #expect(await waiters.wait(by: .after(milliseconds: 5_000))) }
        #expect(closed == 1)
        #expect(!bus.isOpen)
        await #expect(throws: GLibError.self) { try await call.answer(by: .after(milliseconds: 5_000)) }
        await #expect(throws: GLibError.self) {
          try await bus.call(
            Self.driver, Self.path, Self.driver, "GetId", reply: "(s)", by: .after(milliseconds: 5_000))
        }
      }
      try test.startBus()
    }
  }

  private func onBus(
    limit: Int = 8, _ body: @GLibActor @Sendable (BusConnection) async throws -> Void
  ) async throws {
    try await body(await open(limit))
  }

  /// The old connection is GLib's until everybody has let go of it.
  private func open(_ limit: Int) async throws -> BusConnection {
    while true {
      let bus = try await BusConnection.open(.session, limit: limit)
      if await bus.isOpen { return bus }
    }
  }
}
