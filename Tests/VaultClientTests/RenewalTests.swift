// Leases, watching and touching over a real socket, against a daemon that does what the test says.

import Foundation
import ScriptedDaemon
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultModel
import VaultWire

@testable import VaultClient

@Suite struct RenewalTests {
  private let folder: TemporaryFolder
  private let path: String
  private let id: EntryID

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/vault.sock"
    id = EntryID(try Key("Back4Gram.sessionToken"))
  }

  private func client(_ timeout: Duration = .seconds(20)) throws -> Client {
    Client(try ClientSettings(socket: path, timeout: timeout, promptTimeout: timeout))
  }

  private func entry() -> Entry {
    Entry(
      id: id, version: 1, created: WallTime(seconds: 1), modified: WallTime(seconds: 1), size: 1, store: .file
    )
  }

  private func request() throws -> SetRequest {
    SetRequest(id: id, secret: SharedSecret(try SecretBytes(copying: "new")), expiresIn: 60)
  }

  private func outcome(_ body: () throws -> Void) -> VaultError? {
    do {
      try body()
      return nil
    } catch {
      return error as? VaultError
    }
  }

  private func lease(_ refreshed: Refreshed) throws -> Lease {
    guard case .lease(let lease) = refreshed else { throw VaultError.denied(reason: "no lease") }
    return lease
  }

  @Test("a token that is valid long enough comes without a lease")
  func valid() throws {
    let token = Token(entry: entry(), secret: SharedSecret(try SecretBytes(copying: "t")))
    let daemon = try ScriptedDaemon(path) { _ in
      .reply(.refreshed(lease: nil, token: token, entry: token.entry))
    }
    defer { daemon.stop() }
    guard case .token(let got) = try client().refresh(id, minValidity: 60, wait: 5) else {
      throw VaultError.denied(reason: "no token")
    }
    #expect(got.secret.text == "t")
    guard case .refresh(id, minValidity: 60, wait: 5) = daemon.calls[0] else {
      throw VaultError.denied(reason: "another call")
    }
  }

  @Test("what is done under a lease goes over the connection that it was granted on, and nothing else does")
  func leaseConnection() throws {
    let lease = entry()
    let daemon = try ScriptedDaemon(path) { call in
      switch call {
      case .refresh: .reply(.refreshed(lease: "l1", token: nil, entry: lease))
      case .set: .reply(.entry(lease))
      default: .reply(.entries([]))
      }
    }
    defer { daemon.stop() }
    let client = try client()
    let granted = try self.lease(try client.refresh(id))
    #expect(granted.entry == lease)
    _ = try client.list()
    #expect(daemon.accepted == 2)
    #expect(try granted.set(try request()) == lease)
    #expect(daemon.accepted == 2)
    guard case .set(let sent) = daemon.calls[2] else { throw VaultError.denied(reason: "another call") }
    #expect(sent.lease == "l1" && sent.expiresIn == 60)
    // It is over.
    #expect(
      outcome { try granted.set(try request()) } == .noDaemon(.ended(socket: path, mayTakeEffect: false)))
    granted.giveUp()
    #expect(daemon.calls.count == 3)
  }

  @Test("a lease whose daemon was restarted is not used with the new one")
  func leaseAfterRestart() throws {
    let answer: @Sendable (Call) -> ScriptedDaemon.Answer = { call in
      if case .refresh = call { return .reply(.refreshed(lease: "l1", token: nil, entry: nil)) }
      return .error(.denied(reason: "never asked"))
    }
    let first = try ScriptedDaemon(path, answer: answer)
    let granted = try lease(try client().refresh(id))
    first.stop()
    let second = try ScriptedDaemon(path, answer: answer)
    defer { second.stop() }
    #expect(
      outcome { try granted.set(try request()) } == .noDaemon(.ended(socket: path, mayTakeEffect: false)))
    granted.giveUp()
    #expect(second.accepted == 0)
  }

  @Test("a set under a lease that is refused leaves the lease, which is given up with its name")
  func refusedSet() throws {
    let daemon = try ScriptedDaemon(path) { call in
      switch call {
      case .refresh: .reply(.refreshed(lease: "l1", token: nil, entry: nil))
      case .set: .error(.unavailable(store: .file, reason: "the disk is full"))
      default: .reply(.empty)
      }
    }
    defer { daemon.stop() }
    let granted = try lease(try client().refresh(id))
    #expect(granted.entry == nil)
    #expect(outcome { try granted.set(try request()) }?.outcome == .unavailable)
    #expect(outcome { try granted.set(try request()) }?.outcome == .unavailable)
    granted.giveUp()
    guard case .giveUp(lease: "l1") = daemon.calls[3] else { throw VaultError.denied(reason: "another call") }
  }

  @Test("touch sends the key and returns the entry")
  func touch() throws {
    let touched = entry()
    let daemon = try ScriptedDaemon(path) { _ in .reply(.entry(touched)) }
    defer { daemon.stop() }
    #expect(try client().touch(id) == touched)
    guard case .touch(id) = daemon.calls[0] else { throw VaultError.denied(reason: "another call") }
  }

  @Test("`watch` returns once watching has begun; events come in order, also in one piece; the end is told")
  func watch() throws {
    let events = (1...20).map { VaultEvent(.set, id: id, version: $0, store: .file) }
    let daemon = try ScriptedDaemon(path) { _ in .repliesAndEnd([.event(nil)] + events.map { .event($0) }) }
    defer { daemon.stop() }
    let watch = try client().watch(id.key.namespace)
    var got: [VaultEvent] = []
    while got.count < 20, let event = try watch.next() { got.append(event) }
    #expect(got == events)
    for _ in 0..<2 {
      #expect(outcome { _ = try watch.next() } == .noDaemon(.ended(socket: path, mayTakeEffect: false)))
    }
    guard case .watch(namespace: id.key.namespace, key: nil) = daemon.calls[0] else {
      throw VaultError.denied(reason: "another call")
    }
  }

  @Test("who waits for an event is interrupted by another thread, and stops by itself when its time is over")
  func interrupt() throws {
    let daemon = try ScriptedDaemon(path) { _ in .replies([.event(nil)]) }
    defer { daemon.stop() }
    let watch = try client().watch(key: id.key)
    #expect(try watch.next(within: .zero) == nil)
    #expect(try watch.next(within: .milliseconds(1)) == nil)
    let began = DispatchSemaphore(value: 0)
    let thread = Thread {
      began.wait()
      watch.interrupt()
    }
    thread.start()
    began.signal()
    #expect(try watch.next() == nil)
    #expect(try watch.next() == nil)
  }

  @Test("a daemon that does not watch says so; one that ends the replies at once is none")
  func noWatch() throws {
    let answers: [ScriptedDaemon.Answer] = [
      .service(.methodNotImplemented("org.vaultd.Vault.Watch")), .reply(.event(nil)),
      .replies([.event(VaultEvent(.set, id: id))]),
    ]
    let next = Mutex(0)
    let daemon = try ScriptedDaemon(path) { _ in
      next.withLock { next in
        defer { next += 1 }
        return answers[next]
      }
    }
    defer { daemon.stop() }
    let client = try client()
    #expect(outcome { _ = try client.watch() }?.outcome == .invalidArgument)
    for _ in 0..<2 {
      #expect(outcome { _ = try client.watch() } == .noDaemon(.broken(socket: path, mayTakeEffect: false)))
    }
  }
}
