// Records that are kept in memory: each is answered as the file would have it, names that share a number are told apart,
// and there are never more than may be.

import SecretMemory
import TestSupport
import Testing
import VaultCore

@testable import Database
@testable import FileStore
@testable import VaultModel

@Suite struct KeptRecordTests {
  init() { startVaultActor() }

  @VaultActor private func set(
    _ bench: FileBench, _ id: EntryID, _ secret: [UInt8], _ change: (inout Entry) -> Void = { _ in }
  ) async throws -> Entry {
    var entry = bench.entry(id)
    change(&entry)
    try await bench.store.write(
      entry, SharedSecret(try SecretBytes(copying: secret.span)), FileBench.patience)
    return entry
  }

  @Test("whatever an entry has, it is answered with it, from what is kept of a set and of a look-up")
  @VaultActor func everything() async throws {
    let bench = try await FileBench()
    let changes: [(inout Entry) -> Void] = [
      { _ in }, { $0.label = "what a person reads" }, { $0.label = "" }, { $0.untilLogout = true },
      { $0.pending = true }, { $0.created = WallTime(milliseconds: 12_345) },
      { $0.label = String(repeating: "é", count: 500) },
    ]
    for (number, change) in changes.enumerated() {
      let id = try bench.id("a.\"\\k\(number)", number % 2 == 0 ? "" : "somebody\"")
      _ = try await set(bench, id, Array("secret \(number)".utf8), change)
      for _ in 0..<3 {
        // The first is of what was written, the others of what was read.
        let (key, account) = (id.key.text, id.account.text)
        #expect(bench.store.sealedToken(key.utf8.span, account.utf8.span) != nil)
        #expect(try bench.get(key, account: account) == "secret \(number)")
        bench.store.rest()
        #expect(bench.store.sealedToken(key.utf8.span, account.utf8.span) == nil)
        #expect(try bench.get(key, account: account) == "secret \(number)")
      }
    }
  }

  @Test("a token that ends, one that was purged and one that is large are not answered in short")
  @VaultActor func others() async throws {
    let bench = try await FileBench()
    func isAnswered(_ id: EntryID) throws -> Bool {
      _ = try bench.get(id.key.text)
      return bench.store.sealedToken(id.key.text.utf8.span, "".utf8.span) != nil
    }
    let id = try bench.id("a.k")
    let secret = Array("secret".utf8)
    _ = try await set(bench, id, secret) { $0.expires = WallTime(seconds: 4_000_000_000) }
    #expect(try !isAnswered(id))
    _ = try await set(bench, id, secret) { $0.idle = 60 }
    #expect(try !isAnswered(id))
    var entry = try await set(bench, id, secret)
    #expect(try isAnswered(id))
    entry.isPurged = true
    try await bench.store.update(entry, FileBench.patience)
    #expect(try !isAnswered(id))
    _ = try await set(bench, id, [UInt8](repeating: 0x61, count: Limits.keptRecordBytes))
    #expect(try !isAnswered(id))
    #expect(try bench.get("a.k")?.utf8.count == Limits.keptRecordBytes)
  }

  @Test("names that have the same number are told apart, whichever was read or set last")
  @VaultActor func meeting() async throws {
    let bench = try await FileBench()
    let (one, other) = try namesThatMeet()
    #expect(one != other && one.namesMixed == other.namesMixed)
    func get(_ id: EntryID) throws -> String? { try bench.get(id.key.text, account: id.account.text) }
    for round in 0..<3 {
      _ = try await set(bench, one, Array("one \(round)".utf8))
      #expect(try get(other) == (round == 0 ? nil : "other \(round - 1)"))
      _ = try await set(bench, other, Array("other \(round)".utf8))
      for id in [one, other, other, one, one] {
        #expect(try get(id) == (id == one ? "one \(round)" : "other \(round)"))
      }
    }
    #expect(try await bench.clear(one.key.text, account: one.account.text))
    #expect(try get(one) == nil)
    #expect(try get(other) == "other 2")
  }

  /// Two entries whose number is the same: an account of eight bytes undoes what the key made of it.
  private func namesThatMeet() throws -> (EntryID, EntryID) {
    func seed(_ key: String) -> UInt64 {
      NameHash.mix(key.utf8.span, into: UInt64(key.utf8.count))
    }
    let account = Array("somebody".utf8)
    let word = account.span.word(at: 0)
    for number in 0..<1_000_000 {
      let key = "a.k\(number)"
      let needed = word ^ seed("a.one") ^ seed(key)
      let bytes = (0..<8).map { UInt8(truncatingIfNeeded: needed >> UInt64(8 * $0)) }
      guard bytes.allSatisfy({ (0x21..<0x7F).contains($0) }) else { continue }
      return (
        EntryID(try Key("a.one"), try Account("somebody")),
        EntryID(try Key(key), try Account(String(decoding: bytes, as: UTF8.self)))
      )
    }
    throw VaultError.internal(reason: "no names meet")
  }

  @Test("what is kept never takes more than it may, and what came last is there")
  func full() throws {
    let cache = RecordCache()
    let clock = WallTime(milliseconds: 1)
    let secret = [UInt8](repeating: 7, count: 3_900)
    let standing = try #require(Standing(version: 1, marks: 0))
    let none = RecordID(row: 0)
    var most = 0
    for number in 0..<2 * Limits.keptBytes / 3_900 {
      let id = EntryID(try Key("a.k\(number)"))
      let entry = Entry(
        id: id, version: 1, created: clock, modified: clock, size: secret.count, store: .file)
      let form = EntryForm.bytes(of: entry)
      cache.keep(
        RecordName(id: none, namespace: none, standing: standing), entry, 0, form: form.span,
        secret: secret.span)
      most = max(most, cache.size)
      let key = id.key.text
      #expect(cache.record(key.utf8.span, "".utf8.span, 0)?.count == secret.count)
    }
    #expect(most <= Limits.keptBytes && most > Limits.keptBytes / 10 * 9)
    let key = "a.k0"
    #expect(cache.record(key.utf8.span, "".utf8.span, 0) == nil, "the first are gone")
  }
}
