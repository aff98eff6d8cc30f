// Each step by which a change gets to the disk fails: once, and from then on for ever, as when the power
// goes. The old value stays or the new one is there, never anything else, and what was acknowledged stays
// (behaviour.md, rules 1, 2).

import FaultyLayer
import Foundation
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import Database
@testable import FileStore

// One layer fails for one test at a time.
@Suite(.serialized) struct FaultTests {
  init() {
    startVaultActor()
    faulty_layer_arm(1, 0, 0, false)
  }

  /// What SQLite is told: SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC, SQLITE_READONLY.
  static let codes: [Int32] = [13, 778, 1_034, 8]

  @VaultActor private func bench() async throws -> FileBench {
    let bench = try await FileBench(layer: faultyLayer)
    try await bench.set("App.other", "other")
    try await bench.set("App.token", "0")
    return bench
  }

  @Test("a step that fails once is told, leaves the old value, and the next set works", arguments: codes)
  @VaultActor func once(code: Int32) async throws {
    let bench = try await bench()
    var (value, failures) = (0, 0)
    for step in 1... {
      value += 1
      faulty_layer_arm(1, Int32(step), code, false)
      let large = String(repeating: "x", count: step.isMultiple(of: 2) ? 20_000 : 0)
      let failure = await failure { () throws(WriteFailure) in
        try await bench.set("App.token", "\(value)\(large)")
      }
      let steps = faulty_layer_steps(1)
      faulty_layer_arm(1, 0, 0, false)
      if let failure {
        failures += 1
        #expect(failure.error.outcome == .unavailable, "step \(step): \(failure.error)")
        #expect(failure.error.description.contains("vault.db"))
        #expect(failure.mayTakeEffect == (code == 1_034), "step \(step)")
        #expect(try bench.get("App.token")?.hasPrefix("\(value - 1)") == true, "step \(step)")
        try await bench.set("App.token", "\(value)")
      }
      #expect(try bench.get("App.token")?.hasPrefix("\(value)") == true)
      #expect(try bench.get("App.other") == "other")
      if steps < step { break }
      // A new log now and then, so that all ways to write are tried.
      if step.isMultiple(of: 3) { try await bench.restart() }
    }
    #expect(failures > 3)
    try await bench.restart()
    #expect(try bench.get("App.token")?.hasPrefix("\(value)") == true)
    #expect(try await bench.store.verify() == Verification(records: 2, damaged: 0, sound: true))
  }

  @Test(
    "the power goes at each step of a change of keys: the old or the new one opens the file, and no record was rewritten"
  )
  @VaultActor func changingKeys() async throws {
    var failures = 0
    for step in 1... {
      let bench = try await bench()
      let records = try records(bench)
      let new = bench.temporary.path + "/new"
      faulty_layer_arm(1, Int32(step), 778, true)
      let failure = try await vaultError {
        _ = try await bench.store.addSlot(.keyFile(new))
        try await bench.store.removeSlot(1)
      }
      let steps = faulty_layer_steps(1)
      try await bench.restart(unlocking: false) { faulty_layer_arm(1, 0, 0, false) }
      let oldOpens = try await vaultError { try await bench.store.unlock(.keyFile(bench.key)) } == nil
      let newOpens = try await vaultError { try await bench.store.unlock(.keyFile(new)) } == nil
      #expect(oldOpens || newOpens, "step \(step)")
      #expect(try bench.get("App.token") == "0" && bench.get("App.other") == "other", "step \(step)")
      #expect(try self.records(bench) == records, "step \(step)")
      #expect(try await bench.store.verify().sound, "step \(step)")
      if failure != nil { failures += 1 } else { #expect(newOpens && !oldOpens, "step \(step)") }
      if steps < step { break }
    }
    #expect(failures > 3)
  }

  @VaultActor private func records(_ bench: FileBench) throws -> [String] {
    let connection = try Connection(bench.file, .read, layer: .system)
    let rows = try connection.prepare("SELECT id || quote(entry) || quote(secret) FROM record ORDER BY id")
    var texts: [String] = []
    while try rows.step() { texts.append(rows.text(0) ?? "") }
    rows.reset()
    return texts
  }

  @Test("a step of a clear that fails is told, and the clear that is tried again works", arguments: codes)
  @VaultActor func clearing(code: Int32) async throws {
    let bench = try await bench()
    for step in 1... {
      try await bench.set("App.token", "value")
      faulty_layer_arm(1, Int32(step), code, false)
      let error = try await vaultError { _ = try await bench.clear("App.token") }
      let steps = faulty_layer_steps(1)
      faulty_layer_arm(1, 0, 0, false)
      if error != nil {
        #expect(error?.outcome == .unavailable)
        let left = try bench.get("App.token")
        #expect(left == "value" || left == nil)
        _ = try await bench.clear("App.token")
      }
      #expect(try bench.get("App.token") == nil)
      #expect(try bench.get("App.other") == "other")
      if steps < step { break }
    }
    try await bench.restart()
    #expect(try bench.get("App.token") == nil)
    #expect(try await bench.store.verify() == Verification(records: 1, damaged: 0, sound: true))
  }

  @Test(
    "a daemon that ends at any step leaves the old value or the new, and all that it acknowledged",
    arguments: codes)
  @VaultActor func ending(code: Int32) async throws {
    let bench = try await bench()
    var acknowledged = 0
    for step in 1...40 {
      faulty_layer_arm(1, Int32(step), code, true)
      var tried = acknowledged
      for _ in 0..<6 {
        tried += 1
        let value = tried
        let failure = await failure { () throws(WriteFailure) in try await bench.set("App.token", "\(value)")
        }
        if failure == nil { acknowledged = value } else { break }
      }
      if tried == acknowledged { _ = try? await bench.clear("App.other") }
      await bench.close()
      faulty_layer_arm(1, 0, 0, false)
      try await bench.restart()
      #expect(["\(acknowledged)", "\(tried)"].contains(try bench.get("App.token")), "step \(step)")
      acknowledged = Int(try bench.get("App.token") ?? "") ?? -1
      let verification = try await bench.store.verify()
      #expect(verification.sound && verification.damaged == 0, "step \(step)")
      try await bench.set("App.other", "other")
    }
  }

  @Test("init that fails at any step leaves no file and no key file", arguments: codes)
  @VaultActor func initialising(code: Int32) async throws {
    for step in 1... {
      let bench = try await FileBench(initialised: false, layer: faultyLayer)
      faulty_layer_arm(1, Int32(step), code, false)
      let error = try await vaultError { try await bench.store.initialise(.keyFile(bench.key)) }
      let steps = faulty_layer_steps(1)
      faulty_layer_arm(1, 0, 0, false)
      if error != nil {
        #expect(error?.outcome == .unavailable, "step \(step): \(error as Any)")
        #expect(
          try FileManager.default.contentsOfDirectory(atPath: bench.data) == ["vault.lock"], "step \(step)")
        #expect(!FileManager.default.fileExists(atPath: bench.key))
        try await bench.store.initialise(.keyFile(bench.key))
      }
      try await bench.set("App.token", "value")
      if steps < step { break }
      #expect(step < 200)
    }
  }

  @Test("a full disk takes some of what came in together, and says of each whether", arguments: 36...64)
  @VaultActor func together(step: Int32) async throws {
    let bench = try await bench()
    faulty_layer_arm(1, step, 13, true)
    let tasks = (0..<60).map { number in
      Task { @VaultActor in
        await failure { () throws(WriteFailure) in try await bench.set("App.k\(number)", "v\(number)") }
          == nil
      }
    }
    var taken: [Bool] = []
    for task in tasks { taken.append(await task.value) }
    faulty_layer_arm(1, 0, 0, false)
    for _ in 0..<2 {
      for number in 0..<60 {
        #expect(try bench.get("App.k\(number)") == (taken[number] ? "v\(number)" : nil))
      }
      #expect(try await bench.store.verify().sound)
      try await bench.restart()
    }
  }
}

private let faultyLayer: FileLayer = {
  faulty_layer_register(1)
  return FileLayer("vault-faulty-1", over: "faulty-1")
}()
