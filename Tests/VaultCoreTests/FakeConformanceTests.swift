// The fakes that stand in for stores in the vault's tests keep the same promises as the stores.

import StoreConformance
import TestSupport
import Testing
import VaultCore

@Suite struct FakeConformanceTests {
  init() { startVaultActor() }

  @Test("the fake provider and the fake file conform")
  @VaultActor func fakes() async throws {
    try await checkConformance(of: FakeProvider(), clock: SettableClock())
    try await checkConformance(of: FakeFile(), clock: SettableClock())
  }
}
