// Expiry: absolute and sliding, by two clocks, on every store (behaviour.md, "Expiry"; cases.md, G).

import SecretMemory
import TestSupport
import Testing
@testable import VaultCore
import VaultModel

@Suite struct ExpiryTests {
  init() { startVaultActor() }

  @Test(
    "a token whose time is over is Expired at once, everywhere, and not a millisecond earlier",
    arguments: StorePreference.allCases)
  @VaultActor func absolute(preference: StorePreference) async throws {
    let bench = Bench(preference)
    let entry = try await bench.set("a.b", "v", expiresIn: 2)
    #expect(entry.expires == WallTime(milliseconds: bench.clock.wall.milliseconds + 2_000))
    bench.clock.pass(milliseconds: 1_999)
    #expect(try await bench.get("a.b") == "v")
    #expect(try await bench.vault.list(nil).count == 1)
    bench.clock.pass(milliseconds: 1)
    #expect(try await bench.outcome("a.b") == .expired)
    #expect(try await bench.vault.list(nil).isEmpty)
    #expect(try await bench.outcome { _ = try await bench.vault.touch(try bench.id("a.b")) } == .expired)
    try await bench.set("a.b", "w")
    #expect(try await bench.get("a.b") == "w")
  }

  @Test("an end that is over already is refused, and so are those that no calendar has")
  @VaultActor func refused() async throws {
    let bench = Bench(.file)
    let now = bench.clock.wall.seconds
    for expires in [now, now - 1, 0, -1, Limits.latestTime + 1, .max, .min] {
      #expect(
        try await bench.outcome { try await bench.set("a.b", "v", expires: expires) } == .invalidArgument,
        "\(expires)")
    }
    for seconds in [0, -1, Limits.longestDuration + 1, .max] {
      #expect(
        try await bench.outcome { try await bench.set("a.b", "v", expiresIn: seconds) } == .invalidArgument,
        "\(seconds)")
    }
    #expect(bench.file.items.isEmpty)
    try await bench.set("a.b", "v", expires: now + 1)
    try await bench.set("a.c", "v", expiresIn: 30 * 31_556_952)
    #expect(bench.clock.alarms.next ?? .init(milliseconds: 0) > bench.clock.boot)
    bench.clock.pass(milliseconds: 29 * 31_556_952_000)
    #expect(try await bench.get("a.c") == "v", "thirty years are not over after twenty-nine")
    bench.clock.pass(milliseconds: 31_556_952_000)
    #expect(try await bench.outcome("a.c") == .expired)
  }

  @Test(
    "a clock that is set back hands out no expired token, also after a restart of the daemon",
    arguments: StorePreference.allCases)
  @VaultActor func setBack(preference: StorePreference) async throws {
    var bench = Bench(preference)
    try await bench.set("a.b", "v", expiresIn: 60)
    bench.clock.wall = WallTime(milliseconds: bench.clock.wall.milliseconds - 3_600_000)
    bench.clock.pass(milliseconds: 59_999)
    #expect(try await bench.get("a.b") == "v")
    bench = await bench.restarted()
    #expect(try await bench.get("a.b") == "v")
    bench.clock.pass(milliseconds: 1)
    #expect(try await bench.outcome("a.b") == .expired)
    bench = await bench.restarted()
    #expect(try await bench.outcome("a.b") == .expired)
  }

  @Test("a clock that jumps ahead and is set right again costs no token")
  @VaultActor func jumpedAhead() async throws {
    let bench = Bench(.file)
    try await bench.set("a.b", "v", expiresIn: 3_600)
    let right = bench.clock.wall
    bench.clock.wall = WallTime(milliseconds: right.milliseconds + 86_400_000)
    bench.vault.clockJumped()
    #expect(try await bench.outcome("a.b") == .expired, "by the wall clock it is over")
    bench.clock.pass(milliseconds: 59_000)
    bench.clock.wall = WallTime(milliseconds: right.milliseconds + 59_000)
    bench.vault.clockJumped()
    bench.clock.pass(milliseconds: 120_000)
    await drain()
    #expect(try await bench.get("a.b") == "v", "it was hidden, and not purged")
  }

  @Test("suspend counts: right after it the token is over")
  @VaultActor func suspend() async throws {
    let bench = Bench(.file)
    try await bench.set("a.b", "v", expiresIn: 600)
    bench.clock.pass(milliseconds: 3_600_000)
    #expect(try await bench.outcome("a.b") == .expired)
  }

  @Test(
    "after a restart of the machine the wall clock decides; while it is behind, what expires is hidden and kept"
  )
  @VaultActor func rebooted() async throws {
    var bench = Bench(.file)
    bench.clock.pass(milliseconds: 60_000)
    try await bench.set("a.b", "v", expiresIn: 3_600)
    try await bench.set("a.c", "w")
    #expect(await bench.becomesTrue { bench.state.latestTime == bench.clock.wall })
    let right = bench.clock.wall
    bench.clock.restart()
    bench.clock.wall = WallTime(milliseconds: right.milliseconds - 86_400_000)
    bench = await bench.restarted()
    #expect(try await bench.outcome("a.b") == .expired)
    #expect(try await bench.get("a.c") == "w", "what never expires is not concerned")
    bench.clock.pass(milliseconds: 300_000)
    await drain()
    #expect(bench.file.items[try bench.id("a.b")]?.entry.isPurged == false)
    bench.clock.wall = WallTime(milliseconds: right.milliseconds + 60_000)
    #expect(try await bench.get("a.b") == "v", "the clock has caught up")
    bench.clock.wall = WallTime(milliseconds: right.milliseconds + 3_600_000)
    #expect(try await bench.outcome("a.b") == .expired)
  }

  @Test("an idle time slides with each use, an absolute one does not, and the earlier end counts")
  @VaultActor func sliding() async throws {
    let bench = Bench(.file)
    try await bench.set("a.absolute", "v", expiresIn: 10)
    try await bench.set("a.idle", "v", idle: 10)
    try await bench.set("a.both", "v", expiresIn: 20, idle: 10)
    try await bench.set("a.touched", "v", idle: 10)
    for _ in 1...3 {
      bench.clock.pass(milliseconds: 3_000)
      for key in ["a.absolute", "a.idle", "a.both"] { #expect(try await bench.get(key) == "v") }
      _ = try await bench.vault.touch(try bench.id("a.touched"))
    }
    bench.clock.pass(milliseconds: 1_000)
    #expect(try await bench.outcome("a.absolute") == .expired)
    for _ in 1...3 {
      bench.clock.pass(milliseconds: 3_000)
      for key in ["a.idle", "a.both"] { #expect(try await bench.get(key) == "v") }
      _ = try await bench.vault.touch(try bench.id("a.touched"))
    }
    bench.clock.pass(milliseconds: 1_000)
    #expect(try await bench.outcome("a.both") == .expired)
    bench.clock.pass(milliseconds: 8_999)
    #expect(try await bench.get("a.idle") == "v")
    bench.clock.pass(milliseconds: 10_000)
    #expect(try await bench.outcome("a.idle") == .expired)
    #expect(try await bench.outcome("a.touched") == .expired)
  }

  @Test(
    "the last use is written down at most every tenth of the idle time, and after a crash the token ends early at most that much",
    arguments: [StorePreference.file, .secretService])
  @VaultActor func lastUse(preference: StorePreference) async throws {
    var bench = Bench(preference)
    try await bench.set("a.b", "v", idle: 100)
    let id = try bench.id("a.b")
    func recorded() -> Int64? {
      if preference == .file { return bench.file.items[id]?.entry.lastUse?.boot.milliseconds }
      guard case .present(let entry) = bench.state.all[id]?.standing else { return nil }
      return entry.lastUse?.boot.milliseconds
    }
    bench.clock.pass(milliseconds: 9_999)
    _ = try await bench.get("a.b")
    await drain()
    #expect(recorded() == nil)
    bench.clock.pass(milliseconds: 1)
    _ = try await bench.get("a.b")
    let use = bench.clock.boot.milliseconds
    #expect(await bench.becomesTrue { recorded() == use })
    bench.clock.pass(milliseconds: 9_000)
    _ = try await bench.get("a.b")
    bench = await bench.restarted()
    bench.clock.pass(milliseconds: 90_999)
    #expect(try await bench.get("a.b") == "v")
    bench = await bench.restarted()
    bench.clock.pass(milliseconds: 100_000)
    #expect(try await bench.outcome("a.b") == .expired)
  }

  @Test("of a validity that is asked for exactly so much is enough", arguments: StorePreference.allCases)
  @VaultActor func margin(preference: StorePreference) async throws {
    let bench = Bench(preference)
    try await bench.set("a.b", "v", expiresIn: 61)
    #expect(try await bench.get("a.b", minValidity: 60) == "v")
    bench.clock.pass(milliseconds: 1_000)
    #expect(try await bench.get("a.b", minValidity: 60) == "v")
    bench.clock.pass(milliseconds: 1)
    #expect(try await bench.outcome("a.b", minValidity: 60) == .expired)
    #expect(try await bench.get("a.b") == "v")
    try await bench.set("a.c", "forever")
    #expect(try await bench.get("a.c", minValidity: Limits.longestDuration) == "forever")
  }

  @Test(
    "the secret is removed a minute after its end, and Expired stays the outcome, over a restart too",
    arguments: [StorePreference.file, .secretService])
  @VaultActor func purged(preference: StorePreference) async throws {
    var bench = Bench(preference)
    let id = try bench.id("a.b")
    let entry = try await bench.set("a.b", "v", expiresIn: 10)
    func secret() -> Int? {
      (preference == .file ? bench.file.items[id] : bench.provider.items[id])?.secret.count
    }
    bench.clock.pass(milliseconds: 10_000)
    await drain()
    #expect(secret() == 1)
    bench.clock.pass(milliseconds: 60_000)
    #expect(await bench.becomesTrue { secret() ?? 0 == 0 })
    #expect(await bench.becomesTrue { (try? bench.vault.own(id)) ?? nil == nil || preference == .file })
    #expect(try await bench.outcome("a.b") == .expired)
    bench = await bench.restarted()
    #expect(try await bench.outcome("a.b") == .expired)
    // Its version still is what conditions are about.
    #expect(
      try await bench.outcome { try await bench.set("a.b", "w", ifVersion: entry.version - 1) } == .conflict)
    try await bench.set("a.b", "w", ifVersion: entry.version)
    #expect(try await bench.get("a.b") == "w")
    try await bench.set("a.b", "x", expiresIn: 1)
    bench.clock.pass(milliseconds: 61_000)
    await drain()
    _ = try await bench.clear("a.b")
    #expect(try await bench.outcome("a.b") == .notFound)
  }

  @Test("what is over and was not purged because the keyring was away is purged when it is back")
  @VaultActor func purgedLater() async throws {
    let bench = Bench(.secretService)
    await bench.vault.start()
    try await bench.set("a.b", "v", expiresIn: 10)
    bench.provider.trouble = Bench.away
    bench.clock.pass(milliseconds: 10_000)
    bench.clock.pass(milliseconds: 60_000)
    await drain()
    #expect(try await bench.outcome("a.b") == .expired, "to know that, nobody has to be asked")
    bench.provider.trouble = nil
    bench.clock.pass(milliseconds: Limits.settleMilliseconds)
    bench.provider.onChange?([.available])
    #expect(await bench.becomesTrue { bench.provider.items.isEmpty })
    #expect(try await bench.outcome("a.b") == .expired)
  }

  @Test("while nothing has an end, nothing is ordered of the clock")
  @VaultActor func noAlarm() async throws {
    let bench = Bench(.file)
    await bench.vault.start()
    try await bench.set("a.b", "v")
    bench.clock.pass(milliseconds: 20_000)
    #expect(bench.clock.alarms.next == nil)
    try await bench.set("a.b", "v", expiresIn: 5)
    #expect(bench.clock.alarms.next != nil)
  }

  @Test("numbers out of a file that anybody can write do not overflow")
  @VaultActor func extremes() throws {
    let id = EntryID(try Key("a.b"))
    let extremes = [Int64.min, -1, 0, 1, .max]
    for wall in extremes {
      for other in extremes {
        let moment = Moment(
          wall: WallTime(milliseconds: wall), boot: BootTime(milliseconds: other),
          bootID: BootID(high: 1, low: 1))
        let entry = Entry(
          id: id, version: 1, created: moment.wall, modified: moment.wall,
          expires: WallTime(milliseconds: other),
          idle: .max, size: 1, store: .file, setAt: moment, lastUse: moment)
        let clock = SettableClock(wall: 1_900_000_000_000)
        _ = entry.validity(use: nil, now: clock.moment, latest: WallTime(milliseconds: other))
      }
    }
  }

  @VaultActor private func drain() async {
    for _ in 0..<200 { await Task.yield() }
  }
}
