// A logout of more keys than can be removed at once: in what order, how many at a time, and what becomes of the rest
// where nobody waits for it any more.

import TestSupport
import Testing
import VaultModel

@testable import VaultCore

@Suite struct LogoutTests {
  init() { startVaultActor() }

  private static let count = 2 * Limits.keysClearedAtOnce + 3

  /// A vault whose file has many keys of namespace `a`, and whose removals wait for `gate`.
  @VaultActor private static func bench(_ gate: Promise<Void>) async throws -> Bench {
    let bench = Bench(.file)
    for number in 0..<count { try await bench.set("a.k\(number)", "v") }
    try await bench.set("b.other", "other")
    bench.file.afterRemoval = { await gate.value() }
    return bench
  }

  @Test("a logout removes a bounded number of keys at once, in the file's order, and lets others be answered")
  @VaultActor func manyKeys() async throws {
    let gate = Promise<Void>()
    let bench = try await Self.bench(gate)
    let namespace = try Namespace("a")
    let order = try await bench.file.list(namespace, bench.vault.patience(interactive: false)).map(\.id)
    let watching = bench.vault.watch(.everything)
    let logout = Task { try await bench.vault.clearNamespace(namespace, account: nil) }
    #expect(await bench.becomesTrue { bench.file.removals.count >= Limits.keysClearedAtOnce })
    for _ in 0..<100 { await Task.yield() }
    #expect(bench.file.removals.count == Limits.keysClearedAtOnce)
    #expect(try await bench.get("b.other") == "other")
    try await bench.set("b.new", "new")
    #expect(watching.next()?.id == (try bench.id("b.new")))
    gate.resume()
    #expect(try await logout.value == Clearance(cleared: Self.count, pending: false))
    #expect(bench.file.removals == order)
    #expect(try await bench.vault.list(nil).map(\.id.key.text) == ["b.new", "b.other"])
  }

  @Test("each key of a logout has a version and an event of its own")
  @VaultActor func events() async throws {
    let bench = Bench(.file)
    for number in 0..<500 { try await bench.set("a.k\(number)", "v") }
    let watching = bench.vault.watch(.everything)
    _ = try await bench.vault.clearNamespace(try Namespace("a"), account: nil)
    var (keys, versions): (Set<EntryID>, Set<Version>) = ([], [])
    while let event = watching.next() {
      #expect(event.kind == .cleared)
      keys.insert(try #require(event.id))
      versions.insert(try #require(event.version))
    }
    #expect(keys.count == 500 && versions.count == 500)
  }

  @Test("a key that is stored after a logout was answered late stays")
  @VaultActor func late() async throws {
    let gate = Promise<Void>()
    let bench = try await Self.bench(gate)
    let logout = Task {
      try await bench.outcome { _ = try await bench.vault.clearNamespace(try Namespace("a"), account: nil) }
    }
    #expect(await bench.becomesTrue { bench.file.removals.count >= Limits.keysClearedAtOnce })
    let begun = Set(bench.file.removals)
    bench.clock.pass(milliseconds: Int64(Limits.timeout) * 1_000 + Limits.graceMilliseconds)
    #expect(try await logout.value == .unavailable)
    let left = try #require(try (0..<Self.count).first { !begun.contains(try bench.id("a.k\($0)")) })
    try await bench.set("a.k\(left)", "again")
    gate.resume()
    #expect(await bench.becomesTrue { begun.allSatisfy { bench.vault.turns.isFree($0) } })
    for _ in 0..<100 { await Task.yield() }
    #expect(try await bench.get("a.k\(left)") == "again")
    #expect(bench.file.removals.count == begun.count)
  }

  @Test("what was cleared while the file was being locked does not come back when it is opened")
  @VaultActor func lockedInTheMiddle() async throws {
    let bench = Bench(.file)
    for number in 0..<3 { try await bench.set("a.k\(number)", "v") }
    bench.file.trouble = .locked(store: .file, reason: "the vault was locked meanwhile")
    let namespace = try Namespace("a")
    #expect(try await bench.clear("a.k0") == Clearance(cleared: 0, pending: true))
    #expect(
      try await bench.vault.clearNamespace(namespace, account: nil) == Clearance(cleared: 0, pending: true))
    bench.file.trouble = nil
    #expect(try await bench.outcome("a.k0") == .notFound)
    #expect(try await bench.vault.list(namespace).isEmpty)
    try await bench.vault.unlock(.passphrase(bench.secret("p")))
    #expect(bench.file.items.isEmpty)
  }

  @Test("what a logout left in a locked file is removed side by side when that is opened")
  @VaultActor func opened() async throws {
    let gate = Promise<Void>()
    let bench = try await Self.bench(gate)
    bench.vault.lock()
    #expect(try await bench.vault.clearNamespace(try Namespace("a"), account: nil).pending)
    let unlock = Task { try await bench.vault.unlock(.passphrase(bench.secret("p"))) }
    #expect(await bench.becomesTrue { bench.file.removals.count >= Limits.keysClearedAtOnce })
    gate.resume()
    try await unlock.value
    #expect(bench.file.removals.count == Self.count && bench.state.namespaceRemovals.isEmpty)
  }

  @Test("what was cleared in a locked file is forgotten once that is opened, where no provider can have it")
  @VaultActor func nothingIsLeft() async throws {
    for providerAnswered in [false, true] {
      let bench = Bench(.file)
      try await bench.set("a.b", "v")
      try await bench.set("a.c", "v")
      if providerAnswered { try await bench.state.noteProvider() }
      bench.vault.lock()
      #expect(try await bench.clear("a.b").pending)
      #expect(!bench.state.isEmpty)
      try await bench.vault.unlock(.passphrase(bench.secret("p")))
      #expect(bench.file.items.count == 1)
      #expect(bench.state.isEmpty == !providerAnswered)
      #expect(try await bench.outcome("a.b") == .notFound)
      #expect(try await bench.get("a.c") == "v")
    }
  }

  /// A vault whose locked file has a key that was logged out.
  @VaultActor private static func owing() async throws -> Bench {
    let bench = Bench(.file)
    try await bench.set("a.b", "v")
    bench.vault.lock()
    #expect(try await bench.vault.clearNamespace(try Namespace("a"), account: nil).pending)
    return bench
  }

  @Test("what a logout left in a locked file is removed by a daemon that finds it open")
  @VaultActor func restarted() async throws {
    let bench = try await Self.owing()
    bench.file.isUnlocked = true
    let next = await bench.restarted()
    #expect(bench.file.items.isEmpty && next.state.namespaceRemovals.isEmpty)
  }

  @Test("what a logout left in a locked file is removed when that is had from another daemon")
  @VaultActor func takenOver() async throws {
    let bench = try await Self.owing()
    let next = await bench.restarted()
    #expect(!bench.file.items.isEmpty)
    bench.file.isUnlocked = true
    await bench.file.onOpened?()
    #expect(bench.file.items.isEmpty && next.state.namespaceRemovals.isEmpty)
  }
}
