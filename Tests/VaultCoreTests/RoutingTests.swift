// Which store owns a key, and what is said where the owner can't be asked (behaviour.md, "The two stores").

import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultModel

/// A vault over fakes, and the words that tests use of it.
@VaultActor
struct Bench {
  let provider: FakeProvider
  let file: FakeFile
  let session: FakeSession
  let state: FakeState
  let clock: SettableClock
  let vault: Vault

  init(_ preference: StorePreference = .auto, file exists: Bool = true) {
    (provider, session, clock) = (FakeProvider(), FakeSession(), SettableClock())
    file = FakeFile(exists: exists, isUnlocked: exists)
    state = FakeState(clock: clock)
    vault = Vault(
      preference: preference, secretService: provider, file: file, session: session, state: state,
      clock: clock)
  }

  nonisolated static let away = VaultError.unavailable(store: .secretService, reason: "nobody answers")
  nonisolated static let closed = VaultError.locked(store: .secretService, reason: "the keyring is locked")

  @discardableResult
  func set(
    _ key: String, _ value: String, account: String = "", expires: Int64? = nil, expiresIn: Int64? = nil,
    idle: Int64? = nil, untilLogout: Bool = false, ifVersion: Version? = nil, lease: String? = nil,
    caller: CallerID? = nil
  ) async throws -> Entry {
    let request = SetRequest(
      id: try id(key, account), secret: try secret(value), expires: expires, expiresIn: expiresIn, idle: idle,
      untilLogout: untilLogout, ifVersion: ifVersion, lease: lease)
    return try await vault.set(request, caller: caller)
  }

  func secret(_ text: String) throws -> SharedSecret { SharedSecret(try SecretBytes(copying: text)) }

  func get(_ key: String, account: String = "", minValidity: Int64? = nil) async throws -> String {
    let request = GetRequest(id: try id(key, account), minValidity: minValidity)
    // As the daemon does it.
    if let sealed = vault.sealedToken(request.id) {
      // The short way has to lead where the long one does.
      let other = try #require(try vault.getAtOnce(request)?.get())
      #expect(try sealed.isAnswered(as: other))
    }
    if let token = try vault.getAtOnce(request)?.get() { return text(of: token) }
    return text(of: try await vault.get(request))
  }

  func text(of token: Token) -> String {
    token.secret.withBytes { bytes in
      String(decoding: (0..<bytes.count).map { bytes[$0] }, as: UTF8.self)
    }
  }

  /// Lets other jobs of the vault's actor run until something holds.
  func becomesTrue(_ condition: () async throws -> Bool) async rethrows -> Bool {
    for _ in 0..<10_000 {
      if try await condition() { return true }
      await Task.yield()
    }
    return false
  }

  /// The daemon ends and starts again, in the same run of the machine.
  func restarted(_ preference: StorePreference? = nil) async -> Bench {
    let bench = Bench(self, preference ?? vault.preference)
    await bench.vault.start()
    return bench
  }

  private init(_ old: Bench, _ preference: StorePreference) {
    (provider, file, session, state, clock) = (old.provider, old.file, old.session, old.state, old.clock)
    vault = Vault(
      preference: preference, secretService: provider, file: file, session: session, state: state,
      clock: clock)
  }

  /// The outcome of a get that is to fail.
  func outcome(_ key: String, minValidity: Int64? = nil) async throws -> Outcome? {
    try await outcome { _ = try await get(key, minValidity: minValidity) }
  }

  /// The outcome of a request that is to fail.
  func outcome(_ request: () async throws -> Void) async throws -> Outcome? {
    do {
      try await request()
      return nil
    } catch let error as VaultError {
      return error.outcome
    }
  }

  func clear(_ key: String) async throws -> Clearance {
    try await vault.clear(try id(key), ifVersion: nil)
  }

  func id(_ key: String, _ account: String = "") throws -> EntryID {
    EntryID(try Key(key), try Account(account))
  }
}

@Suite struct RoutingTests {
  init() { startVaultActor() }

  @Test("auto: a token goes into the Secret Service where one answers, and nowhere else")
  @VaultActor func providerFirst() async throws {
    let bench = Bench()
    try await bench.set("a.b", "v1")
    #expect(try await bench.get("a.b") == "v1")
    #expect(bench.provider.items.count == 1 && bench.file.items.isEmpty)
  }

  @Test("auto: a token goes into the file while no provider answers, pending, and replaces the older value")
  @VaultActor func fileMeanwhile() async throws {
    let bench = Bench()
    try await bench.set("a.b", "old")
    bench.provider.trouble = Bench.away
    let entry = try await bench.set("a.b", "new")
    #expect(entry.store == .file && entry.pending)
    #expect(try await bench.get("a.b") == "new")
    bench.provider.trouble = nil
    #expect(try await bench.get("a.b") == "new", "the keyring's older value does not come back")
  }

  @Test("auto: a pending value in a locked file is Locked, never the keyring's older value")
  @VaultActor func pendingInLockedFile() async throws {
    let bench = Bench()
    try await bench.set("a.b", "old")
    bench.provider.trouble = Bench.away
    try await bench.set("a.b", "new")
    bench.provider.trouble = nil
    bench.file.isUnlocked = false
    #expect(try await bench.outcome("a.b") == .locked)
  }

  @Test("auto: a set in the provider leaves no copy in the file, also when the file was locked then")
  @VaultActor func noCopyInFile() async throws {
    let bench = Bench()
    bench.provider.trouble = Bench.away
    try await bench.set("a.b", "old")
    bench.provider.trouble = nil
    bench.file.isUnlocked = false
    bench.clock.pass(milliseconds: 5)
    try await bench.set("a.b", "new")
    #expect(try await bench.get("a.b") == "new")
    let secret = SharedSecret(try SecretBytes(copying: "p"))
    try await bench.vault.unlock(.passphrase(secret))
    #expect(try await bench.get("a.b") == "new")
    #expect(bench.file.items.isEmpty)
  }

  @Test("auto: a copy in the file that can't be removed is never read again")
  @VaultActor func staleCopy() async throws {
    let bench = Bench()
    bench.provider.trouble = Bench.away
    try await bench.set("a.b", "old")
    bench.provider.trouble = nil
    bench.file.trouble = .unavailable(store: .file, reason: "the disk is full")
    bench.clock.pass(milliseconds: 5)
    try await bench.set("a.b", "new")
    #expect(bench.file.items.count == 1)
    #expect(try await bench.get("a.b") == "new")
  }

  @Test("a key whose provider can't be asked is never not found", arguments: [Bench.away, Bench.closed])
  @VaultActor func neverNotFound(trouble: VaultError) async throws {
    let bench = Bench()
    try await bench.set("a.b", "v")
    bench.clock.pass(milliseconds: Limits.cacheMilliseconds)
    bench.provider.trouble = trouble
    #expect(try await bench.outcome("a.b") == trouble.outcome)
    #expect(try await bench.outcome("never.set") == trouble.outcome, "a provider did answer with this state")
  }

  @Test(
    "without the state nothing is handed out: what was cleared may still be in its store",
    arguments: StorePreference.allCases)
  @VaultActor func withoutState(preference: StorePreference) async throws {
    let bench = Bench(preference)
    try await bench.set("a.kept", "kept")
    try await bench.set("a.cleared", "cleared")
    bench.provider.trouble = Bench.away
    bench.vault.lock()
    #expect(try await bench.clear("a.cleared").pending)
    bench.provider.trouble = nil
    try await bench.vault.unlock(.passphrase(bench.secret("p")))
    bench.state.unreadable = .unavailable(store: .state, reason: "it was written by a newer vaultd")
    for key in ["a.kept", "a.cleared"] { #expect(try await bench.outcome(key) == .unavailable, "\(key)") }
    bench.state.unreadable = nil
    #expect(try await bench.get("a.kept") == "kept")
    #expect(try await bench.outcome("a.cleared") == .notFound)
  }

  @Test("auto: where no provider ever answered, unknown keys belong to the file")
  @VaultActor func unknownKeysOfTheFile() async throws {
    let bench = Bench()
    bench.provider.trouble = Bench.away
    #expect(try await bench.outcome("never.set") == .notFound)
  }

  @Test("auto: no provider and no file is Unavailable, and says what to run")
  @VaultActor func neitherStore() async throws {
    let bench = Bench(file: false)
    bench.provider.trouble = Bench.away
    #expect(try await bench.outcome("never.set") == .unavailable)
    do {
      try await bench.set("a.b", "v")
      Issue.record("a set without a store succeeded")
    } catch let error as VaultError {
      #expect(error.outcome == .unavailable && error.description.contains("vault init"))
    }
    #expect(bench.state.all.isEmpty, "nothing is left on record")
  }

  @Test("a token that the provider lost is Unavailable with the date, until it is set or cleared")
  @VaultActor func lostByProvider() async throws {
    let bench = Bench()
    let entry = try await bench.set("a.b", "v")
    bench.provider.items = [:]
    bench.clock.pass(milliseconds: Limits.cacheMilliseconds)
    do {
      _ = try await bench.get("a.b")
      Issue.record("a lost token was found")
    } catch let error as VaultError {
      guard case .unavailable(_, _, let stored) = error else { throw error }
      #expect(stored == entry.modified)
    }
    _ = try await bench.clear("a.b")
    #expect(try await bench.outcome("a.b") == .notFound)
  }

  @Test("clear while the provider is away is pending, and the token is not found from then on")
  @VaultActor func clearOutOfReach() async throws {
    let bench = Bench()
    try await bench.set("a.b", "v")
    bench.provider.trouble = Bench.away
    #expect(try await bench.clear("a.b") == Clearance(cleared: 1, pending: true))
    #expect(try await bench.outcome("a.b") == .notFound)
    bench.provider.trouble = nil
    #expect(try await bench.outcome("a.b") == .notFound)
    bench.clock.pass(milliseconds: 1)
    try await bench.set("a.b", "again")
    #expect(try await bench.get("a.b") == "again")
  }

  @Test(
    "what was cleared while the Secret Service was left out does not come back from it, whatever was set since",
    arguments: [nil, Bench.away])
  @VaultActor func clearedTwiceInFile(trouble: VaultError?) async throws {
    let bench = Bench()
    try await bench.set("a.b", "old")
    bench.vault.preference = .file
    bench.provider.trouble = trouble
    #expect(try await bench.clear("a.b").pending)
    try await bench.set("a.b", "new")
    #expect(try await bench.get("a.b") == "new")
    #expect(try await bench.clear("a.b").pending)
    bench.vault.preference = .auto
    #expect(try await bench.outcome("a.b") == .notFound)
    #expect(try await bench.vault.list(nil).isEmpty)
    // The next sign of life of the provider, and what was owed to it is done.
    bench.provider.trouble = nil
    try await bench.set("c.d", "other")
    #expect(try await bench.outcome("a.b") == .notFound)
    #expect(await bench.becomesTrue { bench.provider.items.count == 1 })
  }

  @Test("where no provider ever answered, nothing is owed to one: a clear behind another is not pending")
  @VaultActor func clearedTwiceWithoutProvider() async throws {
    let bench = Bench(.file)
    try await bench.set("a.b", "old")
    bench.file.isUnlocked = false
    #expect(try await bench.clear("a.b").pending, "the file is closed")
    bench.file.isUnlocked = true
    #expect(try await bench.outcome("a.b") == .notFound)
    // What was left in the file goes.
    #expect(try await bench.clear("a.b") == Clearance(cleared: 1, pending: false))
    #expect(bench.state.isEmpty)
    try await bench.set("a.b", "new")
    #expect(try await bench.clear("a.b") == Clearance(cleared: 1, pending: false))
    #expect(try await bench.clear("a.b") == Clearance(cleared: 0, pending: false))
  }

  @Test("clear of a key that is known nowhere succeeds, with nothing pending")
  @VaultActor func clearNothing() async throws {
    let bench = Bench()
    #expect(try await bench.clear("a.b") == Clearance(cleared: 0, pending: false))
    bench.provider.trouble = Bench.closed
    #expect(try await bench.clear("a.c") == Clearance(cleared: 0, pending: false))
  }

  @Test("store=file: what is kept in the Secret Service is Unavailable there, not missing")
  @VaultActor func leftOutByFile() async throws {
    let bench = Bench()
    try await bench.set("a.b", "v")
    bench.vault.preference = .file
    let calls = bench.provider.calls
    #expect(try await bench.outcome("a.b") == .unavailable)
    #expect(try await bench.outcome("never.set") == .notFound)
    try await bench.set("a.b", "new")
    #expect(try await bench.get("a.b") == "new")
    #expect(bench.provider.calls == calls, "the Secret Service is not asked")
    bench.vault.preference = .secretService
    #expect(try await bench.outcome("a.b") == .unavailable)
  }

  @Test("store=secret-service: what it cannot do fails, and nothing goes into the file")
  @VaultActor func nothingElsewhere() async throws {
    let bench = Bench(.secretService)
    bench.provider.trouble = Bench.away
    await #expect(throws: VaultError.self) { try await bench.set("a.b", "v") }
    #expect(bench.file.items.isEmpty)
  }

  @Test("a write that fails leaves the old value, with nothing on record of the new one")
  @VaultActor func failedWrite() async throws {
    let bench = Bench(.secretService)
    try await bench.set("a.b", "old")
    let before = bench.state.all
    bench.provider.trouble = Bench.away
    await #expect(throws: VaultError.self) { try await bench.set("a.b", "new") }
    bench.provider.trouble = nil
    #expect(bench.state.all == before)
    #expect(try await bench.get("a.b") == "old")
  }

  @Test("versions grow with every change, also when the clock stands still or goes back")
  @VaultActor func versions() async throws {
    let bench = Bench()
    var last: Version = 0
    for round in 0..<20 {
      if round % 3 == 0 { bench.clock.wall = WallTime(milliseconds: 1_800_000_000_000 - Int64(round)) }
      let entry = try await bench.set("a.b", "v\(round)")
      #expect(entry.version > last)
      last = entry.version
      if round % 4 == 0 { _ = try await bench.clear("a.b") }
    }
  }

  @Test("logout clears exactly one namespace, of one account or of all")
  @VaultActor func logout() async throws {
    let bench = Bench()
    try await bench.set("Back4Gram.sessionToken", "1")
    try await bench.set("Back4Gram.other", "2", account: "alice")
    try await bench.set("Back4Gram2.sessionToken", "3")
    try await bench.set("Back4Gram.sub.sessionToken", "4")
    bench.provider.trouble = Bench.away
    try await bench.set("Back4Gram.third", "5", account: "bob")
    bench.provider.trouble = nil
    let namespace = try Namespace("Back4Gram")
    let alice = try await bench.vault.clearNamespace(namespace, account: try Account("alice"))
    #expect(alice == Clearance(cleared: 1, pending: false))
    let rest = try await bench.vault.clearNamespace(namespace, account: nil)
    #expect(rest == Clearance(cleared: 2, pending: false))
    let left = try await bench.vault.list(nil).map(\.id.key.text)
    #expect(left == ["Back4Gram.sub.sessionToken", "Back4Gram2.sessionToken"])
  }

  @Test("after lock every get and set is Locked, until unlock")
  @VaultActor func lock() async throws {
    let bench = Bench(file: false)
    try await bench.set("a.b", "v")
    bench.vault.lock()
    #expect(try await bench.outcome("a.b") == .locked)
    await #expect(throws: VaultError.self) { try await bench.set("a.b", "w") }
    try await bench.vault.unlock(nil)
    #expect(try await bench.get("a.b") == "v")
  }

  @Test("one damaged record is Damaged, its neighbour answers, and setting it anew repairs it")
  @VaultActor func damagedRecord() async throws {
    let bench = Bench(.file)
    try await bench.set("a.b", "v")
    try await bench.set("a.c", "w")
    bench.file.damaged = [try bench.id("a.b")]
    #expect(try await bench.outcome("a.b") == .damaged)
    #expect(try await bench.get("a.c") == "w")
    try await bench.set("a.b", "x")
    #expect(try await bench.get("a.b") == "x")
  }

  @Test("of slots that are removed at once the last one stays")
  @VaultActor func lastSlot() async throws {
    let bench = Bench(.file)
    bench.file.slotNumbers = [1, 2, 3]
    let removals = (1...3).map { number in
      Task { () -> Bool in
        do throws(VaultError) {
          try await bench.vault.removeSlot(Int64(number))
          return true
        } catch {
          return false
        }
      }
    }
    var removed = 0
    for removal in removals where await removal.value { removed += 1 }
    #expect(removed == 2)
    #expect(bench.file.slotNumbers.count == 1)
  }
}
