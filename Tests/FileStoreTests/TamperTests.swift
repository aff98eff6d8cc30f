// Changes by somebody without the key: noticed, never served, blamed on as few records as can be
// (behaviour.md, "The vault file").

import Foundation
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import Database
@testable import FileStore

@Suite struct TamperTests {
  init() { startVaultActor() }

  /// A file with 100 keys, so that buckets are shared.
  @VaultActor private func bench() async throws -> FileBench {
    let bench = try await FileBench()
    try await bench.setAtOnce((0..<100).map { ("App.k\($0)", "v\($0)") })
    return bench
  }

  /// The first numbers of which no two keys share a bucket: what is wrong with one is not blamed on the
  /// other.
  @VaultActor private func apart(_ bench: FileBench) throws -> [Int] {
    var (numbers, buckets): ([Int], Set<Int>) = ([], [])
    for number in 0..<100 where buckets.insert(try bench.bucket("App.k\(number)")).inserted {
      numbers.append(number)
    }
    return numbers
  }

  /// All but these answer as ever.
  @VaultActor private func othersAnswer(_ bench: FileBench, but keys: Int...) throws {
    for number in 0..<100 where !keys.contains(number) {
      #expect(try bench.get("App.k\(number)") == "v\(number)", "k\(number)")
    }
    #expect(try bench.get("App.never") == nil)
  }

  /// Set repairs a key, for good, and everything is sound again.
  @VaultActor private func repair(_ bench: FileBench, _ keys: Int..., sound: Bool = true) async throws {
    for key in keys {
      #expect(try bench.outcome("App.k\(key)") == .damaged)
      try await bench.set("App.k\(key)", "repaired")
      #expect(try bench.get("App.k\(key)") == "repaired")
    }
    try await bench.restart()
    for key in keys { #expect(try bench.get("App.k\(key)") == "repaired") }
    #expect(try await bench.store.verify() == Verification(records: 100, damaged: 0, sound: sound))
  }

  @Test("a record that was given to another namespace is damaged, and set gives it back")
  @VaultActor func moved() async throws {
    let bench = try await bench()
    let id = try bench.recordID("App.k1")
    let own = try #require(try bench.row(id))
    try await bench.restart {
      var row = own
      row.namespace ^= 1
      try bench.put(row)
    }
    try othersAnswer(bench, but: 1)
    try await repair(bench, 1)
    #expect(try bench.row(id)?.namespace == own.namespace)
    let namespace = try Namespace("App")
    #expect(try await bench.store.list(namespace, FileBench.patience).count == 100)
  }

  @Test("two records with each other's contents are damaged, the others answer, and set repairs them")
  @VaultActor func swapped() async throws {
    let bench = try await bench()
    let (one, other) = (try bench.recordID("App.k1"), try bench.recordID("App.k2"))
    let rows = try (#require(try bench.row(one)), #require(try bench.row(other)))
    try await bench.restart {
      var (first, second) = rows
      (first.entry, second.entry) = (second.entry, first.entry)
      (first.secret, second.secret) = (second.secret, first.secret)
      try bench.put(first)
      try bench.put(second)
    }
    try othersAnswer(bench, but: 1, 2)
    #expect(try await bench.store.verify() == Verification(records: 100, damaged: 2, sound: false))
    try await repair(bench, 1, 2)

    // With ids and all, too.
    let again = try (#require(try bench.row(one)), #require(try bench.row(other)))
    try await bench.restart {
      var (first, second) = again
      (first.id, second.id) = (second.id, first.id)
      try bench.put(first)
      try bench.put(second)
    }
    #expect(try bench.outcome("App.k1") == .damaged && bench.outcome("App.k2") == .damaged)
    for number in 3..<100 { #expect(try [nil, .damaged].contains(bench.outcome("App.k\(number)"))) }
  }

  @Test("an older copy of one record is damaged, no other key is, and set repairs it")
  @VaultActor func aged() async throws {
    let bench = try await bench()
    let old = try #require(try bench.row(try bench.recordID("App.k1")))
    try await bench.set("App.k1", "newer")
    try await bench.restart { try bench.put(old) }
    try othersAnswer(bench, but: 1)
    #expect(try await bench.store.verify() == Verification(records: 100, damaged: 1, sound: false))
    // Changes of other keys change nothing about it.
    try await bench.set("App.k2", "v2")
    try await bench.restart()
    try othersAnswer(bench, but: 1)
    try await repair(bench, 1)
  }

  @Test("a record that was removed is damaged and not missing, no other key is, and set repairs it")
  @VaultActor func removed() async throws {
    let bench = try await bench()
    let id = try bench.recordID("App.k1")
    try await bench.restart { try bench.delete(id) }
    try othersAnswer(bench, but: 1)
    #expect(try await bench.store.verify() == Verification(records: 100, damaged: 1, sound: false))
    try await bench.restart()
    try othersAnswer(bench, but: 1)
    try await repair(bench, 1)
  }

  @Test("clear sets a damaged key right, too: it is not there afterwards")
  @VaultActor func cleared() async throws {
    let bench = try await bench()
    let numbers = try apart(bench)
    let (gone, aged) = (numbers[0], numbers[1])
    let id = try bench.recordID("App.k\(gone)")
    let old = try #require(try bench.row(try bench.recordID("App.k\(aged)")))
    try await bench.set("App.k\(aged)", "newer")
    try await bench.restart {
      try bench.delete(id)
      try bench.put(old)
    }
    #expect(try await bench.clear("App.k\(gone)"))
    #expect(try await bench.clear("App.k\(aged)"))
    for _ in 0..<2 {
      #expect(try bench.get("App.k\(gone)") == nil && bench.get("App.k\(aged)") == nil)
      try othersAnswer(bench, but: gone, aged)
      #expect(try await bench.store.verify() == Verification(records: 98, damaged: 0, sound: true))
      try await bench.restart()
    }
  }

  @Test("a record that was cleared and put back is not served, and clear removes it")
  @VaultActor func putBack() async throws {
    let bench = try await bench()
    let row = try #require(try bench.row(try bench.recordID("App.k1")))
    #expect(try await bench.clear("App.k1"))
    try await bench.restart { try bench.put(row) }
    #expect(try bench.get("App.k1") == nil)
    try othersAnswer(bench, but: 1)
    #expect(try await bench.store.verify().sound == false)
    #expect(try await bench.clear("App.k1"))
    #expect(try bench.row(row.id) == nil)
    try await bench.restart()
    #expect(try await bench.store.verify() == Verification(records: 99, damaged: 0, sound: true))
  }

  @Test("version, marks, namespace and every part of a record are bound to it")
  @VaultActor func columns() async throws {
    let bench = try await bench()
    let row = try #require(try bench.row(try bench.recordID("App.k1")))
    let foreign = try #require(try bench.row(try bench.recordID("App.k2")))
    let changes: [(String, (inout RawRow) -> Void)] = [
      ("version", { $0.version += 1 }), ("version 0", { $0.version = 0 }),
      ("negative", { $0.version = -$0.version }),
      ("largest version", { $0.version = .max }), ("pending", { $0.marks = 1 }),
      ("tombstone", { $0.marks = 2 }),
      ("unknown marks", { $0.marks = 4 }), ("namespace", { $0.namespace ^= 1 }),
      ("entry", { $0.entry[20] ^= 1 }),
      ("other entry", { $0.entry = foreign.entry }), ("no entry", { $0.entry = [] }),
      ("secret", { $0.secret[0] ^= 1 }), ("other secret", { $0.secret = foreign.secret }),
      ("cut secret", { $0.secret.removeLast() }), ("no secret", { $0.secret = [] }),
    ]
    for (what, change) in changes {
      try await bench.restart {
        var changed = row
        change(&changed)
        try bench.put(changed)
      }
      #expect(try bench.outcome("App.k1") == .damaged, "\(what)")
      try othersAnswer(bench, but: 1)
      let verification = try await bench.store.verify()
      #expect(!verification.sound && verification.damaged >= 1, "\(what)")
    }
    try await bench.restart { try bench.put(row) }
    #expect(try bench.get("App.k1") == "v1")
    // Under another id it is nobody's, and its own key is damaged.
    try await bench.restart {
      try bench.delete(row.id)
      var moved = row
      moved.id ^= 1
      try bench.put(moved)
    }
    #expect(try bench.outcome("App.k1") == .damaged)
    try othersAnswer(bench, but: 1)
  }

  @Test("a change while the daemon runs is noticed as well")
  @VaultActor func whileRunning() async throws {
    let bench = try await bench()
    let (one, other, third) = (
      try bench.recordID("App.k1"), try bench.recordID("App.k2"), try bench.recordID("App.k3")
    )
    let old = try #require(try bench.row(one))
    let cleared = try #require(try bench.row(third))
    try await bench.set("App.k1", "newer")
    #expect(try await bench.clear("App.k3"))
    try bench.put(old)
    try bench.delete(other)
    try bench.put(cleared)
    #expect(try bench.outcome("App.k1") == .damaged && bench.outcome("App.k2") == .damaged)
    #expect(try bench.get("App.k3") == nil)
    try othersAnswer(bench, but: 1, 2, 3)
    let listed = try await bench.store.list(nil, FileBench.patience).map(\.id.key.name)
    #expect(Set(listed) == Set((0..<100).filter { ![1, 2, 3].contains($0) }.map { "k\($0)" }))
    try await bench.set("App.k1", "repaired")
    try await bench.set("App.k2", "repaired")
    #expect(try await bench.clear("App.k3"))
    try await bench.restart()
    #expect(try bench.get("App.k1") == "repaired" && bench.get("App.k2") == "repaired")
    #expect(try await bench.store.verify() == Verification(records: 99, damaged: 0, sound: true))
  }

  @Test("an older state with newer records, and the other way round, serves no older value")
  @VaultActor func oldState() async throws {
    let bench = try await bench()
    let numbers = try apart(bench)
    let (aged, gone, other) = (numbers[0], numbers[1], numbers[2])
    let old = try bench.state()
    let row = try #require(try bench.row(try bench.recordID("App.k\(aged)")))
    try await bench.set("App.k\(aged)", "newer")
    #expect(try await bench.clear("App.k\(gone)"))
    // A new key in a bucket of its own.
    let bucket = try bench.bucket("App.k\(other)")
    let new = try #require(try (0..<9_999).map { "App.n\($0)" }.first { try bench.bucket($0) == bucket })
    try await bench.set(new, "new")
    try await bench.restart { try bench.putState(old) }
    #expect(try bench.outcome("App.k\(other)") == .damaged && bench.store.status.state == .damaged)
    // Nor where the anchor went, too.
    try FileManager.default.removeItem(atPath: bench.data + "/vault.anchor")
    try await bench.store.unlock(nil)
    #expect(try bench.outcome("App.k\(aged)") == .damaged)
    #expect(try bench.outcome("App.k\(gone)") == .damaged)
    #expect(try bench.get(new) == nil)
    try othersAnswer(bench, but: aged, gone)
    // Everything of one moment is the one exception.
    try await bench.restart { try bench.put(row) }
    #expect(try bench.get("App.k\(aged)") == "v\(aged)")
  }

  @Test("where several records of a bucket were changed, all its keys are damaged; each is repaired for good")
  @VaultActor func several() async throws {
    let bench = try await bench()
    // Names that share a bucket; 64 buckets and 2,000 names leave no doubt that there are.
    let wanted = try bench.bucket("App.k1")
    let names = try (0..<2_000).map { "App.s\($0)" }.filter { try bench.bucket($0) == wanted }
    let (gone, aged, kept, never) = (names[0], names[1], names[2], names[3])
    for name in [gone, aged, kept] { try await bench.set(name, "old") }
    let old = try #require(try bench.row(try bench.recordID(aged)))
    try await bench.set(aged, "new")
    let id = try bench.recordID(gone)
    let shared = try (0..<100).filter { try bench.bucket("App.k\($0)") == wanted }

    try await bench.restart {
      try bench.delete(id)
      try bench.put(old)
    }
    for name in [gone, aged, kept, never] { #expect(try bench.outcome(name) == .damaged, "\(name)") }
    for number in 0..<100 where !shared.contains(number) {
      #expect(try bench.get("App.k\(number)") == "v\(number)")
    }
    for number in shared { #expect(try bench.outcome("App.k\(number)") == .damaged) }

    // What is set or cleared from now on counts, over restarts, and nothing else of the bucket does.
    try await bench.set(aged, "repaired")
    _ = try await bench.clear(gone)
    for _ in 0..<3 {
      #expect(try bench.get(aged) == "repaired" && bench.get(gone) == nil)
      #expect(try bench.outcome(kept) == .damaged && bench.outcome(never) == .damaged)
      #expect(try await bench.store.verify().sound == false)
      try await bench.restart()
    }
    _ = try await bench.clear(never)
    try await bench.set(kept, "repaired")
    #expect(try await bench.clear(aged))
    try await bench.restart()
    #expect(try bench.get(never) == nil && bench.get(kept) == "repaired" && bench.get(aged) == nil)
    // And it is watched as before.
    let again = try bench.recordID(kept)
    try await bench.restart { try bench.delete(again) }
    #expect(try bench.outcome(kept) == .damaged)
    let rolled = try #require(try bench.row(try bench.recordID(gone)))
    #expect(rolled.marks == 2)
    try await bench.restart { try bench.delete(rolled.id) }
    #expect(try bench.outcome(gone) == .damaged)
  }
}
