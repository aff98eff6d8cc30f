// Watching on a connection: the first reply, an event each, and what a watcher that reads slowly or not at all costs.

import Foundation
import TestSupport
import Testing
import VaultModel

@testable import VaultCore
@testable import VaultDaemon

@Suite(.serialized) struct WatchTests {
  private static let watch = #"{"method":"org.vaultd.Vault.Watch","more":true}"#
  private static let begun = #"{"parameters":{},"continues":true}"#

  private func watch(_ name: String, _ value: String) -> String {
    #"{"method":"org.vaultd.Vault.Watch","more":true,"parameters":{"\#(name)":"\#(value)"}}"#
  }

  /// A watcher that was told that watching has begun.
  private func watcher(_ reception: Reception, _ call: String = watch) async throws -> Caller {
    let caller = try await reception.connect()
    caller.send(call)
    #expect(caller.frames(1) == [Self.begun])
    return caller
  }

  @Test("first a reply without an event, then one for each change, all of which say that more come")
  func events() async throws {
    let reception = try await Reception()
    let watcher = try await watcher(reception)
    let other = try await reception.connect()
    other.send(set("n.k"), set("n.k"), clear("n.k"))
    #expect(other.frames(3).count == 3)
    let frames = watcher.frames(3)
    try #require(frames.count == 3)
    for (frame, event) in zip(frames, ["set", "set", "cleared"]) {
      #expect(frame.contains(#""event":"\#(event)","key":"n.k","account":"""#))
      #expect(frame.contains(#""version":"#))
      #expect(frame.hasSuffix(#""continues":true}"#))
    }
    #expect(watcher.isSilent())
  }

  @Test("a namespace or a key narrows it; both must agree")
  func filters() async throws {
    let reception = try await Reception()
    let namespace = try await watcher(reception, watch("namespace", "Chat"))
    let key = try await watcher(reception, watch("key", "Chat.token"))
    let other = try await reception.connect()
    other.send(set("Chat2.token"), set("Chat.sub.token"), set("Chat.other"), set("Chat.token"))
    #expect(other.frames(4).count == 4)
    #expect(namespace.frames(2).map { $0.contains("Chat.other") } == [true, false])
    #expect(key.frames(1).first?.contains("Chat.token") == true)
    #expect(namespace.isSilent() && key.isSilent())

    other.send(
      #"{"method":"org.vaultd.Vault.Watch","more":true,"parameters":{"namespace":"a","key":"b.c"}}"#)
    #expect(other.frames(1).first?.contains("org.vaultd.Vault.InvalidArgument") == true)
    other.send(
      #"{"method":"org.vaultd.Vault.Watch","more":true,"parameters":{"namespace":"b","key":"b.c"}}"#)
    #expect(other.frames(1) == [Self.begun])
  }

  @Test("without more it is ExpectedMore, and oneway begins nothing; the connection goes on in both cases")
  func notBegun() async throws {
    let reception = try await Reception()
    let caller = try await reception.connect()
    caller.send(
      #"{"method":"org.vaultd.Vault.Watch"}"#,
      #"{"method":"org.vaultd.Vault.Watch","more":true,"oneway":true}"#, get("n.k"))
    let frames = caller.frames(2)
    #expect(frames.first?.contains("org.varlink.service.ExpectedMore") == true)
    #expect(frames.last?.contains("org.vaultd.Vault.NotFound") == true)
    let other = try await reception.connect()
    other.send(set("n.k"))
    #expect(other.frames(1).count == 1)
    #expect(caller.isSilent())
  }

  @Test("calls behind a watch are not carried out, and what is not read of them is bounded")
  func callsBehind() async throws {
    let reception = try await Reception()
    let caller = try await reception.connect()
    caller.send(Self.watch, set("n.behind"))
    #expect(caller.frames(1) == [Self.begun])
    let call = Array(set("n.more", String(repeating: "s", count: 1_000)).utf8) + [0]
    var sent = 0
    for _ in 0..<10_000 where sent < 1 << 20 {
      let count = caller.send(bytes: call, milliseconds: 50)
      sent += count
      if count < call.count { break }
    }
    #expect(sent < 1 << 20)
    #expect(await reception.server.buffered <= 2 * Limits.smallFrameBytes)
    let other = try await reception.connect()
    other.send(set("n.k"))
    #expect(other.frames(1).count == 1)
    #expect(caller.frames(1).first?.contains(#""event":"set","key":"n.k""#) == true)
    #expect(await reception.file.inner.items.count == 1)
    // What was sent behind it is no unfinished call that has a time to end.
    await reception.pass(milliseconds: 1_000_000)
    other.send(clear("n.k"))
    #expect(other.frames(1).count == 1)
    #expect(caller.frames(1).first?.contains("cleared") == true)
  }

  @Test("a client that watches and sends no more still gets its events")
  func halfClosed() async throws {
    let reception = try await Reception()
    let watcher = try await watcher(reception)
    watcher.shutSending()
    let other = try await reception.connect()
    other.send(set("n.k"))
    #expect(watcher.frames(1).first?.contains(#""event":"set""#) == true)
    #expect(await reception.server.count == 2)
  }

  @Test("a watcher that goes is forgotten at once, and nothing is kept for it")
  func gone() async throws {
    let reception = try await Reception()
    var watchers: [Caller] = []
    for _ in 0..<50 { watchers.append(try await watcher(reception)) }
    let other = try await reception.connect()
    other.send(set("n.k"))
    #expect(other.frames(1).count == 1)
    watchers = []
    await reception.settle { reception.server.count == 1 }
    #expect(await reception.server.count == 1)
    #expect(await reception.server.isHoldingNothing)
    #expect(await reception.vault.watchers.isEmpty)
  }

  @Test("a watcher that reads nothing slows nobody down, is bounded and not closed, and told what it missed")
  func stuck() async throws {
    let reception = try await Reception()
    let stuck = try await watcher(reception)
    let quick = try await watcher(reception)
    let other = try await reception.connect()
    // Enough for the socket, the connection and the watcher's queue, and as much again.
    let rounds = 40
    let keys = Limits.watchEvents / 4
    for round in 0..<rounds {
      other.send(bytes: (0..<keys).flatMap { Array(set("n.k\($0)", "v\(round)").utf8) + [0] })
      #expect(other.frames(keys).count == keys)
      #expect(quick.frames(keys).count == keys)
      await reception.pass(milliseconds: Int64(Limits.receiveSeconds) * 1_000)
    }
    #expect(await reception.server.count == 3)
    #expect(await reception.server.buffered <= 2 * Limits.eventBytes)

    // Now it reads: what the sockets held, then that something is missing, then all since.
    other.send(set("n.last"))
    #expect(other.frames(1).count == 1)
    var bytes: [UInt8] = []
    var frames: [String] = []
    while frames.last?.contains("n.last") != true, let more = stuck.receive(), !more.isEmpty {
      bytes += more
      frames = more.last == 0 ? bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) } : []
    }
    #expect(frames.last?.contains("n.last") == true)
    #expect(frames.count < rounds * keys)
    let lost = frames.filter { $0.contains(#""event":"lost""#) }
    #expect(lost.count >= 1)
    #expect(lost.allSatisfy { !$0.contains(#""key""#) })
    #expect(frames.allSatisfy { $0.hasSuffix(#""continues":true}"#) })
    #expect(stuck.isSilent())
    other.send(set("n.after"))
    #expect(stuck.frames(1).first?.contains("n.after") == true)
    #expect(await reception.server.isHoldingNothing)
  }

  @Test("a watcher that never quite catches up misses nothing and grows no further")
  func behind() async throws {
    _ = try await RealLoop.get()
    await check()

    @VaultActor func check() {
      let watchers = Watchers()
      let watching = watchers.watch(.everything)
      watchers.tell(VaultEvent(.set, version: 0))
      for round in 1...Int64(10 * Limits.watchEvents) {
        watchers.tell(VaultEvent(.set, version: round))
        #expect(watching.next()?.version == round - 1)
        #expect(watching.kept <= 2 * Limits.watchEvents)
      }
    }
  }

  @Test("as many events as fit are kept, and one more leaves a word that they were missed, and itself")
  func overflow() async throws {
    _ = try await RealLoop.get()
    await check()

    @VaultActor func check() {
      let watchers = Watchers()
      let watching = watchers.watch(.everything)
      for round in 1...Int64(Limits.watchEvents) { watchers.tell(VaultEvent(.set, version: round)) }
      #expect(watching.next()?.version == 1)
      watchers.tell(VaultEvent(.set, version: -1))
      #expect(watching.next()?.version == 2)
      watchers.tell(VaultEvent(.set, version: -2))
      watchers.tell(VaultEvent(.set, version: -3))
      #expect(watching.next() == VaultEvent(.lost))
      #expect(watching.next()?.version == -3)
      #expect(watching.next() == nil)
    }
  }

  @Test("an answer that was owed before the watch has its time all the same")
  func owedBefore() async throws {
    let reception = try await Reception()
    try await reception.put("n.big", size: Limits.secretBytes)
    let caller = try await reception.connect()
    // Its answer blocks the socket; the watch waits until there is room.
    caller.send(get("n.big"), Self.watch)
    await reception.settle { reception.server.isHoldingNothing == false }
    await reception.pass(milliseconds: Int64(Limits.receiveSeconds) * 1_000)
    #expect(await reception.server.count == 0)
  }

  @Test("the daemon's end ends a watch at once, also one that reads nothing")
  func end() async throws {
    let reception = try await Reception()
    let watcher = try await watcher(reception)
    let stuck = try await self.watcher(reception)
    let other = try await reception.connect()
    for round in 0..<20 {
      other.send(bytes: (0..<200).flatMap { Array(set("n.k\($0)", "v\(round)").utf8) + [0] })
      #expect(other.frames(200).count == 200)
      #expect(watcher.frames(200).count == 200)
    }
    await reception.end()
    await reception.settle { reception.hasEnded }
    #expect(await reception.hasEnded)
    #expect(watcher.isClosed() && stuck.isClosed())
  }

  @Test("locking tells watchers, and so does an entry whose time is over")
  func others() async throws {
    let reception = try await Reception()
    let watcher = try await watcher(reception)
    let other = try await reception.connect()
    other.send(
      #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"n.k","secret":"s","expiresIn":60}}"#)
    #expect(other.frames(1).count == 1)
    await reception.pass(milliseconds: 60_000)
    let frames = watcher.frames(2)
    #expect(frames.last?.contains(#""event":"expired","key":"n.k""#) == true)
    other.send(#"{"method":"org.vaultd.Vault.Lock"}"#)
    #expect(other.frames(1).count == 1)
    #expect(watcher.frames(1).first?.contains(#""event":"locked""#) == true)
  }
}
