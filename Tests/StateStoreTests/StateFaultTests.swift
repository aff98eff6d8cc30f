// Each step by which the state gets to the disk fails once: the change is refused, the old state stays, and
// the next change is kept.

import FaultyLayer
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import Database
@testable import StateStore

// One layer fails for one test at a time.
@Suite(.serialized) struct StateFaultTests {
  init() { startVaultActor() }

  // SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_READONLY.
  @Test("every step of a change fails once, and nothing is half kept", arguments: [Int32(13), 778, 8])
  @VaultActor func everyStep(code: Int32) async throws {
    let temporary = try TemporaryFolder()
    let clock = SettableClock()
    let id = EntryID(try Key("App.token"))
    func record(_ version: Version) -> StateRecord {
      StateRecord(id: id, version: version, standing: .removed(at: WallTime(milliseconds: version)))
    }
    let folder = DataFolder(temporary.path, layer: faultyLayer)
    func open() -> StateStore { StateStore(folder: folder, clock: clock) }

    let first = open()
    try await first.keep(record(1))
    await first.close()
    var version: Version = 1
    var step: Int32 = 1
    while true {
      let state = open()
      version += 1
      faulty_layer_arm(0, step, code, false)
      let failure = await outcome { () throws(VaultError) in try await state.keep(record(version)) }
      let steps = faulty_layer_steps(0)
      faulty_layer_arm(0, 0, 0, false)
      let kept = try #require(try state.record(id)).version
      if let failure {
        #expect(failure.outcome == .unavailable, "step \(step): \(failure)")
        #expect(kept == version - 1, "step \(step)")
        #expect(state.highestVersion == version - 1)
        version += 1
        try await state.keep(record(version))
        #expect(try state.record(id)?.version == version)
      } else {
        #expect(kept == version)
      }
      await state.close()
      if steps < step { break }
      step += 1
    }
    #expect(step > 4)
    #expect(try open().record(id)?.version == version)
  }

  @VaultActor private func outcome(_ body: () async throws(VaultError) -> Void) async -> VaultError? {
    do {
      try await body()
      return nil
    } catch {
      return error
    }
  }
}

private let faultyLayer: FileLayer = {
  faulty_layer_register(0)
  return FileLayer("vault-faulty-0", over: "faulty-0")
}()
