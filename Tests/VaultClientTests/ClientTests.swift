// The client over a real socket, against a daemon that does what the test says.

import CLinux
import Foundation
import ScriptedDaemon
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultModel
import VaultWire

@testable import VaultClient

@Suite struct ClientTests {
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

  private func entry(size: Int = 0) -> Entry {
    Entry(
      id: id, version: 1, created: WallTime(seconds: 1), modified: WallTime(seconds: 1), size: size,
      store: .file)
  }

  private func token(_ bytes: [UInt8]) throws -> Token {
    Token(entry: entry(size: bytes.count), secret: SharedSecret(try SecretBytes(copying: bytes.span)))
  }

  private func outcome(_ body: () throws -> Void) -> VaultError? {
    do {
      try body()
      return nil
    } catch {
      return error as? VaultError
    }
  }

  @Test(
    "a secret comes back byte for byte, of every size that is allowed",
    arguments: [0, 1, 256, 65_536, 1_048_576])
  func secret(size: Int) throws {
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let token = try token(bytes)
    let daemon = try ScriptedDaemon(path) { _ in .reply(.token(token)) }
    defer { daemon.stop() }
    let got = try client().get(GetRequest(id: id))
    #expect(got.secret.withBytes { span in span.indices.map { span[$0] } } == bytes)
    #expect(got.entry == token.entry)
  }

  @Test("tokens are text or bytes where a program has them so")
  func text() throws {
    let kept = Mutex<SharedSecret?>(nil)
    let daemon = try ScriptedDaemon(path) { call in
      switch call {
      case .set(let request):
        kept.withLock { $0 = request.secret }
        return .reply(.entry(self.entry()))
      default:
        guard let secret = kept.withLock({ $0 }) else { return .error(.notFound(self.id)) }
        return .reply(.token(Token(entry: self.entry(), secret: secret)))
      }
    }
    defer { daemon.stop() }
    let client = try client()
    try client.set("Back4Gram.sessionToken", to: "r:cbca71d2 ü")
    #expect(try client.text("Back4Gram.sessionToken") == "r:cbca71d2 ü")
    try client.set("Back4Gram.sessionToken", account: "alice", to: [0, 0xFF, 0x80])
    #expect(try client.bytes("Back4Gram.sessionToken", account: "alice") == [0, 0xFF, 0x80])
    #expect(outcome { _ = try client.text("Back4Gram.sessionToken") }?.outcome == .invalidArgument)
    #expect(outcome { _ = try client.text("nodot") }?.outcome == .invalidArgument)
  }

  @Test("a secret of 1 MiB is sent, one byte more is refused before anything is")
  func largest() throws {
    let daemon = try ScriptedDaemon(path) { _ in .reply(.entry(self.entry())) }
    defer { daemon.stop() }
    let client = try client()
    #expect(
      outcome { try client.set("a.b", to: [UInt8](repeating: 0, count: 1_048_577)) }
        == .tooLarge(size: 1_048_577, limit: 1_048_576))
    #expect(daemon.accepted == 0)
    // Of NUL bytes, which are the longest in text.
    try client.set("a.b", to: [UInt8](repeating: 0, count: 1_048_576))
    try client.set("a.b", to: [UInt8](repeating: 1, count: 1_048_576))
    #expect(daemon.calls.count == 2)
  }

  @Test("calls one after the other use one connection")
  func oneConnection() throws {
    let daemon = try ScriptedDaemon(path) { call in
      if case .lock = call { return .error(.denied(reason: "no")) }
      return .reply(.entries([]))
    }
    defer { daemon.stop() }
    let client = try client()
    for _ in 0..<10 {
      #expect(try client.list() == [])
      #expect(outcome { try client.lock() } == .denied(reason: "no"))
    }
    #expect(daemon.accepted == 1)
    #expect(daemon.calls.count == 20)
  }

  @Test("a call that waits delays no call of another thread")
  func concurrent() throws {
    let gate = DispatchSemaphore(value: 0)
    let token = try token([1])
    let daemon = try ScriptedDaemon(path) { call in
      guard case .get = call else { return .reply(.entries([])) }
      gate.wait()
      return .reply(.token(token))
    }
    defer { daemon.stop() }
    let client = try client()
    let request = GetRequest(id: id)
    let done = DispatchSemaphore(value: 0)
    let waiting = Thread {
      _ = try? client.get(request)
      done.signal()
    }
    waiting.start()
    for _ in 0..<20_000 where daemon.calls.isEmpty { usleep(1_000) }
    try #require(!daemon.calls.isEmpty)
    #expect(try client.list() == [])
    gate.signal()
    #expect(done.wait(timeout: .now() + 20) == .success)
    #expect(daemon.accepted == 2)
  }

  @Test("the connection is made anew after the daemon was restarted")
  func restart() throws {
    let client = try client()
    for _ in 0..<3 {
      let daemon = try ScriptedDaemon(path) { _ in .reply(.entry(self.entry())) }
      let secret = SharedSecret(try SecretBytes(copying: "s"))
      #expect(try client.set(SetRequest(id: id, secret: secret)) == entry())
      daemon.stop()
    }
    #expect(outcome { _ = try client.list() } == .noDaemon(.nobodyListens(socket: path)))
  }

  @Test(
    "a call that changes nothing is made again when the kept connection ends under it; one that changes is not"
  )
  func endedUnderCall() throws {
    // Every second call finds its connection closed.
    let count = Mutex(0)
    let daemon = try ScriptedDaemon(path) { _ in
      count.withLock { count in
        count += 1
        return count % 2 == 0 ? .hangUp() : .reply(.entries([]))
      }
    }
    defer { daemon.stop() }
    let client = try client()
    #expect(try client.list() == [])
    #expect(try client.list() == [])
    #expect(daemon.calls.count == 3)
    let ended = outcome { _ = try client.clear(id) }
    #expect(ended == .noDaemon(.ended(socket: path, mayTakeEffect: true)))
    #expect("\(try #require(ended))".contains("may still take effect"))
    #expect(daemon.calls.count == 4)
  }

  @Test("nobody listens: no socket, a stale one, a file")
  func nobody() throws {
    #expect(outcome { _ = try client().list() } == .noDaemon(.nobodyListens(socket: path)))
    let daemon = try ScriptedDaemon(path) { _ in .nothing }
    try FileManager.default.moveItem(atPath: path, toPath: path + "2")
    daemon.stop()
    try FileManager.default.moveItem(atPath: path + "2", toPath: path)
    #expect(outcome { _ = try client().list() } == .noDaemon(.nobodyListens(socket: path)))
    try FileManager.default.removeItem(atPath: path)
    try Data().write(to: URL(fileURLWithPath: path))
    #expect(outcome { _ = try client().list() } == .noDaemon(.nobodyListens(socket: path)))
  }

  @Test("a daemon that does not answer ends in no daemon at the deadline, and says whether a change was sent")
  func silence() throws {
    let daemon = try ScriptedDaemon(path) { _ in .nothing }
    defer { daemon.stop() }
    let client = try client(.milliseconds(30))
    let begin = ContinuousClock.now
    #expect(outcome { _ = try client.list() } == .noDaemon(.noAnswer(socket: path, mayTakeEffect: false)))
    #expect(
      outcome { _ = try client.clear(id) } == .noDaemon(.noAnswer(socket: path, mayTakeEffect: true)))
    #expect(ContinuousClock.now - begin < .seconds(5))
    // A connection on which an answer may still come is not used again.
    #expect(daemon.accepted == 2)
  }

  @Test("a daemon that waits for a person is waited for; one that is silent on every connection is not")
  func stuck() throws {
    let token = try token([1])
    let gate = DispatchSemaphore(value: 0)
    let isStuck = Mutex(false)
    let daemon = try ScriptedDaemon(path) { call in
      if case .getInfo = call {
        defer { gate.signal() }
        if isStuck.withLock({ $0 }) { return .nothing }
        return .reply(
          .info(ServiceInfo(vendor: "v", product: "vaultd", version: "0", url: "u", interfaces: [])))
      }
      if isStuck.withLock({ $0 }) { return .nothing }
      // The answer comes after the client has asked whether there is anybody.
      gate.wait()
      return .reply(.token(token))
    }
    defer { daemon.stop() }
    let settings = try ClientSettings(
      socket: path, timeout: .milliseconds(30), promptTimeout: .seconds(3_600))
    let client = Client(settings)
    #expect(try client.get(GetRequest(id: id)).entry == token.entry)
    isStuck.withLock { $0 = true }
    #expect(
      outcome { _ = try client.get(GetRequest(id: id)) }
        == .noDaemon(.noAnswer(socket: path, mayTakeEffect: false)))
  }

  @Test("a listener that accepts nobody ends in no daemon at the deadline")
  func fullQueue() throws {
    let listener = clinuxListener(path)
    defer { close(listener) }
    // The queue holds one more than its length; the clients after that wait in connect.
    var held: [Int32] = []
    defer { held.forEach { close($0) } }
    for _ in 0..<2 { held.append(connectDirectly(path)) }
    let client = try client(.milliseconds(30))
    #expect(outcome { _ = try client.list() } == .noDaemon(.noAnswer(socket: path, mayTakeEffect: false)))
  }

  @Test("a daemon of another user gets not one byte")
  func foreign() throws {
    let daemon = try ScriptedDaemon(path) { _ in .reply(.entries([])) }
    defer { daemon.stop() }
    var settings = try ClientSettings(socket: path)
    settings.user = geteuid() &+ 1
    #expect(
      outcome { _ = try Client(settings).list() } == .noDaemon(.foreign(socket: path, user: geteuid())))
    #expect(daemon.bytes == 0)
  }

  @Test(
    "what is no answer to the call is no daemon, and the connection is not used again",
    arguments: [
      "{}\0{}\0", "\0", "nonsense\0", "[]\0", #"{"parameters":{"entries":3}}"# + "\0",
      #"{"parameters":{"entries":[]},"continues":true}"# + "\0",
      #"{"error":"com.example.Other","parameters":{}}"# + "\0",
      #"{"parameters":{"entries":[]}}"# + "\0x", #"{"parameters":{"secret":"s"}}"# + "\0",
    ])
  func rubbish(text: String) throws {
    let daemon = try ScriptedDaemon(path) { _ in .bytes(Array(text.utf8)) }
    defer { daemon.stop() }
    let client = try client()
    for attempt in 1...2 {
      #expect(outcome { _ = try client.list() } == .noDaemon(.broken(socket: path, mayTakeEffect: false)))
      #expect(daemon.accepted == attempt)
    }
  }

  @Test("half an answer is none")
  func half() throws {
    let daemon = try ScriptedDaemon(path) { _ in .hangUp(after: Array(#"{"parameters":{"entr"#.utf8)) }
    defer { daemon.stop() }
    #expect(outcome { _ = try client().list() } == .noDaemon(.broken(socket: path, mayTakeEffect: false)))
  }

  @Test("every outcome of the daemon is one of the client's, with the same name, status and text")
  func outcomes() throws {
    let errors: [VaultError] = [
      .notFound(id), .invalidArgument(argument: "key", reason: "r"), .expired(id, at: WallTime(seconds: 5)),
      .locked(store: .file, reason: "l"), .denied(reason: "d"), .conflict(id, version: 8),
      .unavailable(store: .secretService, reason: "u", stored: WallTime(seconds: 9)),
      .damaged(store: .file, reason: "d"), .wrongPassphrase, .unsupportedVersion(found: 2, supported: 1),
      .tooLarge(size: 1_048_577, limit: 1_048_576), .internal(reason: "i"),
    ]
    let next = Mutex(0)
    let daemon = try ScriptedDaemon(path) { _ in
      next.withLock { next in
        defer { next += 1 }
        return .error(errors[next])
      }
    }
    defer { daemon.stop() }
    let client = try client()
    for error in errors {
      let got = try #require(outcome { _ = try client.get(GetRequest(id: id)) })
      #expect(got == error)
      #expect(got.description == error.description)
    }
    #expect(Set(errors.map(\.outcome.exitStatus)).count == Outcome.allCases.count - 1)
  }

  @Test("a daemon that does not know the call has done nothing")
  func unknownMethod() throws {
    let daemon = try ScriptedDaemon(path) { _ in .service(.methodNotImplemented("org.vaultd.Vault.Verify")) }
    defer { daemon.stop() }
    #expect(outcome { _ = try client().verify() }?.outcome == .invalidArgument)
  }

  @Test("a list of 20,000 entries is read whole")
  func longList() throws {
    let entries = try (0..<20_000).map { index in
      Entry(
        id: EntryID(try Key("namespace.name\(index)"), try Account("account\(index)")),
        version: Int64(index + 1),
        created: WallTime(seconds: 1), modified: WallTime(seconds: 2), label: "label", size: 3, store: .file)
    }
    let daemon = try ScriptedDaemon(path) { _ in .reply(.entries(entries)) }
    defer { daemon.stop() }
    #expect(try client().list() == entries)
  }
}

/// A socket that listens with a queue of none and accepts nobody.
private func clinuxListener(_ path: String) -> Int32 {
  let listener = clinux_stream_socket(false)
  _ = unsafe clinux_socket_bind(listener, path)
  _ = clinux_socket_listen(listener, 0)
  return listener
}

private func connectDirectly(_ path: String) -> Int32 {
  let socket = clinux_stream_socket(true)
  _ = unsafe clinux_socket_connect(socket, path)
  return socket
}
