// The root of the tests with the real programs. They run one after another: each starts processes, and what they
// time out on is a busy machine.

import Foundation
import Spawning
import Testing

/// Tests with the real daemon and the real command.
@Suite("End to end", .serialized)
enum EndToEnd {}

/// The stores that every scenario runs on.
enum StoreUnderTest: String, CaseIterable, CustomTestStringConvertible {
  case secretService = "secret_service"
  case file

  var testDescription: String { rawValue }

  /// Runs a test with a daemon that keeps everything in this store.
  func run(_ body: (ThrowawaySession, DaemonUnderTest) throws -> Void) throws {
    switch self {
    case .secretService:
      try ThrowawaySession.with(.keyring) { session in
        try body(session, try session.daemon("--store", "secret-service"))
      }
    case .file:
      try ThrowawaySession.with { session in try body(session, try session.daemonWithFile()) }
    }
  }
}

/// A command that failed as it must: with this status, one line that says why, and nothing on standard output.
func expectFailure(
  _ ended: Ended, _ status: Int32, _ comment: @autoclosure () -> Comment? = nil,
  at location: SourceLocation = #_sourceLocation
) {
  #expect(ended.status == status, comment() ?? "\(ended.errors)", sourceLocation: location)
  #expect(ended.output.isEmpty, "standard output holds \(ended.text)", sourceLocation: location)
  let lines = ended.errors.split(separator: "\n", omittingEmptySubsequences: false)
  #expect(lines.count == 2 && lines.last == "", "not one line: \(ended.errors)", sourceLocation: location)
}

/// A command that did what it was told.
func expectSuccess(_ ended: Ended, at location: SourceLocation = #_sourceLocation) {
  #expect(ended.status == 0, "\(ended.errors)", sourceLocation: location)
}

extension ThrowawaySession {
  /// Sets a token of any bytes.
  func set(
    _ key: String, _ secret: Data, account: String? = nil, at location: SourceLocation = #_sourceLocation
  ) throws {
    let account = account.map { ["--account", $0] } ?? []
    let ended = try command(
      [Project.vault, "set"] + account + ["--raw", "--allow-empty", "--", key], input: secret)
    #expect(ended.status == 0, "\(key): \(ended.errors)", sourceLocation: location)
  }

  /// Reads a token's bytes; `nil` where nothing is stored.
  func get(
    _ key: String, account: String? = nil, at location: SourceLocation = #_sourceLocation
  ) throws -> Data? {
    let account = account.map { ["--account", $0] } ?? []
    let ended = try command([Project.vault, "get"] + account + ["--", key])
    if ended.status == 1 { return nil }
    #expect(ended.status == 0, "\(key): \(ended.errors)", sourceLocation: location)
    return ended.output
  }
}

/// Bytes that look like nothing, the same for the same seed.
func randomBytes(_ count: Int, seed: UInt64 = 1) -> Data {
  var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
  var bytes = Data(capacity: count)
  for _ in 0..<count {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    bytes.append(UInt8(truncatingIfNeeded: state >> 32))
  }
  return bytes
}
