// `token(for:renew:)`: what becomes of a renewal that succeeds, fails, is cancelled or outlives its lease, against a
// daemon that does what the test says. That one process at a time renews is tested end to end.

import Foundation
import ScriptedDaemon
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultModel
import VaultWire

@testable import VaultClient

@Suite struct TokenTests {
  private let folder: TemporaryFolder
  private let path: String
  private let id: EntryID

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/vault.sock"
    id = try EntryID("Stream.userToken", "alice")
  }

  private func client() throws -> Client {
    Client(try ClientSettings(socket: path))
  }

  private func entry(label: String? = nil) -> Entry {
    Entry(
      id: id, version: 1, created: WallTime(seconds: 1), modified: WallTime(seconds: 1), idle: 7_200,
      label: label,
      size: 1, store: .file)
  }

  /// A daemon that answers with these, one after the other, and then with `.empty`.
  private func daemon(_ answers: [ScriptedDaemon.Answer]) throws -> ScriptedDaemon {
    let next = Mutex(0)
    return try ScriptedDaemon(path) { _ in
      next.withLock { next in
        defer { next += 1 }
        return next < answers.count ? answers[next] : .reply(.empty)
      }
    }
  }

  private func lease(_ name: String, _ entry: Entry? = nil) -> ScriptedDaemon.Answer {
    .reply(.refreshed(lease: name, token: nil, entry: entry))
  }

  private func token(_ text: String) throws -> ScriptedDaemon.Answer {
    let token = Token(entry: entry(), secret: try SharedSecret(copying: text.utf8.span))
    return .reply(.refreshed(lease: nil, token: token, entry: token.entry))
  }

  private struct Refused: Error {}

  /// Both forms of the call.
  private func get(
    _ client: Client, blocking: Bool, minValidity: Duration = .zero, wait: Duration = .seconds(30),
    renew: @Sendable (Entry?) throws -> NewToken
  ) async throws -> Token {
    if blocking {
      return try client.blockingToken(for: id, minValidity: minValidity, wait: wait, renew: renew)
    }
    return try await client.token(for: id, minValidity: minValidity, wait: wait) { entry in try renew(entry) }
  }

  private func isSet(_ call: Call, lease: String, _ text: String) -> Bool {
    guard case .set(let request) = call else { return false }
    return request.lease == lease && request.secret.text == text
  }

  @Test(
    "a valid token is handed out and nothing renewed; times are whole seconds, rounded up",
    arguments: [true, false])
  func valid(blocking: Bool) async throws {
    let daemon = try daemon([try token("t"), try token("t")])
    defer { daemon.stop() }
    let client = try client()
    let got = try await get(
      client, blocking: blocking, minValidity: .milliseconds(59_001), wait: .milliseconds(1)
    ) { _ in
      throw Refused()
    }
    #expect(got.secret.text == "t")
    _ = try await get(client, blocking: blocking, wait: .zero) { _ in throw Refused() }
    guard case .refresh(id, minValidity: 60, wait: 1) = daemon.calls[0],
      case .refresh(id, minValidity: nil, wait: 1) = daemon.calls[1]
    else { throw Refused() }
  }

  @Test(
    "what was renewed is stored under the lease with its expiry, label and idle time",
    arguments: [true, false])
  func renewed(blocking: Bool) async throws {
    let daemon = try daemon([lease("l1", entry(label: "Stream, Alice")), .reply(.entry(entry()))])
    defer { daemon.stop() }
    let got = try await get(try client(), blocking: blocking) { old in
      #expect(old?.label == "Stream, Alice")
      return try NewToken("new", expiry: .after(.seconds(90)))
    }
    #expect(got.secret.text == "new" && got.entry == entry())
    guard case .set(let request) = daemon.calls[1] else { throw Refused() }
    #expect(request.lease == "l1" && request.expiresIn == 90 && request.expires == nil)
    #expect(request.label == "Stream, Alice" && request.idle == 7_200)
  }

  @Test("a JWT says itself when it is over; what is none is refused")
  func jwt() throws {
    // {"alg":"HS256","typ":"JWT"} {"user_id":"alice","exp":1900000000}
    let text = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ1c2VyX2lkIjoiYWxpY2UiLCJleHAiOjE5MDAwMDAwMDB9.c2ln"
    #expect(try NewToken(jwt: text).expiry == .at(WallTime(seconds: 1_900_000_000)))
    #expect(throws: VaultError.self) { try NewToken(jwt: "r:cbca71d29d76") }
  }

  @Test(
    "a renewal that fails gives the lease up, and its error comes through as it is", arguments: [true, false])
  func failed(blocking: Bool) async throws {
    let daemon = try daemon([lease("l1")])
    defer { daemon.stop() }
    let client = try client()
    await #expect(throws: Refused.self) {
      try await get(client, blocking: blocking) { _ in throw Refused() }
    }
    guard case .giveUp(lease: "l1") = daemon.calls[1] else { throw Refused() }
    #expect(daemon.calls.count == 2)
  }

  @Test("a store that refuses the new token is told, and the lease given up", arguments: [true, false])
  func refused(blocking: Bool) async throws {
    let full = VaultError.unavailable(store: .file, reason: "the disk is full")
    let daemon = try daemon([lease("l1"), .error(full)])
    defer { daemon.stop() }
    let client = try client()
    await #expect(throws: full) { try await get(client, blocking: blocking) { _ in try NewToken("new") } }
    guard case .giveUp(lease: "l1") = daemon.calls[2] else { throw Refused() }
  }

  @Test("a cancelled renewal gives the lease up, though its task is cancelled")
  func cancelled() async throws {
    let daemon = try daemon([lease("l1")])
    defer { daemon.stop() }
    let client = try client()
    let renews = Atomic(false)
    let task = Task {
      try await client.token(for: id) { _ in
        renews.store(true, ordering: .sequentiallyConsistent)
        try await Task.sleep(for: .seconds(3_600))
        return try NewToken("never")
      }
    }
    try await until("the renewal") { renews.load(ordering: .sequentiallyConsistent) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    guard case .giveUp(lease: "l1") = daemon.calls[1] else { throw Refused() }
  }

  @Test("who waits for another caller's renewal longer than it wants to gets its outcome, and renews nothing")
  func waited() async throws {
    let other = VaultError.unavailable(store: .vault, reason: "another caller renews it")
    let daemon = try daemon([.error(other)])
    defer { daemon.stop() }
    let client = try client()
    await #expect(throws: other) { try await get(client, blocking: false) { _ in throw Refused() } }
  }

  @Test(
    "a token whose lease ended while it was renewed gives way to what somebody else stored",
    arguments: [true, false])
  func overtaken(blocking: Bool) async throws {
    let daemon = try daemon([lease("l1"), .error(.conflict(id, version: 8)), try token("theirs")])
    defer { daemon.stop() }
    let got = try await get(try client(), blocking: blocking) { _ in try NewToken("ours") }
    #expect(got.secret.text == "theirs")
  }

  @Test(
    "a token whose lease ended, or whose daemon was killed, while it was renewed is stored under a new lease and not renewed again",
    arguments: [true, false], [true, false])
  func leaseEnded(blocking: Bool, killed: Bool) async throws {
    let ends: ScriptedDaemon.Answer = killed ? .hangUp() : .error(.conflict(id, version: 0))
    let daemon = try daemon([lease("l1"), ends, lease("l2"), .reply(.entry(entry()))])
    defer { daemon.stop() }
    let count = Atomic(0)
    let got = try await get(try client(), blocking: blocking) { _ in
      count.add(1, ordering: .sequentiallyConsistent)
      return try NewToken("ours")
    }
    #expect(got.secret.text == "ours")
    #expect(count.load(ordering: .sequentiallyConsistent) == 1)
    #expect(isSet(daemon.calls[1], lease: "l1", "ours") && isSet(daemon.calls[3], lease: "l2", "ours"))
  }

  @Test("a lease that always ends too early is a conflict after so many tries", arguments: [true, false])
  func endless(blocking: Bool) async throws {
    let tries = Limits.renewalTries + 1
    let conflict = VaultError.conflict(id, version: 0)
    let daemon = try daemon(
      (0..<tries).flatMap { _ in [lease("l"), ScriptedDaemon.Answer.error(conflict)] } + [.reply(.empty)])
    defer { daemon.stop() }
    let client = try client()
    await #expect(throws: conflict) {
      try await get(client, blocking: blocking) { _ in try NewToken("ours") }
    }
    #expect(daemon.calls.count == 2 * tries + 1)
  }

  @Test(
    "a token that the service refuses is cleared in the version that was read; a newer one stays, and that is no error"
  )
  func discard() async throws {
    let locked = VaultError.unavailable(store: .file, reason: "away")
    let cleared = ScriptedDaemon.Answer.reply(.clearance(Clearance(cleared: 1, pending: false)))
    let conflict = ScriptedDaemon.Answer.error(.conflict(id, version: 9))
    let daemon = try daemon([cleared, conflict, .error(locked), cleared, conflict, .error(locked)])
    defer { daemon.stop() }
    let client = try client()
    let token = Token(entry: entry(), secret: try SharedSecret(copying: "t".utf8.span))
    for _ in 0..<2 { try await client.discard(token) }
    await #expect(throws: locked) { try await client.discard(token) }
    func blocking() throws { try client.discard(token) }
    for _ in 0..<2 { try blocking() }
    #expect(throws: locked) { try blocking() }
    for call in daemon.calls {
      guard case .clear(id, ifVersion: 1) = call else { throw Refused() }
    }
  }
}
