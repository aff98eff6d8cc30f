// Renewal on connections: a lease is of a connection and ends with it; who waits waits no longer than that.

import Foundation
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import VaultDaemon

@Suite(.serialized) struct RenewalTests {
  private func refresh(_ key: String, wait: Int? = nil) -> String {
    let wait = wait.map { #","wait":\#($0)"# } ?? ""
    return #"{"method":"org.vaultd.Vault.Refresh","parameters":{"key":"\#(key)"\#(wait)}}"#
  }

  private func renew(_ key: String, _ secret: String, _ lease: String, oneway: Bool = false) -> String {
    #"{"method":"org.vaultd.Vault.Set","oneway":\#(oneway),"parameters":"#
      + #"{"key":"\#(key)","secret":"\#(secret)","lease":"\#(lease)"}}"#
  }

  /// The lease in an answer.
  private func lease(_ frames: [String]) throws -> String {
    let object = try JSONSerialization.jsonObject(with: Data(try #require(frames.first).utf8))
    let parameters = (object as? [String: Any])?["parameters"] as? [String: Any]
    return try #require(parameters?["lease"] as? String, "\(frames)")
  }

  @Test("of twenty that ask one gets the lease, and all others what it set")
  func one() async throws {
    let reception = try await Reception()
    var callers: [Caller] = []
    for _ in 0..<20 { callers.append(try await reception.connect()) }
    callers[0].send(refresh("n.k"))
    let lease = try lease(callers[0].frames(1))
    for caller in callers.dropFirst() { caller.send(refresh("n.k")) }
    #expect(callers[1].isSilent())
    callers[0].send(renew("n.k", "new", lease))
    #expect(callers[0].frames(1).first?.contains("entry") == true)
    for caller in callers.dropFirst() {
      #expect(caller.frames(1).first?.contains(#""secret":"new""#) == true)
    }
  }

  @Test("the holder's connection ends: the next one has the lease at once, and the old name counts no more")
  func holderGone() async throws {
    let reception = try await Reception()
    var holder: Caller? = try await reception.connect()
    holder?.send(refresh("n.k"))
    let old = try lease(holder?.frames(1) ?? [])
    let next = try await reception.connect()
    next.send(refresh("n.k"))
    #expect(next.isSilent())
    holder = nil
    let new = try lease(next.frames(1))
    #expect(new != old)
    let late = try await reception.connect()
    late.send(renew("n.k", "late", old))
    #expect(late.frames(1).first?.contains("org.vaultd.Vault.Conflict") == true)
    next.send(renew("n.k", "new", new))
    #expect(next.frames(1).first?.contains("entry") == true)
  }

  @Test("a client that waits and goes waits no longer, and never becomes the holder")
  func waiterGone() async throws {
    let reception = try await Reception()
    let holder = try await reception.connect()
    holder.send(refresh("n.k"))
    let lease = try lease(holder.frames(1))
    var waiter: Caller? = try await reception.connect()
    waiter?.send(refresh("n.k", wait: 1_000_000))
    let last = try await reception.connect()
    last.send(refresh("n.k"))
    await reception.settle { false }
    waiter = nil
    await reception.settle { reception.server.count == 2 }
    #expect(await reception.server.count == 2)
    holder.send(#"{"method":"org.vaultd.Vault.GiveUp","parameters":{"lease":"\#(lease)"}}"#)
    #expect(holder.frames(1).count == 1)
    _ = try self.lease(last.frames(1))
  }

  @Test("a client that asks and goes at once holds nothing")
  func goneAtOnce() async throws {
    let reception = try await Reception()
    for _ in 0..<100 { try await reception.connect().send(refresh("n.k"), refresh("n.k")) }
    await reception.settle { reception.server.count == 0 }
    #expect(await reception.server.count == 0)
    let next = try await reception.connect()
    next.send(refresh("n.k", wait: 1))
    _ = try lease(next.frames(1))
  }

  @Test("what a holder sent before it went is carried out under its lease")
  func setAndGone() async throws {
    let reception = try await Reception()
    let waiter = try await reception.connect()
    do {
      let holder = try await reception.connect()
      holder.send(refresh("n.k"))
      let lease = try lease(holder.frames(1))
      waiter.send(refresh("n.k"))
      #expect(waiter.isSilent())
      holder.send(renew("n.k", "new", lease, oneway: true))
    }
    #expect(waiter.frames(1).first?.contains(#""secret":"new""#) == true)
  }

  @Test("a holder that goes while its set is under way keeps the lease until that ends")
  func goneWhileSetting() async throws {
    let reception = try await Reception()
    let waiter = try await reception.connect()
    do {
      let holder = try await reception.connect()
      holder.send(refresh("n.k"))
      let lease = try lease(holder.frames(1))
      waiter.send(refresh("n.k"))
      await reception.file.hold()
      holder.send(renew("n.k", "new", lease))
      await reception.settle { reception.file.waiting == 1 }
    }
    #expect(waiter.isSilent())
    await reception.file.release()
    #expect(waiter.frames(1).first?.contains(#""secret":"new""#) == true)
  }

  @Test("a waiter ends at its own time, and the lease at 60 s: not a millisecond before")
  func times() async throws {
    let reception = try await Reception()
    let holder = try await reception.connect()
    holder.send(refresh("n.k"))
    let lease = try lease(holder.frames(1))
    let short = try await reception.connect()
    let usual = try await reception.connect()
    let long = try await reception.connect()
    short.send(refresh("n.k", wait: 1))
    usual.send(refresh("n.k"))
    long.send(refresh("n.k", wait: 1_000))
    #expect(short.isSilent())
    await reception.pass(milliseconds: 999)
    #expect(short.isSilent())
    await reception.pass(milliseconds: 1)
    #expect(short.frames(1).first?.contains("org.vaultd.Vault.Unavailable") == true)
    await reception.pass(milliseconds: Int64(Limits.refreshWaitSeconds) * 1_000 - 1_001)
    #expect(usual.isSilent())
    await reception.pass(milliseconds: 1)
    #expect(usual.frames(1).first?.contains("org.vaultd.Vault.Unavailable") == true)
    await reception.pass(milliseconds: Int64(Limits.leaseSeconds - Limits.refreshWaitSeconds) * 1_000 - 1)
    #expect(long.isSilent())
    await reception.pass(milliseconds: 1)
    #expect(try self.lease(long.frames(1)) != lease)
  }

  @Test("the daemon's end does not wait for those who wait for a renewal")
  func end() async throws {
    let reception = try await Reception()
    let holder = try await reception.connect()
    holder.send(refresh("n.k"))
    _ = try lease(holder.frames(1))
    let waiter = try await reception.connect()
    waiter.send(refresh("n.k"))
    await reception.settle { false }
    await reception.end()
    #expect(waiter.frames(1).first?.contains("org.vaultd.Vault.Unavailable") == true)
    #expect(waiter.isClosed() && holder.isClosed())
    await reception.settle { reception.hasEnded }
    #expect(await reception.hasEnded)
  }

  @Test("touch starts the idle time anew; giving up a lease that there is not changes nothing")
  func others() async throws {
    let reception = try await Reception()
    let caller = try await reception.connect()
    caller.send(
      #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"n.k","secret":"s","idle":10}}"#,
      #"{"method":"org.vaultd.Vault.GiveUp","parameters":{"lease":"none"}}"#)
    #expect(caller.frames(2).last == #"{"parameters":{}}"#)
    for _ in 0..<5 {
      await reception.pass(milliseconds: 9_999)
      caller.send(#"{"method":"org.vaultd.Vault.Touch","parameters":{"key":"n.k"}}"#)
      #expect(caller.frames(1).first?.contains(#""idle":10"#) == true)
    }
    await reception.pass(milliseconds: 10_000)
    caller.send(get("n.k"), #"{"method":"org.vaultd.Vault.Touch","parameters":{"key":"n.k"}}"#)
    for frame in caller.frames(2) { #expect(frame.contains("org.vaultd.Vault.Expired")) }
  }
}
