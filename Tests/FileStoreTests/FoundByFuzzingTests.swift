// What `make fuzz` found in the vault file's reader: each a file that somebody changed, and the outcome that is right.

import Foundation
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import FileStore

@Suite struct FoundByFuzzingTests {
  init() { startVaultActor() }

  @Test("a file that lost all of its records does not say that it has none, locked or not")
  @VaultActor func noRecordsLeft() async throws {
    let bench = try await FileBench()
    try await bench.set("App.k", "v")
    #expect(bench.store.recordCount == 1)
    let id = try bench.recordID("App.k")
    try await bench.restart { try bench.delete(id) }
    #expect(try bench.outcome("App.k") == .damaged)
    #expect(bench.store.recordCount == nil)
    bench.store.forget()
    #expect(bench.store.recordCount == nil)
    try await bench.store.unlock(nil)
    // What is set right can be counted.
    try await bench.set("App.k", "v")
    #expect(bench.store.recordCount == 1)
  }

  @Test(
    "a head of the file that SQLite refuses is damage, and no bug of ours",
    arguments: [(44, [0xFF, 0xFF, 0xFF, 0xFF]), (47, [9]), (56, [0, 0, 0, 7])])
  @VaultActor func refusedHead(place: Int, bytes: [UInt8]) async throws {
    let bench = try await FileBench()
    try await bench.set("App.k", "v")
    try bench.settle()
    var file = try contents(of: bench.file)
    try await bench.restart {
      for side in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: bench.file + side) }
      file.replaceSubrange(place..<place + bytes.count, with: bytes)
      try overwrite(bench.file, with: file)
    }
    #expect(try bench.outcome("App.k") == .damaged)
    #expect(try contents(of: bench.file) == file)
  }
}
