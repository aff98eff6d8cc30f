// What one client may take up: at each limit, and one past it.

import CLinux
import Foundation
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import VaultDaemon

@Suite(.serialized) struct LimitTests {
  @Test("a frame of 6.5 MiB is a call, one byte more is refused and ends the connection")
  func frame() async throws {
    let reception = try await Reception()
    try await reception.put("n.k", size: 2)
    let call = Array(get("n.k").utf8)
    let spaces = [UInt8](repeating: 0x20, count: Limits.frameBytes - call.count)

    let fits = try await reception.connect()
    fits.send(bytes: call + spaces + [0])
    #expect(fits.frames(1).first?.contains(#""secret":"ss""#) == true)
    fits.send(get("n.k"))
    #expect(fits.frames(1).count == 1)

    let over = try await reception.connect()
    over.send(bytes: call + spaces + [0x20, 0])
    #expect(over.frames(1).first?.contains("TooLarge") == true)
    #expect(over.isClosed())
  }

  @Test("bytes without an end are refused once they are too many")
  func endless() async throws {
    let reception = try await Reception()
    let caller = try await reception.connect()
    let chunk = [UInt8](repeating: 0x20, count: 1 << 20)
    var sent = 0
    while sent < 64 << 20 {
      let count = caller.send(bytes: chunk)
      sent += count
      if count < chunk.count { break }
    }
    #expect(sent < 9 << 20)
    #expect(caller.frames(1).first?.contains("TooLarge") == true)
    #expect(caller.isClosed())
  }

  @Test("a call has to be complete in time: not a millisecond less, and not one more")
  func sendTime() async throws {
    let reception = try await Reception()
    let caller = try await reception.connect()
    caller.send(bytes: Array("{".utf8))
    await reception.settle { reception.server.isHoldingNothing == false }
    await reception.pass(milliseconds: Int64(Limits.sendSeconds) * 1_000 - 1)
    #expect(caller.isSilent())
    // Not the last byte counts, but the first.
    caller.send(bytes: Array(#""method""#.utf8))
    await reception.settle { false }
    await reception.pass(milliseconds: 1)
    #expect(caller.frames(1).first?.contains("Unavailable") == true)
    #expect(caller.isClosed())
  }

  @Test("an idle connection has no time limit")
  func idle() async throws {
    let reception = try await Reception()
    let caller = try await reception.connect()
    caller.send(get("n.k"))
    #expect(caller.frames(1).count == 1)
    await reception.pass(milliseconds: 1_000_000)
    caller.send(get("n.k"))
    #expect(caller.frames(1).count == 1)
  }

  @Test("an answer that is not taken in time ends the connection, and no other one waits meanwhile")
  func receiveTime() async throws {
    let reception = try await Reception()
    try await reception.put("n.big", size: Limits.secretBytes)
    try await reception.put("n.k", size: 1)
    let stuck = try await reception.connect()
    stuck.send(get("n.big"))
    await reception.settle { reception.server.isHoldingNothing == false }
    let other = try await reception.connect()
    other.send(get("n.k"))
    #expect(other.frames(1).count == 1)
    await reception.pass(milliseconds: Int64(Limits.receiveSeconds) * 1_000 - 1)
    #expect(await reception.server.count == 2)
    await reception.pass(milliseconds: 1)
    #expect(await reception.server.count == 1)
    #expect(await reception.server.isHoldingNothing)
    #expect(stuck.isClosed())
  }

  @Test("a client that reads slowly gets all of it")
  func slowReader() async throws {
    let reception = try await Reception()
    try await reception.put("n.big", size: Limits.secretBytes)
    let caller = try await reception.connect()
    caller.send(get("n.big"), get("n.big"), get("n.big"))
    var received = 0
    while received < 3 * Limits.secretBytes, let bytes = caller.receive(), !bytes.isEmpty {
      received += bytes.count
      await reception.pass(milliseconds: 100)
    }
    #expect(received > 3 * Limits.secretBytes)
    #expect(await reception.server.count == 1)
    #expect(await reception.server.isHoldingNothing)
  }

  @Test("a client that sends calls and reads nothing is not read from any more")
  func backpressure() async throws {
    let reception = try await Reception()
    try await reception.put("n.k", size: 1_000)
    let caller = try await reception.connect()
    let call = Array(get("n.k").utf8) + [0]
    let calls = Array([[UInt8]](repeating: call, count: 500).joined())
    var sent = 0
    // What the sockets and the connection hold, and no more.
    for _ in 0..<100 {
      let count = caller.send(bytes: calls)
      sent += count
      if count < calls.count { break }
    }
    #expect(sent < 100 * calls.count)
    #expect(await reception.server.buffered < 4 * Limits.smallFrameBytes)
    #expect(caller.frames(sent / call.count).count == sent / call.count)
  }

  @Test("as many large calls as there are places; the next one waits until one is done")
  func largePlaces() async throws {
    let reception = try await Reception()
    let call = Array(set("n.large", String(repeating: "s", count: 200_000)).utf8) + [0]
    var callers: [Caller] = []
    for _ in 0..<Limits.largeFrames {
      let caller = try await reception.connect()
      caller.send(bytes: Array(call.dropLast()))
      callers.append(caller)
    }
    await reception.settle { reception.server.freeLargePlaces == 0 }
    #expect(await reception.server.freeLargePlaces == 0)
    let late = try await reception.connect()
    // It gets no further than a small frame and what the socket holds.
    let other = try await reception.connect()
    other.send(get("n.k"))
    #expect(other.frames(1).count == 1)
    let sending = Task { late.send(bytes: call) }
    #expect(late.isSilent())
    callers[0].send(bytes: [0])
    #expect(callers[0].frames(1).count == 1)
    #expect(await sending.value == call.count)
    #expect(late.frames(1).first?.contains(#""entry""#) == true)
    for caller in callers.dropFirst() {
      caller.send(bytes: [0])
      #expect(caller.frames(1).count == 1)
    }
    #expect(await reception.server.freeLargePlaces == Limits.largeFrames)
  }

  @Test("a place for a large call comes back when its client goes, and when it is too slow")
  func largePlacesComeBack() async throws {
    let reception = try await Reception()
    let part = Array(set("n.large", String(repeating: "s", count: 200_000)).utf8)
    var callers: [Caller] = []
    for _ in 0..<Limits.largeFrames {
      let caller = try await reception.connect()
      caller.send(bytes: part)
      callers.append(caller)
    }
    await reception.settle { reception.server.freeLargePlaces == 0 }
    callers.removeLast()
    await reception.settle { reception.server.freeLargePlaces == 1 }
    #expect(await reception.server.freeLargePlaces == 1)
    await reception.pass(milliseconds: Int64(Limits.sendSeconds) * 1_000)
    #expect(await reception.server.freeLargePlaces == Limits.largeFrames)
    for caller in callers { #expect(caller.isClosed()) }
  }

  @Test("where all connections hold too much, the one that is stuck longest goes")
  func eviction() async throws {
    let reception = try await Reception()
    try await reception.put("n.big", size: Limits.secretBytes)
    let small = try await reception.connect()
    small.send(bytes: Array("{".utf8))
    await reception.settle { reception.server.holding == 1 }
    let first = try await reception.connect()
    first.send(get("n.big"))
    await reception.settle { reception.server.holding == 2 }
    await reception.pass(milliseconds: 1_000)
    var others: [Caller] = []
    while others.count < 100, await reception.server.count == others.count + 2 {
      let caller = try await reception.connect()
      caller.send(get("n.big"))
      others.append(caller)
      let count = others.count
      await reception.settle { reception.server.holding == count + 2 || reception.server.count < count + 2 }
    }
    #expect(others.count < 100)
    #expect(first.isClosed())
    // What holds next to nothing is left alone, however long it has been there.
    #expect(small.isSilent())
    #expect(await reception.server.buffered <= Limits.bufferedBytes + 8 * Limits.secretBytes)
    // One that reads is not among those that go.
    var received = 0
    while received < Limits.secretBytes, let bytes = others.last?.receive(), !bytes.isEmpty {
      received += bytes.count
    }
    #expect(received > Limits.secretBytes)
  }

  @Test("a large answer that is not taken counts before the next connection is looked at")
  @VaultActor
  func largeAnswerCountsAtOnce() async throws {
    let reception = try await Reception()
    try reception.put("n.big", size: Limits.secretBytes)
    var connections: [Connection] = []
    let caller = try Caller.pair { socket in
      guard let peer = try? Peer(of: socket.number) else { return }
      if let one = try? Connection(socket, peer: peer, server: reception.server) { connections.append(one) }
    }
    let connection = try #require(connections.first)
    caller.send(get("n.big"))
    // As the loop does it, which has others to tell before what was ready at once goes on.
    connection.ready(.readable)
    #expect(reception.server.buffered > Limits.secretBytes / 2)
    connection.close()
  }

  @Test("2,048 connections are served, and the next one is told why it is not")
  func connections() async throws {
    guard clinux_raise_descriptor_limit(8_192) == 0, descriptorLimit() > 2 * Limits.connections + 100 else {
      return
    }
    let reception = try await Reception()
    var callers: [Caller] = []
    for _ in 0..<Limits.connections { callers.append(try await reception.connect()) }
    let over = try await reception.connect()
    #expect(over.frames(1).first?.contains("too many connections") == true)
    #expect(over.isClosed())
    for caller in [callers.first, callers.last] {
      caller?.send(get("n.k"))
      #expect(caller?.frames(1).count == 1)
    }
    callers.removeLast()
    await reception.settle { reception.server.count < Limits.connections }
    let next = try await reception.connect()
    next.send(get("n.k"))
    #expect(next.frames(1).first?.contains("NotFound") == true)
  }

  private func descriptorLimit() -> Int {
    var limit = rlimit()
    return unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
      ? Int(limit.rlim_cur) : 0
  }
}
