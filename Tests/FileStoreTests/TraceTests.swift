// After an acknowledged clear no byte of what was cleared is left in any file of the folder, sealed as it
// was: not in a page's gap, not in a freed page, not in the log (behaviour.md, rule 3).

import Foundation
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import Database
@testable import FileStore

@Suite struct TraceTests {
  init() { startVaultActor() }

  @Test("what was cleared is gone from all files, sealed as it was, in every version that there was")
  @VaultActor func nothingLeft() async throws {
    let bench = try await FileBench()
    var random = SeededGenerator(seed: 11)
    var sealed: [String: [[UInt8]]] = [:]
    var cleared = Windows()
    for step in 1...900 {
      let key = "App.k\(Int.random(in: 0..<60, using: &random))"
      if Int.random(in: 0..<4, using: &random) > 0 {
        let large = Int.random(in: 0..<20, using: &random) == 0
        let size = Int.random(in: large ? 3_000..<20_000 : 0..<400, using: &random)
        try await bench.set(key, (0..<size).map { _ in UInt8.random(in: 0...255, using: &random) })
        let row = try #require(try bench.row(try bench.recordID(key)))
        sealed[key, default: []] += [row.entry, row.secret]
      } else if try await bench.clear(key) {
        for bytes in sealed.removeValue(forKey: key) ?? [] { cleared.add(bytes) }
      }
      if step.isMultiple(of: 300) {
        _ = try await bench.clear("App.k0")
        for bytes in sealed.removeValue(forKey: "App.k0") ?? [] { cleared.add(bytes) }
        #expect(cleared.found(in: try bench.everything()) == 0, "step \(step)")
      }
    }
    #expect(cleared.count > 500)
    // The test sees what there is to see.
    var present = Windows()
    for bytes in sealed.values.compactMap(\.last) { present.add(bytes) }
    #expect(present.found(in: try bench.everything()) > 0)
  }

  @Test("a token that is set again writes its record and the state of the set, and no index")
  @VaultActor func pagesWritten() async throws {
    let bench = try await FileBench()
    try await bench.set("App.k1", "old")
    func logBytes() throws -> Int { try contents(of: "\(bench.file)-wal").count }
    var sizes = [try logBytes()]
    for value in ["new", "newer"] {
      try await bench.set("App.k1", value)
      sizes.append(try logBytes())
    }
    try await bench.set("App.k2", "another")
    sizes.append(try logBytes())
    // Pages of 1 KiB, each behind 24 bytes: three of the state, one of the record; and one of the index.
    #expect(zip(sizes, sizes.dropFirst()).map { ($1 - $0) / 1_048 } == [4, 4, 5])
  }

  @Test("clears that come in together are gone together, with one emptying of the log or a few")
  @VaultActor func together() async throws {
    let bench = try await FileBench()
    try await bench.setAtOnce((0..<200).map { ("App.k\($0)", "value \($0)") })
    var cleared = Windows()
    for number in 0..<200 {
      let row = try #require(try bench.row(try bench.recordID("App.k\(number)")))
      cleared.add(row.entry)
      cleared.add(row.secret)
    }
    let tasks = (0..<200).map { number in Task { @VaultActor in try await bench.clear("App.k\(number)") } }
    for task in tasks { #expect(try await task.value) }
    #expect(cleared.found(in: try bench.everything()) == 0)
    #expect(bench.store.recordCount == 0)
  }

  @Test("a slot that was removed leaves nothing of the data key that it wrapped")
  @VaultActor func slots() async throws {
    let bench = try await FileBench()
    _ = try await bench.store.addSlot(.keyFile(bench.temporary.path + "/second"))
    let connection = try Connection(bench.file, .read, layer: .system)
    var wrapped = Windows()
    wrapped.add(try #require(try SlotRow.readAll(connection)[1]).wrapped)
    #expect(wrapped.found(in: try bench.everything()) > 0)
    try await bench.store.removeSlot(2)
    #expect(wrapped.found(in: try bench.everything()) == 0)
  }

  @Test("what a killed daemon had removed and not wiped is wiped by the next")
  @VaultActor func afterKill() async throws {
    let bench = try await FileBench()
    try await bench.set("App.token", "value")
    let row = try #require(try bench.row(try bench.recordID("App.token")))
    var cleared = Windows()
    cleared.add(row.entry)
    cleared.add(row.secret)
    // Another program's reader keeps the log from being emptied, and the daemon does not live to see its end.
    let reader = try Connection(bench.file, .read, layer: .system)
    try reader.execute("BEGIN; SELECT count(*) FROM record")
    let id = try bench.id("App.token")
    let store = bench.store
    let version = store.highestVersion + 1
    let removal = Task { @VaultActor in try await store.remove(id, version: version, FileBench.patience) }
    try await until("the token is cleared") { try bench.get("App.token") == nil }
    #expect(cleared.found(in: try bench.everything()) > 0)
    let copy = bench.temporary.path + "/copy"
    try FileManager.default.copyItem(atPath: bench.data, toPath: copy)
    try reader.execute("ROLLBACK")
    #expect(try await removal.value)
    #expect(cleared.found(in: try bench.everything()) == 0)

    let next = FileStore(folder: DataFolder(copy), clock: bench.clock, credentials: nil)
    try await next.unlock(nil)
    #expect(try await next.read(id, FileBench.patience) == nil)
    await next.close()
    let files = try FileManager.default.contentsOfDirectory(atPath: copy)
    #expect(cleared.found(in: try files.flatMap { try contents(of: "\(copy)/\($0)") }) == 0)
  }
}

/// Runs of 8 bytes that are looked for. Sealed bytes are random: none is found by chance.
private struct Windows {
  private var windows: Set<UInt64> = []

  var count: Int { windows.count }

  mutating func add(_ bytes: [UInt8]) {
    for place in stride(from: 0, through: bytes.count - 8, by: 8) {
      windows.insert(bytes.span.number(at: place))
    }
  }

  /// How many of them are there.
  func found(in bytes: [UInt8]) -> Int {
    var (window, found): (UInt64, Set<UInt64>) = (0, [])
    for byte in bytes {
      window = window << 8 | UInt64(byte)
      if windows.contains(window) { found.insert(window) }
    }
    return found.count
  }
}
