// A lease and a change of the same key that is under way: what is granted in between must not be ended by a change of
// before it, or two callers renew.

import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultModel

@Suite struct LeaseRaceTests {
  init() { startVaultActor() }

  @Test("a lease that is asked for while a clear is under way outlives the clear", arguments: [false, true])
  @VaultActor func leaseDuringClear(conditional: Bool) async throws {
    let bench = Bench(.file)
    let id = try bench.id("QuickBlox.sessionToken")
    let stored = try await bench.set("QuickBlox.sessionToken", "refused")
    let vault = bench.vault
    var asked: Task<Renewal, any Error>?
    bench.file.afterRemoval = {
      asked = Task { @VaultActor in try await vault.refresh(RefreshRequest(id: id), caller: CallerID(2)) }
      // Jobs of the actor run in order: it has its turn before this one has its next.
      for _ in 0..<20 { await Task.yield() }
    }
    let version = conditional ? stored.version : nil
    _ = try await vault.clear(id, ifVersion: version, caller: CallerID(1))
    bench.file.afterRemoval = nil
    guard case .lease(let lease, _)? = try await asked?.value else {
      throw VaultError.denied(reason: "no lease was granted")
    }
    let secret = SharedSecret(try SecretBytes(copying: "renewed"))
    _ = try await vault.set(SetRequest(id: id, secret: secret, lease: lease), caller: CallerID(2))
    #expect(try await bench.get("QuickBlox.sessionToken") == "renewed")
  }

  @Test("of several that ask while a clear is under way one gets the lease, and the others its token")
  @VaultActor func severalDuringClear() async throws {
    let bench = Bench(.file)
    let id = try bench.id("QuickBlox.sessionToken")
    try await bench.set("QuickBlox.sessionToken", "refused")
    let vault = bench.vault
    var asked: [Task<Renewal, any Error>] = []
    bench.file.afterRemoval = {
      asked = (1...5).map { number in
        Task { @VaultActor in try await vault.refresh(RefreshRequest(id: id), caller: CallerID(number)) }
      }
      for _ in 0..<20 { await Task.yield() }
    }
    _ = try await vault.clear(id, ifVersion: nil, caller: CallerID(9))
    bench.file.afterRemoval = nil
    guard case .lease(let lease, _)? = try await asked.first?.value else {
      throw VaultError.denied(reason: "the first one got no lease")
    }
    let secret = SharedSecret(try SecretBytes(copying: "renewed"))
    _ = try await vault.set(SetRequest(id: id, secret: secret, lease: lease), caller: CallerID(1))
    for task in asked.dropFirst() {
      guard case .token(let token) = try await task.value else {
        throw VaultError.denied(reason: "a second lease")
      }
      #expect(token.secret.count == "renewed".utf8.count)
    }
  }
}
