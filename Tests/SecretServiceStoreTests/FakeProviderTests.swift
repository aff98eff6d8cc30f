// The store against a provider that does what it should.

import SecretMemory
import SecretServiceStore
import StoreConformance
import TestBus
import Testing
import VaultCore
import VaultModel

@Suite struct FakeProviderTests {
  @Test("what is set is read, what is cleared is gone")
  func roundTrip() async throws {
    try await withStore { test, bus in
      let key = try id("Back4Gram.sessionToken")
      #expect(try await test.get(key) == nil)
      try await test.set(key, "first")
      #expect(try await test.get(key) == "first")
      try await test.set(key, "second")
      #expect(try await test.get(key) == "second")
      #expect(bus.fake.items.count == 1)
      #expect(bus.fake.count("creates") == 1)
      #expect(try await test.clear(key))
      #expect(try await test.get(key) == nil)
      #expect(bus.fake.items.isEmpty)
    }
  }

  @Test("the fake provider keeps what every store promises")
  func conformance() async throws {
    try await withStore { test, bus in
      try await checkConformance(of: test.store, clock: test.clock)
      #expect(bus.fake.items.isEmpty)
      #expect(bus.fake.count("sessions") == 1)
    }
  }
}
