// What is owed to the Secret Service is done when it answers again (behaviour.md, "The two stores").

import SecretMemory
import TestSupport
import Testing
import VaultModel

@testable import VaultCore

@Suite struct SettlingTests {
  init() { startVaultActor() }

  @Test("a pending value moves into the Secret Service, under its version, and leaves the file")
  @VaultActor func move() async throws {
    let bench = Bench()
    bench.provider.trouble = Bench.away
    let entry = try await bench.set("a.b", "v")
    bench.provider.trouble = nil
    #expect(await bench.vault.settleAll())
    #expect(bench.file.items.isEmpty)
    #expect(bench.provider.items.values.map(\.entry.version) == [entry.version])
    #expect(try await bench.get("a.b") == "v")
  }

  @Test("a removal that was owed is carried out, and nothing is left on record")
  @VaultActor func removal() async throws {
    let bench = Bench()
    try await bench.set("a.b", "v")
    bench.provider.trouble = Bench.closed
    #expect(try await bench.clear("a.b").pending)
    bench.provider.trouble = nil
    #expect(await bench.vault.settleAll())
    #expect(bench.provider.items.isEmpty && bench.state.all.isEmpty)
  }

  @Test("of a pending value and a later change in the keyring the later one wins")
  @VaultActor func laterChange() async throws {
    let bench = Bench()
    bench.provider.trouble = Bench.away
    let entry = try await bench.set("a.b", "ours")
    var later = entry
    later.version += 5_000
    later.store = .secretService
    bench.provider.items[entry.id] = Token(
      entry: later, secret: SharedSecret(try SecretBytes(copying: "theirs")))
    bench.provider.trouble = nil
    #expect(await bench.vault.settleAll())
    #expect(try await bench.get("a.b") == "theirs")
    #expect(bench.file.items.isEmpty)
  }

  @Test("a set that waited for its turn is later than what it waited for, whatever the date of that")
  @VaultActor func waitedForItsTurn() async throws {
    let bench = Bench()
    let id = try bench.id("a.b")
    bench.provider.isHolding = true
    let first = Task { try await bench.set("a.b", "first") }
    #expect(await bench.becomesTrue { bench.provider.waiting == 1 })
    let second = Task { try await bench.set("a.b", "second") }
    for _ in 0..<100 { await Task.yield() }
    bench.provider.afterWrite = {
      // The first is stored two seconds after the second was asked for; then the provider goes away.
      bench.provider.changes[id] = bench.clock.wall
      bench.provider.trouble = Bench.away
    }
    bench.clock.pass(milliseconds: 2_000)
    bench.provider.release()
    _ = try await first.value
    #expect(try await second.value.pending)
    (bench.provider.afterWrite, bench.provider.trouble) = (nil, nil)
    bench.clock.pass(milliseconds: Limits.settleMilliseconds)
    #expect(await bench.vault.settleAll())
    #expect(try await bench.get("a.b") == "second")
  }

  @Test(
    "a removal that is carried out late takes nothing that came after it, also where a crash cut its record off"
  )
  @VaultActor func newerThanRemoval() async throws {
    var bench = Bench()
    let old = try await bench.set("a.b", "old")
    bench.provider.trouble = Bench.away
    #expect(try await bench.clear("a.b").pending)
    let removed = bench.state.all[old.id]
    bench.clock.pass(milliseconds: 5)
    try await bench.set("a.b", "new")
    // The daemon was killed after the file had the value, and before the state said so.
    bench.state.all[old.id] = removed
    bench = await bench.restarted()
    #expect(try await bench.get("a.b") == "new")
    bench.provider.trouble = nil
    bench.clock.pass(milliseconds: Limits.settleMilliseconds)
    #expect(await bench.vault.settleAll())
    #expect(try await bench.get("a.b") == "new")
    #expect(bench.file.items.isEmpty && bench.provider.items.count == 1)
  }

  @Test("what the provider refuses stays where it is, and is owed")
  @VaultActor func refused() async throws {
    let bench = Bench()
    bench.provider.trouble = Bench.away
    try await bench.set("a.b", "v")
    #expect(await bench.vault.settleAll() == false)
    #expect(bench.file.items.count == 1)
    #expect(try await bench.get("a.b") == "v")
  }

  @Test(
    "what the provider refuses keeps nothing else from being done, and is tried again by itself, ever more seldom"
  )
  @VaultActor func refusedAlone() async throws {
    let bench = Bench()
    let removed = try await bench.set("a.removed", "v").id
    bench.provider.trouble = Bench.away
    let refused = try await bench.set("a.refused", "v").id
    try await bench.set("a.taken", "v")
    _ = try await bench.clear("a.removed")
    bench.provider.trouble = nil
    bench.provider.refused = [refused, removed]
    await bench.vault.start()
    bench.provider.onChange?([.available])
    try await until("what was kept is settled") { bench.provider.items.count >= 2 && !bench.vault.isSettling }
    #expect(try Set(bench.provider.items.keys) == [removed, bench.id("a.taken")])

    for seconds: Int64 in [2, 4] {
      let calls = bench.provider.calls
      bench.clock.pass(milliseconds: seconds * 1_000 - 1)
      bench.clock.alarms.ring()
      #expect(!bench.vault.isSettling)
      bench.clock.pass(milliseconds: 1)
      bench.clock.alarms.ring()
      try await until("what was kept is settled") { !bench.vault.isSettling }
      #expect(bench.provider.calls > calls)
    }
    bench.provider.refused = []
    bench.clock.pass(milliseconds: 8_000)
    bench.clock.alarms.ring()
    try await until("what was kept is settled") { !bench.vault.isSettling }
    #expect(try Set(bench.provider.items.keys) == [refused, bench.id("a.taken")])
    #expect(bench.file.items.isEmpty)
  }

  @Test("word of a deletion that comes after a later set is not about what was set")
  @VaultActor func deletedBefore() async throws {
    let bench = Bench()
    await bench.vault.start()
    let entry = try await bench.set("a.b", "old")
    var later = entry
    later.version += 1
    await bench.vault.turns.take(entry.id) {
      // Told in the middle of a set, which then comes to its end.
      bench.provider.onChange?([.itemDeleted(entry.id)])
      try? await bench.state.keep(
        StateRecord(id: entry.id, version: later.version, standing: .present(later)))
    }
    await bench.vault.turns.take(entry.id) {}
    #expect(bench.state.all[entry.id]?.version == later.version)
  }

  @Test("an item that another program deletes while we watch is a clear")
  @VaultActor func deletedElsewhere() async throws {
    let bench = Bench()
    await bench.vault.start()
    let entry = try await bench.set("a.b", "v")
    bench.provider.items = [:]
    bench.provider.onChange?([.itemDeleted(entry.id)])
    try await until("the clear is known") { bench.state.all[entry.id] == nil }
    #expect(try await bench.outcome("a.b") == .notFound)
    let again = try await bench.set("a.b", "w")
    #expect(again.version > entry.version)
  }
}
