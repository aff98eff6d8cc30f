// Reads while commits are on their way: the old value or the new, never neither, never backwards
// (behaviour.md, rule 1).

import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import FileStore

@Suite struct ReadWhileWritingTests {
  init() { startVaultActor() }

  @Test("a reader sees each value or its successor, and never an older one again")
  @VaultActor func replacing() async throws {
    let bench = try await FileBench()
    try await bench.set("App.token", "0")
    var acknowledged = 0
    var isDone = false
    let writer = Task { @VaultActor in
      defer { isDone = true }
      for value in 1...400 {
        try await bench.set("App.token", "\(value)")
        acknowledged = value
      }
    }
    var (last, reads) = (0, 0)
    while !isDone {
      let value = Int(try bench.get("App.token") ?? "") ?? -1
      #expect(value >= last && value >= acknowledged && value <= acknowledged + 1)
      (last, reads) = (value, reads + 1)
      // Most of the time without letting anybody else run, as requests that arrive do.
      if reads.isMultiple(of: 20) { await Task.yield() }
    }
    try await writer.value
    #expect(try bench.get("App.token") == "400")
    #expect(reads > 400)
  }

  @Test("a key that is set and cleared in turn is there or not, and nothing else")
  @VaultActor func setAndCleared() async throws {
    let bench = try await FileBench()
    var isDone = false
    let writer = Task { @VaultActor in
      defer { isDone = true }
      for round in 1...100 {
        try await bench.set("App.token", "value")
        if round.isMultiple(of: 3) { try await bench.set("App.other", "other") }
        #expect(try await bench.clear("App.token"))
      }
    }
    var seen: Set<String?> = []
    while !isDone {
      for _ in 0..<50 { seen.insert(try bench.get("App.token")) }
      _ = try await bench.store.list(nil, FileBench.patience)
      await Task.yield()
    }
    try await writer.value
    #expect(seen == [nil, "value"])
  }

  @Test("a lock while changes are under way leaves each of them done or refused, and the file sound")
  @VaultActor func locked() async throws {
    let bench = try await FileBench()
    for round in 0..<10 {
      let tasks = (0..<40).map { number in
        Task { @VaultActor in
          await failure { () throws(WriteFailure) in try await bench.set("App.k\(number)", "\(round)") }
        }
      }
      for _ in 0..<(round * 3) { await Task.yield() }
      bench.store.forget()
      var done: [Bool] = []
      for task in tasks {
        let failure = await task.value
        if let failure { #expect(failure.error.outcome == .locked) }
        done.append(failure == nil)
      }
      try await bench.store.unlock(nil)
      for number in 0..<40 where done[number] { #expect(try bench.get("App.k\(number)") == "\(round)") }
      for number in 0..<40 where !done[number] { #expect(try bench.get("App.k\(number)") != "\(round)") }
    }
    #expect(try await bench.store.verify().sound)
  }

  @Test("unlocks that come together open the file once, and a lock that comes after them counts")
  @VaultActor func unlocks() async throws {
    let bench = try await FileBench()
    try await bench.set("App.token", "value")
    bench.store.forget()
    let tasks = (0..<10).map { _ in Task { @VaultActor in try await bench.store.unlock(nil) } }
    for task in tasks { try await task.value }
    #expect(try bench.get("App.token") == "value")
    bench.store.forget()
    let late = Task { @VaultActor in try await vaultError { try await bench.store.unlock(nil) } }
    // It has begun, and waits for the file thread.
    await VaultActor.giveWay()
    bench.store.forget()
    #expect(try await late.value?.outcome == .locked)
    #expect(!bench.store.isUnlocked)
    try await bench.store.unlock(nil)
    try await bench.set("App.token", "newer")
    #expect(try bench.get("App.token") == "newer")
  }
}
