// Every byte of a small vault file and of its log, changed one at a time, and both cut short everywhere: never a
// wrong value, never a key that is lost without a word, never a write to a file that is damaged as a whole
// (behaviour.md, "The vault file").

import Foundation
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import Database
@testable import FileStore

@Suite struct EveryByteTests {
  init() { startVaultActor() }

  /// The files of a data folder.
  private struct Files {
    var file: [UInt8]
    var log: [UInt8]
    var anchor: [UInt8]
  }

  /// Two keys; where `killed`, with the later of them in the log.
  @VaultActor private func files(_ bench: FileBench, killed: Bool) async throws -> Files {
    try await bench.set("App.k0", "v0")
    if killed { try bench.settle() }
    try await bench.set("App.k1", "v1")
    if !killed { try bench.settle() }
    let files = try Files(
      file: contents(of: bench.file), log: contents(of: bench.file + "-wal"),
      anchor: contents(of: bench.data + "/vault.anchor"))
    #expect(files.log.isEmpty != killed)
    return files
  }

  /// What became of the keys of one changed copy.
  private struct Tally {
    var right = 0
    var refused = 0
    var whole = 0
  }

  /// Has a daemon start on such files, and looks at all that it says.
  @VaultActor private func start(
    _ bench: FileBench, _ files: Files, _ comment: String, writing: Bool = true, _ tally: inout Tally
  ) async throws {
    try await bench.restart {
      try? FileManager.default.removeItem(atPath: bench.file + "-shm")
      try overwrite(bench.file, with: files.file)
      try overwrite(bench.file + "-wal", with: files.log)
      try overwrite(bench.data + "/vault.anchor", with: files.anchor)
    }
    let before = tally
    for number in 0..<2 {
      do {
        #expect(try bench.get("App.k\(number)") == "v\(number)", "\(comment)")
        tally.right += 1
      } catch let error as VaultError {
        #expect(error.outcome != .notFound && error.outcome != .internal, "\(comment): \(error)")
        tally.refused += 1
      }
    }
    do { #expect(try bench.get("App.never") == nil, "\(comment)") } catch is VaultError {}
    let isWhole = !bench.store.isUnlocked
    guard writing || isWhole || tally.refused > before.refused else { return }
    let taken = (try? await bench.set("App.k1", "other")) != nil
    if isWhole {
      tally.whole += 1
      #expect(!taken, "\(comment)")
      #expect(try contents(of: bench.file) == files.file, "\(comment)")
      #expect(try contents(of: bench.file + "-wal") == files.log, "\(comment)")
    } else if taken {
      // Whatever can be written can be read.
      #expect(throws: Never.self, "\(comment)") { try bench.get("App.k1") }
      #expect(try bench.get("App.k1") == "other", "\(comment)")
    }
  }

  private func flipped(_ bytes: [UInt8], _ place: Int) -> [UInt8] {
    var bytes = bytes
    bytes[place] ^= 1 << UInt8(place % 8)
    return bytes
  }

  @Test("no flipped bit of the file gives a wrong value or loses a key without a word")
  @VaultActor func file() async throws {
    let bench = try await FileBench()
    let files = try await files(bench, killed: false)
    var tally = Tally()
    for place in files.file.indices {
      var changed = files
      changed.file = flipped(files.file, place)
      // Most zeros are in no cell: what is written is not changed by them.
      let writing = files.file[place] != 0 || place.isMultiple(of: 16)
      try await start(bench, changed, "byte \(place)", writing: writing, &tally)
    }
    #expect(tally.right > 0 && tally.refused > 0 && tally.whole > 0)
  }

  @Test("no flipped bit of a killed daemon's log gives an older value")
  @VaultActor func log() async throws {
    let bench = try await FileBench()
    let files = try await files(bench, killed: true)
    var tally = Tally()
    for place in files.log.indices {
      var changed = files
      changed.log = flipped(files.log, place)
      try await start(bench, changed, "byte \(place) of the log", &tally)
    }
    // SQLite checks every byte of it.
    #expect(tally.whole == files.log.count)
  }

  @Test("a file or a log that is cut short anywhere is damaged as a whole")
  @VaultActor func cut() async throws {
    let bench = try await FileBench()
    for killed in [false, true] {
      let files = try await files(bench, killed: killed)
      let whole = killed ? files.log : files.file
      for end in stride(from: 0, to: whole.count, by: 64) {
        var (changed, tally) = (files, Tally())
        if killed { changed.log = Array(whole[..<end]) } else { changed.file = Array(whole[..<end]) }
        try await start(bench, changed, "\(killed ? "log" : "file") of \(end) bytes", &tally)
        #expect(tally.whole == 1, "\(killed ? "log" : "file") of \(end) bytes")
      }
      // And whole again.
      var tally = Tally()
      try await start(bench, files, "whole", &tally)
      #expect(tally.right == 2)
    }
  }
}
