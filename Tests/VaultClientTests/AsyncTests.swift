// Calls that tasks await, over a real socket, against a daemon that does what the test says.

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

@Suite struct AsyncTests {
  private let folder: TemporaryFolder
  private let path: String
  private let id: EntryID

  init() throws {
    folder = try TemporaryFolder()
    path = folder.path + "/vault.sock"
    id = try EntryID("Back4Gram.sessionToken")
  }

  private func client(_ timeout: Duration = .seconds(20)) throws -> Client {
    Client(try ClientSettings(socket: path, timeout: timeout, promptTimeout: timeout))
  }

  private func entry() -> Entry {
    Entry(
      id: id, version: 1, created: WallTime(seconds: 1), modified: WallTime(seconds: 1), size: 1, store: .file
    )
  }

  private func outcome(_ body: () async throws -> Void) async -> VaultError? {
    do {
      try await body()
      return nil
    } catch {
      return error as? VaultError
    }
  }

  @Test(
    "a secret comes back byte for byte, as text, as bytes and in locked memory", arguments: [0, 1, 1_048_576])
  func secret(size: Int) async throws {
    let kept = Mutex<SharedSecret?>(nil)
    let entry = entry()
    let daemon = try ScriptedDaemon(path) { call in
      if case .set(let request) = call { kept.withLock { $0 = request.secret } }
      guard case .get = call, let secret = kept.withLock({ $0 }) else { return .reply(.entry(entry)) }
      return .reply(.token(Token(entry: entry, secret: secret)))
    }
    defer { daemon.stop() }
    let client = try client()
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    #expect(try await client.set(id.key.text, to: bytes) == entry)
    #expect(try await client.bytes(id.key.text) == bytes)
    let text = String(repeating: "ü", count: size / 2)
    try await client.set(id.key.text, account: "alice", to: text)
    #expect(try await client.text(id.key.text, account: "alice") == text)
    try await client.set(id.key.text, to: try SecretBytes(copying: bytes.span))
    let secret = try await client.secret(id.key.text)
    #expect(secret.withBytes { span in span.indices.map { span[$0] } } == bytes)
    #expect(daemon.accepted == 1)
    #expect(
      await outcome { try await client.set("a.b", to: [UInt8](repeating: 0, count: 1_048_577)) }
        == .tooLarge(size: 1_048_577, limit: 1_048_576))
  }

  @Test("200 calls wait at once, and no thread of Swift's pool does")
  func many() async throws {
    let gate = Mutex<[DispatchSemaphore]>([])
    let daemon = try ScriptedDaemon(path, backlog: 256) { call in
      if case .status = call { return .error(.denied(reason: "asked")) }
      let semaphore = DispatchSemaphore(value: 0)
      gate.withLock { $0.append(semaphore) }
      semaphore.wait()
      return .reply(.entries([]))
    }
    defer { daemon.stop() }
    let client = try client()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<200 { group.addTask { _ = try await client.list() } }
      try await until("200 calls") { daemon.calls.count >= 200 }
      // The pool has as many threads as there are processors; all the same this one is answered.
      #expect(await outcome { _ = try await client.status() } == .denied(reason: "asked"))
      gate.withLock { $0.forEach { $0.signal() } }
      try await group.waitForAll()
    }
    #expect(daemon.calls.count == 201)
  }

  @Test("a cancelled task ends its call at once; whether the change may take effect is said")
  func cancelled() async throws {
    let daemon = try ScriptedDaemon(path) { _ in .nothing }
    defer { daemon.stop() }
    let client = try client(.seconds(3_600))
    for (index, change) in [false, true].enumerated() {
      let task = Task {
        await outcome { if change { try await client.clear(id) } else { _ = try await client.list() } }
      }
      try await until("the call") { daemon.calls.count > index }
      task.cancel()
      #expect(await task.value == .noDaemon(.interrupted(socket: path, mayTakeEffect: change)))
    }
    // A connection on which an answer may still come is not used again.
    #expect(daemon.accepted == 2)
  }

  @Test("a task that was cancelled before sends nothing")
  func cancelledBefore() async throws {
    let daemon = try ScriptedDaemon(path) { _ in .reply(.entries([])) }
    defer { daemon.stop() }
    let client = try client()
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return await outcome { _ = try await client.clear(id) }
    }
    task.cancel()
    #expect(await task.value == .noDaemon(.interrupted(socket: path, mayTakeEffect: false)))
    #expect(daemon.accepted == 0)
  }

  @Test("the connection is made anew after the daemon was restarted")
  func restart() async throws {
    let client = try client()
    for _ in 0..<3 {
      let daemon = try ScriptedDaemon(path) { _ in .reply(.entry(self.entry())) }
      #expect(try await client.set(id.key.text, to: "s") == entry())
      daemon.stop()
    }
    #expect(await outcome { _ = try await client.list() } == .noDaemon(.nobodyListens(socket: path)))
  }

  /// Calls, and whether each is made again after it was sent and the connection ended.
  static let natures: [(Call, repeated: Bool)] = {
    guard let id = try? EntryID("a.b"), let secret = try? SharedSecret(copying: "s".utf8.span) else {
      return []
    }
    return [
      (.get(GetRequest(id: id)), true), (.list(nil), true), (.slots, true), (.verify, true), (.status, true),
      (.touch(id), true), (.lock, true), (.refresh(id, minValidity: nil, wait: nil), true),
      (.set(SetRequest(id: id, secret: secret)), false), (.clear(id, ifVersion: nil), false),
      (.clearNamespace(id.key.namespace, account: nil), false), (.unlock(nil), false),
      (.initialise(.keyFile("/k")), false), (.addSlot(.keyFile("/k")), false), (.removeSlot(1), false),
      (.giveUp(lease: "l"), false),
    ]
  }()

  @Test(
    "a call that was sent and lost is made again where that cannot matter, and never else",
    arguments: natures.indices, [false, true])
  func lostCalls(index: Int, blocking: Bool) async throws {
    let (call, repeated) = Self.natures[index]
    let count = Mutex(0)
    let daemon = try ScriptedDaemon(path) { _ in
      count.withLock { count in
        count += 1
        return count == 2 ? .hangUp() : .error(.denied(reason: "answered"))
      }
    }
    defer { daemon.stop() }
    let client = try client()
    func make(_ call: Call) async throws {
      if blocking { try exchangeBlocking(client, call) } else { _ = try await client.exchange(call) }
    }
    #expect(await outcome { try await make(.getInfo) } == .denied(reason: "answered"))
    let expected: VaultError =
      repeated ? .denied(reason: "answered") : .noDaemon(.ended(socket: path, mayTakeEffect: true))
    #expect(await outcome { try await make(call) } == expected)
    #expect(daemon.calls.count == (repeated ? 3 : 2))
  }

  private func exchangeBlocking(_ client: Client, _ call: Call) throws {
    _ = try client.exchange(call)
  }

  @Test("a daemon that does not answer ends in no daemon at the deadline")
  func silence() async throws {
    let daemon = try ScriptedDaemon(path) { _ in .nothing }
    defer { daemon.stop() }
    let client = try client(.milliseconds(30))
    #expect(
      await outcome { _ = try await client.list() }
        == .noDaemon(.noAnswer(socket: path, mayTakeEffect: false)))
    #expect(
      await outcome { try await client.clear(id) } == .noDaemon(.noAnswer(socket: path, mayTakeEffect: true)))
  }

  @Test("a listener that accepts nobody ends in no daemon at the deadline, and is reached once it does")
  func fullQueue() async throws {
    let listener = clinux_stream_socket(false)
    defer { close(listener) }
    #expect(unsafe clinux_socket_bind(listener, path) == 0)
    #expect(clinux_socket_listen(listener, 0) == 0)
    // The queue holds one more than its length.
    var held: [Int32] = []
    defer { held.forEach { close($0) } }
    repeat {
      held.append(clinux_stream_socket(true))
    } while unsafe clinux_socket_connect(held[held.count - 1], path) == 0
    let hasty = try client(.milliseconds(30))
    #expect(
      await outcome { _ = try await hasty.list() } == .noDaemon(.noAnswer(socket: path, mayTakeEffect: false))
    )
    let patient = try client()
    let call = Task { await outcome { _ = try await patient.list() } }
    for _ in held.indices { close(clinux_socket_accept(listener)) }
    // The last one of these was the call's: it was connected, and then closed.
    #expect(await call.value == .noDaemon(.ended(socket: path, mayTakeEffect: false)))
  }

  @Test("a daemon of another user gets not one byte")
  func foreign() async throws {
    let daemon = try ScriptedDaemon(path) { _ in .reply(.entries([])) }
    defer { daemon.stop() }
    var settings = try ClientSettings(socket: path)
    settings.user = geteuid() &+ 1
    let client = Client(settings)
    #expect(
      await outcome { _ = try await client.list() } == .noDaemon(.foreign(socket: path, user: geteuid())))
    #expect(daemon.bytes == 0)
  }

  @Test("events come in order as a sequence, which throws when the daemon ends")
  func events() async throws {
    let events = (1...20).map { VaultEvent(.set, id: id, version: $0, store: .file) }
    let daemon = try ScriptedDaemon(path) { _ in .repliesAndEnd([.event(nil)] + events.map { .event($0) }) }
    defer { daemon.stop() }
    var got: [VaultEvent] = []
    let ended = await outcome {
      for try await event in try await client().watch(key: id.key) { got.append(event) }
    }
    #expect(got == events)
    #expect(ended == .noDaemon(.ended(socket: path, mayTakeEffect: false)))
  }

  @Test("a sequence of events ends when its task is cancelled, and when it is interrupted")
  func endOfEvents() async throws {
    let daemon = try ScriptedDaemon(path) { _ in .replies([.event(nil), .event(VaultEvent(.locked))]) }
    defer { daemon.stop() }
    for cancels in [true, false] {
      let watch = try await client().watch()
      let seen = Atomic(0)
      let task = Task {
        for try await _ in watch { seen.add(1, ordering: .sequentiallyConsistent) }
      }
      try await until("an event") { seen.load(ordering: .sequentiallyConsistent) > 0 }
      if cancels { task.cancel() } else { watch.interrupt() }
      try await task.value
      #expect(seen.load(ordering: .sequentiallyConsistent) == 1)
    }
  }
}
