// Renewal and versions: one renews, the others wait, and nobody's newer value is lost (behaviour.md, "Renewal";
// cases.md, F and G).

import SecretMemory
import TestSupport
import Testing
@testable import VaultCore
import VaultModel

@Suite struct RenewalTests {
  init() { startVaultActor() }

  @Test(
    "of twenty callers with one expired token one renews, and nineteen get what it stored",
    arguments: StorePreference.allCases)
  @VaultActor func one(preference: StorePreference) async throws {
    let bench = Bench(preference)
    try await bench.set("a.b", "old", expiresIn: 1)
    bench.clock.pass(milliseconds: 1_000)
    let callers = (1...20).map { number in
      Task { () -> String in
        let caller = CallerID(UInt64(number))
        switch try await bench.refresh("a.b", caller) {
        case .token(let token): return bench.text(of: token)
        case .lease(let lease, let entry):
          #expect(entry?.size == 3)
          for _ in 0..<100 { await Task.yield() }
          try await bench.set("a.b", "new", expiresIn: 100, lease: lease, caller: caller)
          return "renewed"
        }
      }
    }
    var answers: [String: Int] = [:]
    for caller in callers { answers[try await caller.value, default: 0] += 1 }
    #expect(answers == ["new": 19, "renewed": 1])
  }

  @Test("a lease ends with its holder's connection, and the next in line gets it, as often as it takes")
  @VaultActor func holdersDie() async throws {
    let bench = Bench(.file)
    let callers = (1...5).map { CallerID($0) }
    guard case .lease(_, nil) = try await bench.refresh("a.b", callers[0]) else {
      Issue.record("a lease is granted where nothing is stored")
      return
    }
    var waiting: [Task<Renewal, any Error>] = []
    for caller in callers[1...] { waiting.append(try await bench.inLine("a.b", caller)) }
    bench.vault.left(callers[0])
    // The second one waits no longer and dies too, then the third one.
    guard case .lease = try await waiting[0].value else { return issue() }
    bench.vault.left(callers[1])
    guard case .lease(let lease, _) = try await waiting[1].value else { return issue() }
    try await bench.set("a.b", "v", lease: lease)
    for task in waiting[2...] {
      guard case .token(let token) = try await task.value else { return issue() }
      #expect(bench.text(of: token) == "v")
    }
    func issue() { Issue.record("somebody else was expected to renew") }
  }

  @Test("who leaves while waiting waits no longer, and gets no lease afterwards")
  @VaultActor func waiterLeaves() async throws {
    let bench = Bench(.file)
    guard case .lease(let lease, _) = try await bench.refresh("a.b", CallerID(1)) else { return }
    let waiter = try await bench.inLine("a.b", CallerID(2))
    bench.vault.left(CallerID(2))
    #expect(try await bench.outcome { _ = try await waiter.value } == .unavailable)
    bench.vault.giveUp(lease)
    guard case .lease = try await bench.refresh("a.b", CallerID(3)) else {
      Issue.record("the lease is free")
      return
    }
  }

  @Test("a caller that leaves while the keyring is asked for it is granted nothing")
  @VaultActor func leavesBeforeGrant() async throws {
    let bench = Bench(.secretService)
    bench.provider.isHolding = true
    let asking = Task { try await bench.outcome { _ = try await bench.refresh("a.b", CallerID(1)) } }
    #expect(await bench.becomesTrue { bench.provider.waiting == 1 })
    bench.vault.left(CallerID(1))
    bench.provider.release()
    #expect(try await asking.value == .unavailable)
    guard case .lease = try await bench.refresh("a.b", CallerID(2)) else {
      Issue.record("the lease is free")
      return
    }
  }

  @Test("a lease ends after a minute; its holder's set is then a Conflict, and the newer value stays")
  @VaultActor func lateHolder() async throws {
    let bench = Bench(.file)
    guard case .lease(let first, _) = try await bench.refresh("a.b", CallerID(1)) else { return }
    bench.clock.pass(milliseconds: Int64(Limits.leaseSeconds) * 1_000 - 1)
    let second = try await bench.inLine("a.b", CallerID(2))
    bench.clock.pass(milliseconds: 1)
    guard case .lease(let lease, _) = try await second.value else {
      Issue.record("the first lease is over")
      return
    }
    try await bench.set("a.b", "second", lease: lease)
    #expect(try await bench.outcome { try await bench.set("a.b", "first", lease: first) } == .conflict)
    #expect(try await bench.get("a.b") == "second")
  }

  @Test(
    "a log-in without the lease ends it, those who wait get its value, and the old holder's set is a Conflict"
  )
  @VaultActor func newLogin() async throws {
    let bench = Bench(.file)
    guard case .lease(let lease, _) = try await bench.refresh("a.b", CallerID(1)) else { return }
    let waiter = try await bench.inLine("a.b", CallerID(2))
    try await bench.set("a.b", "login", caller: CallerID(3))
    guard case .token(let token) = try await waiter.value else {
      Issue.record("the waiter gets the token")
      return
    }
    #expect(bench.text(of: token) == "login")
    #expect(try await bench.outcome { try await bench.set("a.b", "stale", lease: lease) } == .conflict)
    #expect(try await bench.get("a.b") == "login")
  }

  @Test("a log-out in the middle of a renewal is not undone by it; the holder itself may clear")
  @VaultActor func logout() async throws {
    let bench = Bench(.file)
    try await bench.set("a.b", "v", expiresIn: 1)
    bench.clock.pass(milliseconds: 1_000)
    guard case .lease(let lease, _) = try await bench.refresh("a.b", CallerID(1)) else { return }
    _ = try await bench.vault.clear(try bench.id("a.b"), ifVersion: nil, caller: CallerID(1))
    #expect(bench.vault.leases.isPresent(lease, of: try bench.id("a.b")))
    _ = try await bench.vault.clearNamespace(try Namespace("a"), account: nil, caller: CallerID(2))
    try await bench.set("a.b", "v", lease: lease)
    guard case .lease(let next, _) = try await bench.refresh("a.c", CallerID(1)) else { return }
    try await bench.set("a.c", "w", caller: CallerID(9))
    _ = try await bench.clear("a.c")
    #expect(try await bench.outcome { try await bench.set("a.c", "zombie", lease: next) } == .conflict)
    #expect(try await bench.outcome("a.c") == .notFound)
  }

  @Test("every waiter ends at its own time, whatever the holder does, and nobody gets an expired token")
  @VaultActor func ownTime() async throws {
    let bench = Bench(.file)
    try await bench.set("a.b", "old", expiresIn: 1)
    bench.clock.pass(milliseconds: 1_000)
    guard case .lease(let lease, _) = try await bench.refresh("a.b", CallerID(1)) else { return }
    let short = try await bench.inLine("a.b", CallerID(2), wait: 5)
    let long = try await bench.inLine("a.b", CallerID(3), wait: 50)
    bench.clock.pass(milliseconds: 4_999)
    // What is over already can't be stored.
    #expect(
      try await bench.outcome {
        try await bench.set("a.b", "over", expires: bench.clock.wall.seconds, lease: lease)
      } == .invalidArgument)
    bench.clock.pass(milliseconds: 1)
    #expect(try await bench.outcome { _ = try await short.value } == .unavailable)
    bench.vault.giveUp(lease)
    guard case .lease = try await long.value else {
      Issue.record("who waits longest renews next")
      return
    }
    #expect(
      try await bench.outcome { _ = try await bench.refresh("a.b", CallerID(4), wait: 0) } == .unavailable)
  }

  @Test("what is left of a token decides, and after a renewal by somebody else its value is taken as it is")
  @VaultActor func validity() async throws {
    let bench = Bench(.file)
    try await bench.set("a.b", "v", expiresIn: 60)
    guard case .token = try await bench.refresh("a.b", CallerID(1), minValidity: 60) else {
      Issue.record("sixty seconds are left")
      return
    }
    guard case .lease(let lease, let entry) = try await bench.refresh("a.b", CallerID(1), minValidity: 61)
    else {
      Issue.record("not sixty-one")
      return
    }
    #expect(entry?.expires != nil)
    let waiter = try await bench.inLine("a.b", CallerID(2), minValidity: 3_600)
    try await bench.set("a.b", "short", expiresIn: 30, lease: lease)
    guard case .token(let token) = try await waiter.value else {
      Issue.record("it was renewed, as well as that can be")
      return
    }
    #expect(bench.text(of: token) == "short")
  }

  @Test("a token that the keyring loses in the middle of a refresh is told as lost, at once")
  @VaultActor func lostMeanwhile() async throws {
    let bench = Bench(.secretService)
    await bench.vault.start()
    let id = try await bench.set("a.b", "v", expiresIn: 60).id
    bench.clock.pass(milliseconds: 1_000)
    bench.provider.isHolding = true
    var ended: Outcome??
    let asking = Task {
      ended = try await bench.outcome { _ = try await bench.refresh("a.b", CallerID(1), minValidity: 100) }
    }
    #expect(await bench.becomesTrue { bench.provider.waiting == 1 })
    // What this read brings is not kept, and the next one finds nothing.
    bench.provider.items = [:]
    bench.provider.onChange?([.itemChanged(id)])
    bench.provider.release()
    #expect(await bench.becomesTrue { ended != nil })
    bench.clock.pass(milliseconds: 11_000)
    _ = try await asking.value
    #expect(ended == .some(.unavailable))
  }

  // MARK: Versions

  @Test(
    "a change that names a version happens to that one or not at all", arguments: StorePreference.allCases)
  @VaultActor func conditions(preference: StorePreference) async throws {
    let bench = Bench(preference)
    let first = try await bench.set("a.b", "v1", ifVersion: 0)
    #expect(try await bench.outcome { try await bench.set("a.b", "again", ifVersion: 0) } == .conflict)
    let second = try await bench.set("a.b", "v2", ifVersion: first.version)
    #expect(second.version > first.version)
    for stale in [first.version, second.version + 1] {
      #expect(try await bench.outcome { try await bench.set("a.b", "x", ifVersion: stale) } == .conflict)
      #expect(
        try await bench.outcome { _ = try await bench.vault.clear(try bench.id("a.b"), ifVersion: stale) }
          == .conflict)
    }
    #expect(try await bench.get("a.b") == "v2")
    #expect(try await bench.vault.clear(try bench.id("a.b"), ifVersion: second.version).cleared == 1)
    #expect(
      try await bench.outcome { try await bench.set("a.b", "x", ifVersion: second.version) } == .conflict)
    let third = try await bench.set("a.b", "v3", ifVersion: 0)
    #expect(third.version > second.version, "not after a clear either")
  }

  @Test("a condition sees what another program stored in the keyring")
  @VaultActor func otherProgram() async throws {
    let bench = Bench(.secretService)
    let entry = try await bench.set("a.b", "ours")
    bench.provider.put(entry.id, try bench.secret("theirs"), at: WallTime(seconds: bench.clock.wall.seconds))
    #expect(
      try await bench.outcome { try await bench.set("a.b", "x", ifVersion: entry.version) } == .conflict)
    #expect(try await bench.get("a.b") == "theirs")
    let seen = try await bench.vault.get(GetRequest(id: entry.id)).entry
    #expect(seen.version > entry.version)
    #expect(try await bench.vault.list(nil).map(\.version) == [seen.version])
    try await bench.set("a.b", "x", ifVersion: seen.version)
    #expect(try await bench.get("a.b") == "x")
  }

  @Test("with the keyring locked a stale version is a Conflict, and the value is there when it is open again")
  @VaultActor func lockedMeanwhile() async throws {
    let bench = Bench(.secretService)
    let entry = try await bench.set("a.b", "v")
    bench.provider.trouble = Bench.closed
    #expect(
      try await bench.outcome { _ = try await bench.vault.clear(entry.id, ifVersion: entry.version - 1) }
        == .conflict)
    bench.provider.trouble = nil
    #expect(try await bench.get("a.b") == "v")
  }
}

extension Bench {
  func refresh(
    _ key: String, _ caller: CallerID, minValidity: Int64? = nil, wait: Int64? = nil
  ) async throws(VaultError) -> Renewal {
    let request = RefreshRequest(id: EntryID(try Key(key)), minValidity: minValidity, wait: wait)
    return try await vault.refresh(request, caller: caller)
  }

  /// Begins a refresh that has to wait, and returns when it is in line.
  func inLine(
    _ key: String, _ caller: CallerID, minValidity: Int64? = nil, wait: Int64? = nil
  ) async throws -> Task<Renewal, any Error> {
    let id = try id(key)
    let before = vault.leases.waiting(id)
    let task = Task { () throws -> Renewal in
      try await self.refresh(key, caller, minValidity: minValidity, wait: wait)
    }
    #expect(await becomesTrue { vault.leases.waiting(id) > before })
    return task
  }
}
