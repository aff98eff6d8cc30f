// A connection seen from the client: frames in, answers out, in order, whatever the pieces.

import CLinux
import Foundation
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import VaultDaemon

@Suite struct ConnectionTests {
  @Test("calls that arrive together are answered in their order")
  func pipelined() async throws {
    let reception = try await Reception()
    let caller = try await reception.connect()
    for index in 0..<20 { try await reception.put("n.k\(index)", size: index) }
    caller.send(bytes: (0..<20).flatMap { Array(get("n.k\($0)").utf8) + [0] })
    let frames = caller.frames(20)
    #expect(frames.count == 20)
    for (index, frame) in frames.enumerated() { #expect(frame.contains(#""key":"n.k\#(index)""#)) }
  }

  @Test("a call that comes byte by byte is one call")
  func piecewise() async throws {
    let reception = try await Reception()
    let caller = try await reception.connect()
    try await reception.put("n.k", size: 3)
    for byte in Array(get("n.k").utf8) + [0] {
      caller.send(bytes: [byte])
      await Task.yield()
    }
    #expect(caller.frames(1).first?.contains(#""secret":"sss""#) == true)
    #expect(await reception.server.isHoldingNothing)
  }

  @Test("two calls and a half: two answers, and the third once its rest is there")
  func halves() async throws {
    let reception = try await Reception()
    let caller = try await reception.connect()
    let third = Array(get("n.k3").utf8)
    caller.send(bytes: [get("n.k1"), get("n.k2")].flatMap { Array($0.utf8) + [0] } + third.prefix(20))
    #expect(caller.frames(2).count == 2)
    #expect(caller.isSilent())
    caller.send(bytes: third.dropFirst(20) + [0])
    #expect(caller.frames(1).first?.contains("n.k3") == true)
  }

  @Test("a oneway call is carried out and not answered")
  func oneway() async throws {
    let reception = try await Reception()
    let caller = try await reception.connect()
    caller.send(set("n.k", "value", oneway: true), get("n.k"))
    let frames = caller.frames(1)
    #expect(frames.count == 1)
    #expect(frames.first?.contains(#""secret":"value""#) == true)
    #expect(caller.isSilent())
  }

  @Test("while a call waits, the calls behind it wait too, and other connections go on")
  func waiting() async throws {
    let reception = try await Reception()
    try await reception.put("n.k", size: 1)
    await reception.file.hold()
    let slow = try await reception.connect()
    let quick = try await reception.connect()
    slow.send(set("n.new"), get("n.k"))
    quick.send(get("n.k"))
    #expect(quick.frames(1).count == 1)
    #expect(slow.isSilent())
    slow.send(get("n.k"))
    #expect(slow.isSilent())
    await reception.file.release()
    let frames = slow.frames(3)
    #expect(frames.count == 3)
    #expect(frames.first?.contains(#""key":"n.new""#) == true)
    #expect(frames.last?.contains(#""secret""#) == true)
  }

  @Test("what a client asked that has left is not looked up")
  @VaultActor func leftBefore() async throws {
    let reception = try await Reception()
    try reception.put("n.k", size: 1)
    let lookUps = reception.file.lookUps
    do {
      // The loop has no turn between these: it finds the calls and the end together.
      let caller = try reception.connect()
      caller.send(get("n.k"), get("n.k"), get("n.k"))
    }
    await reception.settle { reception.server.count == 0 }
    #expect(reception.server.count == 0)
    #expect(reception.file.lookUps == lookUps)
  }

  @Test("a client that goes while its call runs: the call is carried out, and the connection is gone")
  func goneWhileWaiting() async throws {
    let reception = try await Reception()
    await reception.file.hold()
    var caller: Caller? = try await reception.connect()
    caller?.send(set("n.k"), set("n.l"))
    await reception.settle { reception.file.waiting == 1 }
    caller = nil
    await reception.settle { false }
    #expect(await reception.server.count == 1)
    await reception.file.release()
    await reception.settle { reception.server.count == 0 }
    #expect(await reception.server.count == 0)
    #expect(await reception.file.inner.items.count == 2)
  }

  @Test("a client that sends and goes at once: what it sent is carried out")
  func goneAtOnce() async throws {
    let reception = try await Reception()
    for index in 0..<100 {
      let caller = try await reception.connect()
      caller.send(set("n.k\(index)"), get("n.k\(index)"))
    }
    await reception.settle { reception.server.count == 0 }
    #expect(await reception.server.count == 0)
    #expect(await reception.file.inner.items.count == 100)
  }

  @Test("a client that stops sending still gets its answers, and then the end")
  func halfClosed() async throws {
    let reception = try await Reception()
    let caller = try await reception.connect()
    caller.send(set("n.k"), get("n.k"))
    caller.shutSending()
    #expect(caller.frames(3).count == 2)
    #expect(caller.isClosed())
  }

  @Test(
    "what a client sends and its end are both seen where they come before the loop looks",
    arguments: [true, false])
  func togetherWithTheEnd(isShut: Bool) async throws {
    let reception = try await Reception()
    for caller in try await callers(of: reception) {
      if isShut { #expect(caller.frames(1).count == 1 && caller.isClosed()) }
    }
    await reception.settle { reception.server.count == 0 }
    #expect(await reception.server.count == 0, "each connection was seen to end")
    #expect(await reception.file.inner.items.count == 3)

    /// All that they do is done within one job of the loop.
    @VaultActor func callers(of reception: Reception) throws -> [Caller] {
      try (0..<3).compactMap { number in
        let caller = try reception.connect()
        caller.send(set("n.k\(number)"))
        if isShut { caller.shutSending() }
        return isShut ? caller : nil
      }
    }
  }

  @Test("what comes behind a read that took all that there was room for is read too", arguments: [0, 1])
  func behindAFullRead(more: Int) async throws {
    let reception = try await Reception()
    let caller = try await reception.connect()
    // Blanks in front of a call, so that the first read is as full as it can be and holds whole frames.
    let first = String(repeating: " ", count: Limits.smallFrameBytes - get("n.k").utf8.count - 1 + more)
    #expect(first.utf8.count + get("n.k").utf8.count + 1 == Limits.smallFrameBytes + more)
    await withPromise { (done: Promise<Void>) in
      Task { @VaultActor in
        caller.send(first + get("n.k"), get("n.k"))
        done.resume()
      }
    }
    #expect(caller.frames(2).count == 2)
    caller.send(get("n.k"))
    #expect(caller.frames(1).count == 1)
  }

  @Test(
    "what is no call gets one error and the end, and nothing behind it is carried out",
    arguments: ["", "{", "[]", "nonsense", #"{"method":1}"#.dropLast() + "", "{}}"])
  func malformed(text: String) async throws {
    let reception = try await Reception()
    let caller = try await reception.connect()
    caller.send(text, set("n.k"))
    let frames = caller.frames(2)
    #expect(frames.count == 1)
    #expect(frames.first?.contains(#""error""#) == true)
    #expect(caller.isClosed())
    #expect(await reception.file.inner.items.isEmpty)
  }

  @Test("random bytes end their own connection at most")
  func random() async throws {
    let reception = try await Reception()
    try await reception.put("n.k", size: 1)
    let witness = try await reception.connect()
    var generator = SystemRandomNumberGenerator()
    for round in 0..<200 {
      let caller = try await reception.connect()
      let count = 1 + round * 37
      caller.send(bytes: (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
      witness.send(get("n.k"))
      #expect(witness.frames(1).count == 1)
    }
  }

  @Test("every method of both interfaces is there, and Watch without more says what it needs")
  func methods() async throws {
    let reception = try await Reception()
    let caller = try await reception.connect()
    caller.send(
      #"{"method":"org.vaultd.Vault.Touch","parameters":{"key":"a.b"}}"#,
      #"{"method":"org.vaultd.Vault.Watch"}"#,
      #"{"method":"org.vaultd.Vault.GiveUp","more":true,"parameters":{"lease":"none"}}"#,
      #"{"method":"org.varlink.service.GetInfo"}"#,
      #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"org.vaultd.Vault"}}"#,
      #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"a.b"}}"#,
      #"{"method":"org.vaultd.Vault.Status"}"#)
    let frames = caller.frames(7)
    try #require(frames.count == 7)
    #expect(frames[0].contains("org.vaultd.Vault.NotFound"))
    #expect(frames[1].contains("org.varlink.service.ExpectedMore"))
    #expect(frames[2] == #"{"parameters":{}}"#)
    #expect(frames[3].contains(#""org.varlink.service""#))
    #expect(frames[4].contains("method Get("))
    #expect(frames[5].contains("org.varlink.service.InterfaceNotFound"))
    #expect(frames[6].contains(#""preference":"file""#))
  }

  @Test("at the end running calls are answered, idle connections closed, and no call is begun")
  func end() async throws {
    let reception = try await Reception()
    await reception.file.hold()
    let busy = try await reception.connect()
    let idle = try await reception.connect()
    busy.send(set("n.k"), set("n.l"))
    await reception.settle { reception.file.waiting == 1 }
    await reception.end()
    #expect(idle.isClosed())
    #expect(await reception.hasEnded == false)
    await reception.file.release()
    #expect(busy.frames(2).count == 1)
    #expect(busy.isClosed())
    await reception.settle { reception.hasEnded }
    #expect(await reception.hasEnded)
    #expect(await reception.file.inner.items.count == 1)
  }
}
