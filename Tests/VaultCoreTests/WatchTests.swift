// Watching: who is told what, and what a slow watcher costs (behaviour.md; the interface's `Watch`).

import SecretMemory
import TestSupport
import Testing
@testable import VaultCore
import VaultModel

@Suite struct WatchTests {
  init() { startVaultActor() }

  @Test("changes are told in their order, to those who watch the key, its namespace, or everything")
  @VaultActor func filters() async throws {
    let bench = Bench(.file)
    let everything = bench.vault.watch(.everything)
    let namespace = bench.vault.watch(.namespace(try Namespace("a")))
    let key = bench.vault.watch(.key(try Key("a.b")))
    let first = try await bench.set("a.b", "v", account: "x")
    try await bench.set("a.c", "v")
    try await bench.set("a.b.c", "v")
    _ = try await bench.vault.clearNamespace(try Namespace("a"), account: nil)
    func told(_ watching: Watching) -> [String] {
      var lines: [String] = []
      while let event = watching.next() { lines.append("\(event.kind) \(event.id?.key.text ?? "-")") }
      return lines
    }
    #expect(told(everything) == ["set a.b", "set a.c", "set a.b.c", "cleared a.b", "cleared a.c"])
    #expect(told(namespace) == ["set a.b", "set a.c", "cleared a.b", "cleared a.c"])
    #expect(told(key) == ["set a.b", "cleared a.b"])
    let again = bench.vault.watch(.key(try Key("a.b")))
    let second = try await bench.set("a.b", "v", account: "x")
    let event = again.next()
    #expect(event == VaultEvent(.set, id: first.id, version: second.version, store: .file))
    again.end()
    try await bench.set("a.b", "w")
    #expect(again.next() == nil)
  }

  @Test("the end of a token is told when it comes, once, and to the millisecond")
  @VaultActor func expired() async throws {
    let bench = Bench(.file)
    let entry = try await bench.set("a.b", "v", expiresIn: 10)
    let watching = bench.vault.watch(.everything)
    bench.clock.pass(milliseconds: 9_999)
    #expect(watching.next() == nil)
    bench.clock.pass(milliseconds: 1)
    #expect(watching.next() == VaultEvent(.expired, id: entry.id, version: entry.version, store: .file))
    bench.vault.clockJumped()
    bench.clock.pass(milliseconds: 60_000)
    for _ in 0..<100 { await Task.yield() }
    #expect(watching.next() == nil)
  }

  @Test("what other programs do in the keyring is told")
  @VaultActor func otherPrograms() async throws {
    let bench = Bench(.auto)
    await bench.vault.start()
    let id = try bench.id("a.b")
    try await bench.set("a.b", "v")
    let watching = bench.vault.watch(.everything)
    bench.provider.put(
      id, try bench.secret("theirs"), at: WallTime(milliseconds: bench.clock.wall.milliseconds + 5_000))
    #expect(await bench.becomesTrue { watching.next()?.kind == .set })
    bench.provider.items[id] = nil
    bench.provider.onChange?([.itemDeleted(id)])
    #expect(await bench.becomesTrue { watching.next()?.kind == .cleared })
    #expect(try await bench.outcome("a.b") == .notFound)
    for (change, kind) in [
      (StoreChange.locked, VaultEvent.Kind.locked), (.unlocked, .unlocked), (.unavailable, .unavailable),
      (.available, .available),
    ] {
      bench.provider.onChange?([change])
      #expect(watching.next() == VaultEvent(kind, store: .secretService))
    }
    bench.vault.lock()
    #expect(watching.next() == VaultEvent(.locked))
    bench.vault.lock()
    #expect(watching.next() == nil)
  }

  @Test("of a pending change and a later one by another program the later one wins, and that is told as lost")
  @VaultActor func lost() async throws {
    let bench = Bench(.auto)
    await bench.vault.start()
    bench.provider.trouble = Bench.away
    let entry = try await bench.set("a.b", "ours")
    let watching = bench.vault.watch(.everything)
    bench.provider.trouble = nil
    bench.clock.pass(milliseconds: Limits.settleMilliseconds)
    bench.provider.put(
      entry.id, try bench.secret("theirs"), at: WallTime(seconds: entry.modified.seconds + 2))
    #expect(await bench.becomesTrue { watching.next()?.kind == .lost })
    #expect(try await bench.get("a.b") == "theirs")
    #expect(bench.file.items.isEmpty)
  }

  @Test("a watcher that takes nothing costs a bounded queue, and is told that it missed something")
  @VaultActor func slow() async throws {
    let bench = Bench(.file)
    let watching = bench.vault.watch(.everything)
    var calls = 0
    watching.onEvents = { calls += 1 }
    for step in 0..<Limits.watchEvents { try await bench.set("a.b", "\(step)") }
    #expect(calls == 1)
    #expect(watching.next()?.kind == .set, "so many are kept")
    try await bench.set("a.b", "x")
    try await bench.set("a.b", "y")
    #expect(watching.next() == VaultEvent(.lost), "one more is not")
    #expect(watching.next()?.kind == .set)
    #expect(watching.next() == nil)
    try await bench.set("a.b", "z")
    #expect(calls == 2)
  }
}
