// Every request ends (behaviour.md, "Waiting"), also where a store does not; and what was not acknowledged is said so.

import SecretMemory
import TestSupport
import Testing
@testable import VaultCore
import VaultModel

@Suite struct WaitingTests {
  init() { startVaultActor() }

  /// The longest that a request without a prompt may take.
  private static let plain = Int64(Limits.timeout) * 1_000 + Limits.graceMilliseconds

  @Test("a store that never ends ends no request late, and delays no request that does not need it")
  @VaultActor func hangingStore() async throws {
    let bench = Bench(.auto)
    try await bench.set("a.b", "v")
    bench.provider.trouble = Bench.away
    try await bench.set("a.pending", "in the file")
    bench.provider.trouble = nil
    bench.clock.pass(milliseconds: 1_000)
    bench.provider.isHolding = true
    let get = Task { try await bench.outcome("a.b") }
    let set = Task { try await bench.outcome { try await bench.set("a.c", "w") } }
    let list = Task { try await bench.outcome { _ = try await bench.vault.list(nil) } }
    #expect(await bench.becomesTrue { bench.provider.waiting >= 2 })
    #expect(try await bench.get("a.pending") == "in the file")
    #expect(bench.vault.storeStatuses.count == 3)
    #expect(try await list.value == nil)
    bench.clock.pass(milliseconds: Self.plain - 1)
    for _ in 0..<100 { await Task.yield() }
    bench.clock.pass(milliseconds: 1)
    #expect(try await get.value == .unavailable)
    #expect(try await set.value == .unavailable)
    bench.provider.release()
  }

  @Test("a change whose turn comes after its time is not begun")
  @VaultActor func lateTurn() async throws {
    let bench = Bench(.secretService)
    bench.provider.isHolding = true
    let first = Task { try await bench.outcome { try await bench.set("a.b", "first") } }
    #expect(await bench.becomesTrue { bench.provider.waiting == 1 })
    let second = Task { try await bench.outcome { try await bench.set("a.b", "second") } }
    let id = try bench.id("a.b")
    #expect(await bench.becomesTrue { bench.vault.turns.waitingCount(id) == 1 })
    bench.clock.pass(milliseconds: Self.plain)
    #expect(try await first.value == .unavailable)
    #expect(try await second.value == .unavailable)
    let writes = bench.provider.calls
    bench.provider.release()
    for _ in 0..<200 { await Task.yield() }
    #expect(bench.provider.calls == writes, "the second one is not written after it was refused")
    try await bench.set("a.b", "third")
    #expect(try await bench.get("a.b") == "third")
  }

  @Test("with a prompt on the screen a request has a minute, without one ten seconds")
  @VaultActor func prompt() async throws {
    let bench = Bench(.secretService)
    bench.provider.isHolding = true
    let id = try bench.id("a.b")
    let patient = Task { try await bench.outcome { _ = try await bench.vault.get(GetRequest(id: id)) } }
    let hasty = Task {
      try await bench.outcome { _ = try await bench.vault.get(GetRequest(id: id, interactive: false)) }
    }
    #expect(await bench.becomesTrue { bench.provider.waiting == 2 })
    bench.provider.isPrompting = true
    bench.clock.pass(milliseconds: Self.plain)
    #expect(try await hasty.value == .unavailable)
    bench.clock.pass(milliseconds: Int64(Limits.promptTimeout - Limits.timeout) * 1_000 - 1)
    for _ in 0..<100 { await Task.yield() }
    bench.clock.pass(milliseconds: 1)
    #expect(try await patient.value == .unavailable)
    bench.provider.release()
  }

  @Test(
    "a write whose outcome is unknown is looked into before its key has a version that anybody may rely on")
  @VaultActor func unknownOutcome() async throws {
    for didHappen in [true, false] {
      var bench = Bench(.secretService)
      let old = try await bench.set("a.b", "old")
      bench.provider.trouble = .unavailable(store: .secretService, reason: "it did not answer")
      bench.provider.writesInSpiteOfTrouble = true
      if !didHappen { bench.provider.writesInSpiteOfTrouble = false }
      let kept = bench.provider.items
      #expect(try await bench.outcome { try await bench.set("a.b", "newer") } == .unavailable)
      if !didHappen { bench.provider.items = kept }
      bench = await bench.restarted()
      bench.provider.trouble = nil
      bench.clock.pass(milliseconds: Limits.settleMilliseconds)
      bench.provider.onChange?([.available])
      let value = try await bench.get("a.b")
      #expect(value == (didHappen ? "newer" : "old"))
      let version = try await bench.vault.get(GetRequest(id: old.id)).entry.version
      #expect((version == old.version) == !didHappen, "another value has another version")
      #expect(await bench.becomesTrue { bench.state.all[old.id]?.intent == nil })
    }
  }

  @Test("a first write that did not happen leaves nothing behind")
  @VaultActor func firstWrite() async throws {
    let bench = Bench(.secretService)
    bench.provider.trouble = Bench.away
    bench.provider.writesInSpiteOfTrouble = true
    #expect(try await bench.outcome { try await bench.set("a.b", "v") } == .unavailable)
    bench.provider.items = [:]
    bench.provider.trouble = nil
    #expect(try await bench.outcome("a.b") == .notFound)
    #expect(bench.state.all.isEmpty)
  }

  @Test("a logout while the file is closed counts at once, and is carried out when it opens")
  @VaultActor func logoutOfClosedFile() async throws {
    var bench = Bench(.file)
    try await bench.set("a.b", "v", account: "x")
    try await bench.set("a.b", "v", account: "y")
    try await bench.set("b.c", "w")
    bench.file.isUnlocked = false
    bench = await bench.restarted()
    let gone = try await bench.vault.clearNamespace(try Namespace("a"), account: try Account("x"))
    #expect(gone.pending)
    #expect(try await bench.outcome { _ = try await bench.get("a.b", account: "x") } == .notFound)
    #expect(try await bench.outcome { _ = try await bench.get("a.b", account: "y") } == .locked)
    bench = await bench.restarted()
    try await bench.vault.unlock(.passphrase(try bench.secret("p")))
    #expect(try await bench.outcome { _ = try await bench.get("a.b", account: "x") } == .notFound)
    #expect(try await bench.get("a.b", account: "y") == "v")
    #expect(bench.file.items.count == 2 && bench.state.namespaceRemovals.isEmpty)
    try await bench.set("a.b", "again", account: "x")
    #expect(try await bench.get("a.b", account: "x") == "again")
  }

  @Test("an item that another program stored after a clear that is still to be carried out stays")
  @VaultActor func clearedThenChanged() async throws {
    let bench = Bench(.auto)
    let entry = try await bench.set("a.b", "ours")
    bench.provider.trouble = Bench.away
    #expect(try await bench.clear("a.b").pending)
    bench.provider.trouble = nil
    bench.provider.put(
      entry.id, try bench.secret("theirs"), at: WallTime(seconds: bench.clock.wall.seconds + 2))
    #expect(await bench.vault.settleAll())
    #expect(try await bench.get("a.b") == "theirs")
  }
}
