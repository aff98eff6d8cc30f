// Tokens until logout: in a store of their own, above all others while it is there, and gone with it (behaviour.md,
// "untilLogout").

import SecretMemory
import TestSupport
import Testing
@testable import VaultCore
import VaultModel

@Suite struct SessionTests {
  init() { startVaultActor() }

  @Test(
    "a token until logout is in the session store alone, survives a restart, and is NotFound afterwards",
    arguments: StorePreference.allCases)
  @VaultActor func untilLogout(preference: StorePreference) async throws {
    var bench = Bench(preference)
    try await bench.set("a.b", "kept before")
    let entry = try await bench.set("a.b", "v", untilLogout: true)
    #expect(entry.store == .session && entry.untilLogout)
    #expect(bench.provider.items.isEmpty && bench.file.items.isEmpty)
    #expect(try await bench.get("a.b") == "v")
    bench = await bench.restarted()
    #expect(try await bench.get("a.b") == "v")
    #expect(try await bench.vault.list(nil).map(\.store) == [.session])
    bench.session.end()
    #expect(try await bench.outcome("a.b") == .notFound, "what was there before does not come back")
    let next = try await bench.set("a.b", "w", untilLogout: true)
    #expect(next.version > entry.version)
  }

  @Test("a token that is kept again leaves the session store", arguments: StorePreference.allCases)
  @VaultActor func keptAgain(preference: StorePreference) async throws {
    let bench = Bench(preference)
    try await bench.set("a.b", "until logout", untilLogout: true)
    try await bench.set("a.b", "kept")
    #expect(bench.session.items.isEmpty)
    bench.session.end()
    #expect(try await bench.get("a.b") == "kept")
  }

  @Test("while the old copy can't be removed it is not read, neither before nor after the logout")
  @VaultActor func oldCopyAway() async throws {
    var bench = Bench(.auto)
    try await bench.set("a.b", "old")
    bench.provider.trouble = Bench.away
    try await bench.set("a.b", "v", untilLogout: true)
    #expect(try await bench.get("a.b") == "v")
    bench = await bench.restarted()
    #expect(try await bench.get("a.b") == "v")
    bench.session.end()
    #expect(try await bench.outcome("a.b") == .notFound)
    bench.provider.trouble = nil
    #expect(try await bench.outcome("a.b") == .notFound)
    #expect(await bench.vault.settleAll())
    #expect(bench.provider.items.isEmpty)
  }

  @Test("a crash between the new value and the end of the old one is finished at the next start")
  @VaultActor func cutOff() async throws {
    var bench = Bench(.auto)
    let entry = try await bench.set("a.b", "old")
    var newer = entry
    (newer.version, newer.store, newer.untilLogout) = (entry.version + 1, .session, true)
    bench.session.items[entry.id] = Token(entry: newer, secret: try bench.secret("v"))
    bench = await bench.restarted()
    #expect(try await bench.get("a.b") == "v")
    bench.session.end()
    #expect(try await bench.outcome("a.b") == .notFound)
  }

  @Test("while a newer value may be in a closed file, the session store's older one is not told")
  @VaultActor func closedFile() async throws {
    var bench = Bench(.file)
    let old = try await bench.set("a.b", "until logout", untilLogout: true)
    // The daemon was killed after the file had the new value, and before the old one was removed.
    try await bench.set("a.b", "kept")
    var marked = old
    marked.pending = true
    bench.session.items[old.id] = Token(entry: marked, secret: try bench.secret("until logout"))
    bench.file.isUnlocked = false
    bench = await bench.restarted()
    #expect(try await bench.outcome("a.b") == .locked)
    try await bench.vault.unlock(.passphrase(try bench.secret("p")))
    #expect(try await bench.get("a.b") == "kept")
    #expect(bench.session.items.isEmpty)
  }

  @Test("where there is no place for it, it is Unavailable, and the old value stays")
  @VaultActor func noPlace() async throws {
    let bench = Bench(.file)
    try await bench.set("a.b", "old")
    bench.session.trouble = .unavailable(store: .session, reason: "no runtime folder")
    #expect(try await bench.outcome { try await bench.set("a.b", "v", untilLogout: true) } == .unavailable)
    #expect(try await bench.get("a.b") == "old")
  }

  @Test(
    "while it can't be read nothing is not found, and what other stores have is told",
    arguments: [false, true])
  @VaultActor func unreadable(inProvider: Bool) async throws {
    let bench = Bench(inProvider ? .auto : .file)
    try await bench.set("a.kept", "kept")
    try await bench.set("a.b", "v", untilLogout: true)
    bench.session.trouble = .damaged(store: .session, reason: "session.db is damaged")
    #expect(try await bench.outcome("a.b") == .damaged)
    #expect(try await bench.get("a.kept") == "kept")
  }

  @Test("clear, logout and lock reach it, also while the vault is locked", arguments: [false, true])
  @VaultActor func clearing(locked: Bool) async throws {
    let bench = Bench(.file)
    try await bench.set("a.b", "v", untilLogout: true)
    try await bench.set("a.c", "w", untilLogout: true)
    try await bench.set("b.c", "x", untilLogout: true)
    try await bench.set("b.d", "kept", untilLogout: true)
    if locked {
      bench.vault.lock()
      #expect(try await bench.outcome("b.d") == .locked)
    }
    let one = try await bench.clear("b.c")
    let all = try await bench.vault.clearNamespace(try Namespace("a"), account: nil)
    #expect(one.pending == locked && all.pending == locked)
    if locked { try await bench.vault.unlock(.passphrase(try bench.secret("p"))) }
    for key in ["a.b", "a.c", "b.c"] { #expect(try await bench.outcome(key) == .notFound) }
    #expect(try await bench.get("b.d") == "kept")
    #expect(bench.session.items.count == 1)
    #expect(bench.state.namespaceRemovals.isEmpty)
  }
}
