// The lock after idle time, on a clock that the test moves: what counts as a use, and that suspend counts as time.

import Foundation
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import VaultDaemon

@Suite struct SelfLockTests {
  /// A reception whose vault locks itself after a minute.
  private func reception() async throws -> Reception {
    let reception = try await Reception()
    try await reception.put("n.k", size: 1)
    await reception.selfLock.watch(for: LockTriggers(afterIdle: 60))
    return reception
  }

  @Test("the vault locks itself when the time without a use is over, and not a millisecond before")
  func idle() async throws {
    let reception = try await reception()
    await reception.pass(milliseconds: 59_999)
    #expect(await !reception.vault.isLocked)
    await reception.pass(milliseconds: 1)
    #expect(await reception.vault.isLocked)
    #expect(await !reception.file.isUnlocked)
  }

  @Test("a request for a token counts as a use, whatever its outcome")
  func use() async throws {
    let reception = try await reception()
    let caller = try await reception.connect()
    for key in ["n.k", "n.missing"] {
      await reception.pass(milliseconds: 59_999)
      caller.send(get(key))
      #expect(caller.frames(1).count == 1)
    }
    await reception.pass(milliseconds: 59_999)
    #expect(await !reception.vault.isLocked)
    await reception.pass(milliseconds: 1)
    #expect(await reception.vault.isLocked)
  }

  @Test("to look at the daemon is no use of the vault, nor is an idle connection")
  func noUse() async throws {
    let reception = try await reception()
    let caller = try await reception.connect()
    await reception.pass(milliseconds: 59_000)
    caller.send(
      #"{"method":"org.vaultd.Vault.Status"}"#, #"{"method":"org.varlink.service.GetInfo"}"#,
      #"{"method":"org.vaultd.Vault.Slots"}"#, "nonsense")
    #expect(caller.frames(4).count == 4)
    await reception.pass(milliseconds: 1_000)
    #expect(await reception.vault.isLocked)
  }

  @Test("a request that waits keeps the vault open; the time begins with its end")
  func waiting() async throws {
    let reception = try await reception()
    await reception.file.hold()
    let caller = try await reception.connect()
    await reception.pass(milliseconds: 59_000)
    caller.send(set("n.new"))
    await reception.settle { reception.file.waiting == 1 }
    await reception.pass(milliseconds: 9_000)
    #expect(await !reception.vault.isLocked)
    await reception.file.release()
    #expect(caller.frames(1).first?.contains("entry") == true)
    await reception.pass(milliseconds: 59_999)
    #expect(await !reception.vault.isLocked)
    await reception.pass(milliseconds: 1)
    #expect(await reception.vault.isLocked)
  }

  @Test("after a suspend that was too long the first request already finds the vault locked")
  func resume() async throws {
    let reception = try await reception()
    let caller = try await reception.connect()
    // The machine slept, and the request comes before the alarm rings.
    await reception.clock.sleep(milliseconds: 3_600_000)
    caller.send(get("n.k"))
    #expect(caller.frames(1).first?.contains("org.vaultd.Vault.Locked") == true)
    #expect(await reception.vault.isLocked)
  }

  @Test("the wall clock has no part in it")
  func wallClock() async throws {
    let reception = try await reception()
    await reception.clock.jump(milliseconds: 3_600_000)
    await reception.pass(milliseconds: 59_999)
    #expect(await !reception.vault.isLocked)
    await reception.clock.jump(milliseconds: -7_200_000)
    await reception.pass(milliseconds: 1)
    #expect(await reception.vault.isLocked)
  }

  @Test("once locked nothing is armed any more, until the next use")
  func quiet() async throws {
    let reception = try await reception()
    await reception.pass(milliseconds: 60_000)
    #expect(await reception.alarms.next == nil)
    let caller = try await reception.connect()
    caller.send(get("n.k"))
    #expect(caller.frames(1).count == 1)
    #expect(await reception.alarms.next != nil)
  }

  @Test("the setting can be changed and taken back while the daemon runs")
  func settings() async throws {
    let reception = try await reception()
    await reception.pass(milliseconds: 50_000)
    await reception.selfLock.watch(for: LockTriggers())
    await reception.pass(milliseconds: 100_000_000)
    #expect(await !reception.vault.isLocked)
    #expect(await reception.alarms.next == nil)
    await reception.selfLock.watch(for: LockTriggers(afterIdle: 1))
    await reception.pass(milliseconds: 999)
    #expect(await !reception.vault.isLocked)
    await reception.pass(milliseconds: 1)
    #expect(await reception.vault.isLocked)
  }

  @Test("a thousand years are a time that can be set")
  func longest() async throws {
    let reception = try await reception()
    await reception.selfLock.watch(for: LockTriggers(afterIdle: Limits.longestDuration))
    await reception.pass(milliseconds: 1_000_000_000_000)
    #expect(await !reception.vault.isLocked)
  }
}

extension SettableClock {
  /// The wall clock is set, and no time passes.
  func jump(milliseconds: Int64) {
    wall = WallTime(milliseconds: wall.milliseconds + milliseconds)
  }

  /// The machine sleeps: its clocks go on, and nobody is woken yet.
  func sleep(milliseconds: Int64) {
    jump(milliseconds: milliseconds)
    boot = boot.advanced(by: milliseconds)
  }
}

extension Alarms {
  /// The wake-up that is ordered.
  var next: BootTime? {
    var next: BootTime?
    order = { next = $0 }
    order = nil
    return next
  }
}
