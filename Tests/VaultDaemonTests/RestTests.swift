// When nobody asks: what is given back when, and that nothing is armed after that.

import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import VaultDaemon

@Suite struct RestTests {
  /// What was given back, in turn.
  @VaultActor
  private final class Given {
    var names: [String] = []
  }

  @VaultActor private func watch(_ reception: Reception) -> Given {
    let given = Given()
    let watch = RestWatch(
      reception.server, clock: reception.clock, alarms: reception.alarms,
      rest: { given.names.append("rest") }, forget: { given.names.append("forget") })
    watch.watch()
    // It lives as long as the test.
    reception.keep(watch)
    return given
  }

  @Test(
    "memory is given back after two quiet seconds, what was read after a minute more, and then nothing is armed"
  )
  func quiet() async throws {
    let reception = try await Reception()
    let given = await watch(reception)
    await reception.pass(milliseconds: Limits.quietMilliseconds - 1)
    #expect(await given.names == [])
    await reception.pass(milliseconds: 1)
    #expect(await given.names == ["rest"])
    await reception.pass(milliseconds: Limits.keptMilliseconds - 1)
    #expect(await given.names == ["rest"])
    await reception.pass(milliseconds: 1)
    #expect(await given.names == ["rest", "forget"])
    #expect(await reception.alarms.next == nil)
  }

  @Test("what was read is kept for who asks now and then, and forgotten a minute or two after he stops")
  func nowAndThen() async throws {
    let reception = try await Reception()
    let given = await watch(reception)
    let caller = try await reception.connect()
    for count in 1...20 {
      caller.send(get("n.k"))
      #expect(caller.frames(1).count == 1)
      // Seen as quiet only in the second look.
      for _ in 0..<2 { await reception.pass(milliseconds: Limits.quietMilliseconds) }
      #expect(await given.names == Array(repeating: "rest", count: count))
      await reception.pass(milliseconds: Limits.keptMilliseconds / 2)
    }
    await reception.pass(milliseconds: Limits.keptMilliseconds)
    await reception.pass(milliseconds: Limits.keptMilliseconds)
    #expect(await given.names == Array(repeating: "rest", count: 20) + ["forget"])
    #expect(await reception.alarms.next == nil)
  }
}
