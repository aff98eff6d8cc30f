// A daemon that is killed in the middle of a write into the Secret Service: afterwards the key has the old entry or the
// new one, secret, end, idle time and label, whatever was there before and however alike the secrets are.

import SecretMemory
import TestSupport
import Testing
import VaultModel

@testable import VaultCore

@Suite struct CutOffTests {
  init() { startVaultActor() }

  /// What is set and what is read.
  struct Value: Hashable, Sendable {
    var secret: String
    var label: String?
    var expires: Int64?
    var idle: Int64?
  }

  static let old = Value(secret: "old-1", label: "old", expires: 4_000_000_001, idle: 600)
  static let new = Value(secret: "new-1", label: "new", expires: 4_000_000_002, idle: 60)
  static let longer = Value(secret: "new-longer", label: "new", expires: 4_000_000_002, idle: 60)

  @VaultActor private func id() throws -> EntryID { EntryID(try Key("a.b")) }

  @VaultActor private func set(_ value: Value, _ bench: Bench) async throws {
    bench.clock.pass(milliseconds: 5)
    _ = try await bench.vault.set(
      SetRequest(
        id: try id(), secret: try bench.secret(value.secret), expires: value.expires, idle: value.idle,
        label: value.label))
  }

  /// Begins to set a value, comes so far, and starts anew.
  @VaultActor private func cutOff(
    _ value: Value, _ reach: FakeProvider.Reach, _ bench: Bench
  ) async throws -> Bench {
    bench.provider.cutsOff = reach
    #expect(try await bench.outcome { try await set(value, bench) } == .unavailable)
    bench.provider.cutsOff = nil
    return await bench.restarted()
  }

  @VaultActor private func get(_ bench: Bench) async throws -> (value: Value, entry: Entry) {
    let token = try await bench.vault.get(GetRequest(id: try id()))
    let entry = token.entry
    #expect(entry.size == token.secret.count)
    let value = Value(
      secret: bench.text(of: token), label: entry.label,
      expires: entry.expires.map { $0.milliseconds / 1_000 },
      idle: entry.idle)
    return (value, entry)
  }

  /// What was there before a write.
  enum Before: CaseIterable, Sendable {
    case nothing, ours, others, othersUnseen, oursForgotten, expired
  }

  @VaultActor private func prepare(_ before: Before, _ bench: Bench) async throws -> Value? {
    switch before {
    case .nothing: return nil
    case .ours: try await set(Self.old, bench)
    case .others, .othersUnseen:
      bench.provider.put(try id(), try bench.secret("old-1"), at: bench.clock.wall)
      if before == .others { _ = try await get(bench) }
      return Value(secret: "old-1")
    case .oursForgotten:
      try await set(Self.old, bench)
      bench.state.all = [:]
    case .expired:
      try await set(Self.old, bench)
      guard case .present(var entry) = bench.state.all[try id()]?.standing else { return nil }
      entry.isPurged = true
      bench.state.all[entry.id] = StateRecord(id: entry.id, version: entry.version, standing: .expired(entry))
      bench.provider.items = [:]
      return nil
    }
    return Self.old
  }

  @Test(
    "cut off anywhere it leaves the old entry or the new one, whole",
    arguments: FakeProvider.Reach.allCases, Before.allCases)
  @VaultActor func whole(reach: FakeProvider.Reach, before: Before) async throws {
    for new in [Self.new, Self.longer] {
      var bench = Bench(.secretService)
      let old = try await prepare(before, bench)
      bench = try await cutOff(new, reach, bench)
      let intended = bench.state.all[try id()]?.intent?.entry.version
      if reach == .nothing, old == nil {
        #expect(try await bench.outcome("a.b") == (before == .expired ? .expired : .notFound))
        #expect(bench.state.all[try id()]?.intent == nil)
        continue
      }
      for _ in 0..<2 {
        let (value, entry) = try await get(bench)
        #expect(value == (reach == .nothing ? old : new))
        #expect((entry.version == intended) == (reach != .nothing))
        let record = try #require(bench.state.all[try id()])
        #expect(record.intent == nil && record.version == entry.version)
        bench.vault.forgetReads()
      }
    }
  }

  @Test(
    "without the key of that session the earlier end counts, and the version is a new one; sizes that differ tell",
    arguments: [true, false])
  @VaultActor func keyGone(hasOther: Bool) async throws {
    for reach in [FakeProvider.Reach.nothing, .secret] {
      var bench = Bench(.secretService)
      try await set(Self.old, bench)
      bench = try await cutOff(Self.new, reach, bench)
      let known = try #require(bench.state.all[try id()])
      bench.session.loseKey()
      // The next session has another one, by which nothing is told of what came before.
      if hasOther { try await bench.set("a.other", "v") }
      let (value, entry) = try await get(bench)
      #expect(value.secret == (reach == .nothing ? Self.old : Self.new).secret)
      #expect(value.expires == Self.old.expires && value.idle == Self.new.idle)
      #expect(entry.version > known.intent?.entry.version ?? .max)
      #expect(bench.state.all[try id()]?.standing == .present(entry))
    }
    for reach in FakeProvider.Reach.allCases {
      var bench = Bench(.secretService)
      try await set(Self.old, bench)
      bench = try await cutOff(Self.longer, reach, bench)
      bench.session.loseKey()
      #expect(try await get(bench).value == (reach == .nothing ? Self.old : Self.longer))
    }
  }

  @Test("where there is no place for a key nothing fails, and a write is told by its size")
  @VaultActor func noPlace() async throws {
    var bench = Bench(.secretService)
    bench.session.keepsKey = false
    try await set(Self.old, bench)
    bench = try await cutOff(Self.new, .secret, bench)
    let intent = try #require(bench.state.all[try id()]?.intent)
    #expect(intent.fingerprint == nil)
    let (value, entry) = try await get(bench)
    #expect(value.secret == Self.new.secret && value.expires == Self.old.expires)
    #expect(entry.version > intent.entry.version)
  }

  @Test(
    "what another program put over either is neither, with a version of its own and the end that was told")
  @VaultActor func neither() async throws {
    for reach in FakeProvider.Reach.allCases {
      var bench = Bench(.secretService)
      try await set(Self.old, bench)
      bench = try await cutOff(Self.new, reach, bench)
      let known = try #require(bench.state.all[try id()])
      var theirs = try #require(bench.provider.items[try id()]).entry
      let secret = try bench.secret("theirs, of another size")
      theirs.size = secret.count
      bench.provider.items[try id()] = Token(entry: theirs, secret: secret)
      let (value, entry) = try await get(bench)
      let ours = reach == .all ? Self.new : Self.old
      #expect(
        value
          == Value(
            secret: "theirs, of another size", label: ours.label, expires: ours.expires, idle: ours.idle))
      #expect(entry.version != known.version && entry.version != known.intent?.entry.version)
    }
  }

  // MARK: The next write

  @Test("the next write finds out about the one before it: what is left is of one of them, whole")
  @VaultActor func next() async throws {
    let third = Value(secret: "3rd-1", label: "third", expires: 4_000_000_003, idle: 30)
    for before in [Before.ours, .nothing, .others] {
      for reach in FakeProvider.Reach.allCases where before != .nothing || reach == .all {
        for last in FakeProvider.Reach.allCases {
          var bench = Bench(.secretService)
          let old = try await prepare(before, bench)
          bench = try await cutOff(Self.new, reach, bench)
          bench = try await cutOff(third, last, bench)
          #expect(
            try await get(bench).value == (last != .nothing ? third : reach != .nothing ? Self.new : old))
        }
      }
    }
  }

  @Test("a write that is refused, or finds nobody, leaves the one before it as it was")
  @VaultActor func nextFails() async throws {
    for isRefused in [true, false] {
      var bench = Bench(.secretService)
      try await set(Self.old, bench)
      bench = try await cutOff(Self.new, .secret, bench)
      if isRefused { bench.provider.refused = [try id()] } else { bench.provider.trouble = Bench.away }
      #expect(try await bench.outcome { try await set(Self.longer, bench) } == .unavailable)
      bench.provider.trouble = nil
      #expect(try await get(bench).value == Self.new)
    }
  }

  @Test("a write over one whose outcome nobody can tell any more has the highest version")
  @VaultActor func nextInDoubt() async throws {
    var bench = Bench(.secretService)
    try await set(Self.old, bench)
    bench = try await cutOff(Self.new, .secret, bench)
    bench.session.loseKey()
    try await set(Self.longer, bench)
    let (value, entry) = try await get(bench)
    #expect(value == Self.longer)
    #expect(
      bench.state.all[try id()]?.version == entry.version && bench.state.highestVersion == entry.version)
  }

  @Test(
    "a value that is cut off on its way out of the file keeps its version, and counts until it has arrived")
  @VaultActor func move() async throws {
    for reach in FakeProvider.Reach.allCases {
      var bench = Bench()
      try await set(Self.old, bench)
      bench.provider.trouble = Bench.away
      try await set(Self.new, bench)
      let version = try await get(bench).entry.version
      bench.provider.trouble = nil
      bench.provider.cutsOff = reach
      #expect(await bench.vault.settleAll() == false)
      bench.provider.cutsOff = nil
      bench = await bench.restarted()
      #expect(try await get(bench).value == Self.new)
      #expect(await bench.vault.settleAll())
      let (value, entry) = try await get(bench)
      #expect(value == Self.new && entry.version == version && entry.store == .secretService)
      #expect(bench.file.items.isEmpty)
    }
  }

  // MARK: Fingerprints

  @Test("a fingerprint is of one secret, one version of one key, and one session")
  @VaultActor func fingerprint() async throws {
    let bench = Bench()
    func entry(_ key: String, _ account: String = "", version: Version) throws -> Entry {
      let time = bench.clock.wall
      return Entry(
        id: try bench.id(key, account), version: version, created: time, modified: time, size: 1,
        store: .secretService)
    }
    let secret = try bench.secret("secret")
    let one = try #require(bench.vault.fingerprint(of: secret, in: try entry("a.b", version: 1)))
    #expect(one.bytes.count == Fingerprint.size && Fingerprint(one.bytes) == one)
    #expect(Fingerprint(one.bytes.dropLast()) == nil)
    let others = [
      bench.vault.fingerprint(of: try bench.secret("secreu"), in: try entry("a.b", version: 1)),
      bench.vault.fingerprint(of: secret, in: try entry("a.b", version: 2)),
      bench.vault.fingerprint(of: secret, in: try entry("a.c", version: 1)),
      bench.vault.fingerprint(of: secret, in: try entry("a.b", "x", version: 1)),
    ]
    for other in others { #expect(other != one && other?.hasKey(of: one) == true) }
    let intent = Intent(try entry("a.b", version: 1), one)
    #expect(bench.vault.isSecret(secret, of: intent) == true)
    #expect(bench.vault.isSecret(try bench.secret("secreu"), of: intent) == false)
    bench.session.loseKey()
    #expect(bench.vault.isSecret(secret, of: intent) == nil)
    let next = try #require(bench.vault.fingerprint(of: secret, in: intent.entry))
    #expect(next != one && !next.hasKey(of: one))
    #expect(bench.vault.isSecret(secret, of: intent) == nil)
  }
}
