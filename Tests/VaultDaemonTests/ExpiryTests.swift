// Times and clocks as a client sees them, on a clock that the test sets: no client is handed a token that is over,
// whichever clock says so.

import Foundation
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import VaultDaemon

@Suite(.serialized) struct ExpiryTests {
  private func set(_ key: String, _ member: String, _ value: Int64) -> String {
    #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"\#(key)","secret":"M4RK3R","#
      + #""\#(member)":\#(value)}}"#
  }

  /// A reception with a token, and a caller that asks for it.
  private func reception(_ member: String, _ value: Int64) async throws -> (Reception, Caller) {
    let reception = try await Reception()
    let caller = try await reception.connect()
    caller.send(set("n.k", member, value))
    #expect(caller.frames(1).first?.contains(#""entry""#) == true)
    return (reception, caller)
  }

  private func isOver(_ caller: Caller) -> Bool {
    caller.send(get("n.k"))
    let frame = caller.frames(1).first ?? ""
    return frame.contains("org.vaultd.Vault.Expired") && !frame.contains("M4RK3R")
  }

  @Test("a token is there until its last millisecond and then nowhere: get, list, touch, refresh, watch")
  func everywhere() async throws {
    let (reception, caller) = try await reception("expiresIn", 2)
    let watcher = try await reception.connect()
    watcher.send(#"{"method":"org.vaultd.Vault.Watch","more":true}"#)
    #expect(watcher.frames(1).count == 1)
    await reception.pass(milliseconds: 1_999)
    #expect(!isOver(caller))
    await reception.pass(milliseconds: 1)
    #expect(isOver(caller))
    let event = watcher.frames(1).first
    #expect(event?.contains(#""event":"expired","key":"n.k""#) == true)
    caller.send(
      #"{"method":"org.vaultd.Vault.List"}"#,
      #"{"method":"org.vaultd.Vault.Touch","parameters":{"key":"n.k"}}"#,
      #"{"method":"org.vaultd.Vault.Refresh","parameters":{"key":"n.k"}}"#)
    let frames = caller.frames(3)
    try #require(frames.count == 3)
    #expect(frames[0].contains(#""entries":[]"#))
    #expect(frames[1].contains("org.vaultd.Vault.Expired"))
    #expect(frames[2].contains(#""lease""#))
    #expect((frames + [event ?? ""]).allSatisfy { !$0.contains("M4RK3R") })
  }

  @Test("the wall clock is set back by an hour: the token ends all the same when its time has passed")
  func setBack() async throws {
    let (reception, caller) = try await reception("expiresIn", 60)
    await reception.clock.jump(milliseconds: -3_600_000)
    await reception.pass(milliseconds: 59_999)
    #expect(!isOver(caller))
    await reception.pass(milliseconds: 1)
    #expect(isOver(caller))
  }

  @Test("the wall clock is set forward: what it says is over is over at once, and watchers are told")
  func setForward() async throws {
    let (reception, caller) = try await reception("expiresIn", 3_600)
    let watcher = try await reception.connect()
    watcher.send(#"{"method":"org.vaultd.Vault.Watch","more":true}"#)
    #expect(watcher.frames(1).count == 1)
    await reception.clock.jump(milliseconds: 3_600_000)
    #expect(isOver(caller))
    await reception.vault.clockJumped()
    await reception.settle { reception.alarms.next.map { $0 <= reception.clock.boot } == true }
    await reception.pass(milliseconds: 0)
    #expect(watcher.frames(1).first?.contains(#""event":"expired""#) == true)
  }

  @Test("after a suspend that was longer than the token lives, the first request already finds it over")
  func suspend() async throws {
    let (reception, caller) = try await reception("expiresIn", 600)
    // The request comes before any alarm rings.
    await reception.clock.sleep(milliseconds: 3_600_000)
    #expect(isOver(caller))
  }

  @Test("an absolute end comes however often the token is read; an idle one is put off by each use")
  func slidingOrAbsolute() async throws {
    let (absolute, first) = try await reception("expiresIn", 10)
    let (sliding, second) = try await reception("idle", 10)
    for _ in 0..<3 {
      await absolute.pass(milliseconds: 3_000)
      await sliding.pass(milliseconds: 3_000)
      #expect(!isOver(first) && !isOver(second))
    }
    await absolute.pass(milliseconds: 1_000)
    await sliding.pass(milliseconds: 1_000)
    #expect(isOver(first) && !isOver(second))
    await sliding.pass(milliseconds: 9_999)
    #expect(!isOver(second))
    await sliding.pass(milliseconds: 10_000)
    #expect(isOver(second))
  }

  @Test("of a validity that is asked for exactly so much will do: 59 s are not 60, 60 and 61 are")
  func minValidity() async throws {
    let asked = #"{"method":"org.vaultd.Vault.Get","parameters":{"key":"n.k","minValidity":60}}"#
    for (left, isEnough) in [(Int64(61), true), (60, true), (59, false)] {
      let (reception, caller) = try await reception("expiresIn", 100)
      await reception.pass(milliseconds: (100 - left) * 1_000)
      caller.send(asked)
      #expect(caller.frames(1).first?.contains("M4RK3R") == isEnough, "\(left) s left")
    }
  }

  @Test("a holder that sets a token which is over at once, again and again: nobody gets one that is over")
  func renewalThatNeverHelps() async throws {
    let reception = try await Reception()
    let refresh = #"{"method":"org.vaultd.Vault.Refresh","parameters":{"key":"n.k","wait":5}}"#
    let holder = try await reception.connect()
    let waiters = [try await reception.connect(), try await reception.connect()]
    for _ in 0..<10 {
      holder.send(refresh)
      let answer = try #require(holder.frames(1).first)
      let lease = try #require(answer.split(separator: #""lease":""#).last?.prefix { $0 != "\"" })
      for waiter in waiters { waiter.send(refresh) }
      await reception.settle { false }
      holder.send(
        #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"n.k","secret":"s","expiresIn":1,"#
          + #""lease":"\#(lease)"}}"#)
      #expect(holder.frames(1).first?.contains("entry") == true)
      // What was renewed is given to those that waited, while it lives.
      for waiter in waiters { #expect(waiter.frames(1).first?.contains(#""secret":"s""#) == true) }
      await reception.pass(milliseconds: 1_000)
    }
    for waiter in waiters { #expect(isOver(waiter)) }
    // Nobody asks any more, and nothing goes on: the one alarm is the purge.
    await reception.pass(milliseconds: 3_600_000)
    await reception.settle { reception.alarms.next == nil }
    #expect(await reception.alarms.next == nil)
  }
}
