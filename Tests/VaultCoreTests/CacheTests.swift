// The cache of what was read from the Secret Service, and reads that are shared (behaviour.md, "The two stores", rule 5).

import SecretMemory
import TestSupport
import Testing
@testable import VaultCore
import VaultModel

@Suite struct CacheTests {
  init() { startVaultActor() }

  @Test("ten thousand gets of one token in a second ask the keyring twice at most")
  @VaultActor func fewCalls() async throws {
    let bench = Bench(.secretService)
    try await bench.set("a.b", "v")
    bench.provider.calls = 0
    for step in 0..<10_000 {
      #expect(try await bench.get("a.b") == "v")
      if step % 10 == 9 { bench.clock.pass(milliseconds: 1) }
    }
    #expect(bench.provider.calls <= 2)
  }

  @Test("gets that come at once share one read, and what it brings; those with and without a prompt do not")
  @VaultActor func shared() async throws {
    let bench = Bench(.secretService)
    try await bench.set("a.b", "v")
    bench.clock.pass(milliseconds: 1_000)
    bench.provider.calls = 0
    bench.provider.isHolding = true
    let gets = (0..<50).map { number in
      Task {
        let request = GetRequest(id: try bench.id("a.b"), interactive: number % 2 == 0)
        return bench.text(of: try await bench.vault.get(request))
      }
    }
    #expect(await bench.becomesTrue { bench.provider.waiting == 2 })
    bench.provider.release()
    for get in gets { #expect(try await get.value == "v") }
    #expect(bench.provider.calls == 2)
  }

  @Test(
    "a value is served from memory for less than a second after it was asked for, and then nowhere in memory")
  @VaultActor func age() async throws {
    let bench = Bench(.secretService)
    let entry = try await bench.set("a.b", "ours")
    bench.provider.items[entry.id] = Token(entry: entry, secret: try bench.secret("none"))
    bench.clock.pass(milliseconds: 999)
    #expect(try await bench.get("a.b") == "ours")
    bench.clock.pass(milliseconds: 1)
    #expect(try await bench.get("a.b") == "none", "a change of the secret alone is not announced")
  }

  @Test(
    "what the keyring tells is believed at once",
    arguments: [StoreChange.locked, .unavailable, .available, .unlocked, .itemChanged(nil)])
  @VaultActor func told(change: StoreChange) async throws {
    let bench = Bench(.secretService)
    await bench.vault.start()
    let entry = try await bench.set("a.b", "ours")
    bench.provider.items[entry.id] = Token(entry: entry, secret: try bench.secret("none"))
    #expect(try await bench.get("a.b") == "ours")
    bench.provider.onChange?([change])
    #expect(try await bench.get("a.b") == "none")
  }

  @Test("with the keyring locked nothing of it is served")
  @VaultActor func keyringLocked() async throws {
    let bench = Bench(.secretService)
    await bench.vault.start()
    try await bench.set("a.b", "v")
    bench.provider.trouble = Bench.closed
    bench.provider.onChange?([.locked])
    #expect(try await bench.outcome("a.b") == .locked)
    bench.provider.trouble = nil
    bench.provider.onChange?([.unlocked])
    #expect(try await bench.get("a.b") == "v", "and that it was locked is not remembered")
  }

  @Test("a read that was begun before a change of the key is told to nobody who asks after it, and not kept")
  @VaultActor func overtaken() async throws {
    let bench = Bench(.auto)
    try await bench.set("a.b", "old")
    bench.clock.pass(milliseconds: 1_000)
    bench.provider.isHolding = true
    let early = Task { try await bench.get("a.b") }
    #expect(await bench.becomesTrue { bench.provider.waiting == 1 })
    // The write does not get through, and goes into the file.
    let write = Task { try await bench.set("a.b", "new") }
    #expect(await bench.becomesTrue { bench.provider.waiting == 2 })
    bench.provider.release()
    _ = try await write.value
    #expect(["old", "new"].contains(try await early.value))
    #expect(try await bench.get("a.b") == "new")
    _ = try await bench.clear("a.b")
    #expect(try await bench.outcome("a.b") == .notFound)
  }

  @Test("a set that a lock overtakes is locked, whatever its stores said, and leaves nothing")
  @VaultActor func lockedMeanwhile() async throws {
    let bench = Bench(.auto)
    bench.provider.isHolding = true
    let write = Task { try await bench.outcome { try await bench.set("a.b", "v") } }
    #expect(await bench.becomesTrue { bench.provider.waiting == 1 })
    bench.vault.lock()
    bench.provider.trouble = Bench.away
    bench.provider.release()
    #expect(try await write.value == .locked)
    bench.provider.trouble = nil
    try await bench.vault.unlock(.passphrase(try bench.secret("p")))
    #expect(try await bench.outcome("a.b") == .notFound)
  }

  @Test("after lock the cache can't be read, and after unlock the keyring is asked again")
  @VaultActor func vaultLocked() async throws {
    let bench = Bench(.secretService, file: false)
    try await bench.set("a.b", "v")
    bench.vault.lock()
    #expect(try await bench.outcome("a.b") == .locked)
    bench.provider.calls = 0
    try await bench.vault.unlock(nil)
    #expect(try await bench.get("a.b") == "v")
    #expect(bench.provider.calls > 0)
  }

  @Test("nothing there is never remembered")
  @VaultActor func nothing() async throws {
    let bench = Bench(.secretService)
    #expect(try await bench.outcome("a.b") == .notFound)
    let id = try bench.id("a.b")
    bench.provider.items[id] = Token(
      entry: Entry(
        id: id, version: 0, created: bench.clock.wall, modified: bench.clock.wall, size: 1,
        store: .secretService),
      secret: try bench.secret("v"))
    #expect(try await bench.get("a.b") == "v")
  }

  @Test("the cache holds so many bytes and not one more")
  @VaultActor func limit() async throws {
    let clock = SettableClock()
    let cache = TokenCache(alarms: clock.alarms)
    func token(_ name: String, _ count: Int) throws -> Token {
      let entry = Entry(
        id: EntryID(try Key("a.\(name)")), version: 1, created: clock.wall, modified: clock.wall, size: count,
        store: .secretService)
      return Token(entry: entry, secret: SharedSecret(try SecretBytes(zeros: count)))
    }
    let (large, small) = (try token("large", Limits.cacheBytes - 10), try token("small", 10))
    cache.keep(large, readAt: clock.boot)
    cache.keep(small, readAt: clock.boot)
    #expect(cache.token(large.entry.id, now: clock.boot) != nil)
    #expect(cache.token(small.entry.id, now: clock.boot)?.secret.count == 10)
    cache.keep(try token("more", 1), readAt: clock.boot)
    #expect(cache.token(large.entry.id, now: clock.boot) == nil, "it begins anew")
    cache.keep(try token("huge", Limits.cacheBytes + 1), readAt: clock.boot)
    #expect(cache.token(EntryID(try Key("a.huge")), now: clock.boot) == nil)
  }
}
