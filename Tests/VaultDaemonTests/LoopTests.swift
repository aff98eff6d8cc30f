// The loop: alarms in their order, jobs from every thread, and no event for what is gone.

import CLinux
import Foundation
import Spawning
import Synchronization
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import VaultDaemon

@Suite struct LoopTests {
  @Test("alarms ring at their time and not before, each once, also those that an alarm sets")
  func alarms() async throws {
    _ = try await RealLoop.get()
    await check()

    @VaultActor func check() {
      let clock = SettableClock(boot: 1_000)
      var ordered: [Int64?] = []
      let alarms = clock.alarms
      alarms.order = { ordered.append($0?.milliseconds) }
      ordered = []
      var rung: [String] = []
      alarms.set(BootTime(milliseconds: 1_200)) { rung.append("second") }
      alarms.set(BootTime(milliseconds: 1_100)) {
        rung.append("first")
        alarms.set(BootTime(milliseconds: 1_100)) { rung.append("at once") }
      }
      let never = alarms.set(BootTime(milliseconds: 1_150)) { rung.append("never") }
      #expect(ordered == [1_200, 1_100])
      alarms.cancel(never)
      clock.pass(milliseconds: 99)
      alarms.ring()
      #expect(rung.isEmpty)
      clock.pass(milliseconds: 1)
      alarms.ring()
      #expect(rung == ["first", "at once"])
      #expect(ordered.last == 1_200)
      clock.pass(milliseconds: 1_000)
      alarms.ring()
      alarms.ring()
      #expect(rung == ["first", "at once", "second"])
      #expect(ordered.last == .some(nil))
    }
  }

  @Test("the loop's own timer rings alarms")
  func timer() async throws {
    let loop = try await RealLoop.get()
    let rang = Atomic(false)
    Task { @VaultActor in
      loop.alarms.set(SystemClock().boot.advanced(by: 5)) { rang.store(true, ordering: .relaxed) }
    }
    // The loop itself is not asked: nothing but its timer wakes it.
    try await until("the alarm") { rang.load(ordering: .relaxed) }
  }

  @Test("an alarm in a thousand years, or at the end of all numbers, is armed and does not ring")
  func far() async throws {
    let loop = try await RealLoop.get()
    let rang = Atomic(false)
    Task { @VaultActor in
      let now = SystemClock().boot
      for far in [now.advanced(by: Limits.longestDuration * 1_000), now.advanced(by: .max)] {
        loop.alarms.set(far) { Issue.record("rang for \(far)") }
      }
      // What comes after them is ordered before them, and then they are ordered again.
      loop.alarms.set(now.advanced(by: 5)) { rang.store(true, ordering: .relaxed) }
    }
    try await until("the alarm before them") { rang.load(ordering: .relaxed) }
    let timer = clinux_timer_open()
    defer { close(timer) }
    for far in [Limits.longestDuration * 1_000, .max] {
      #expect(clinux_timer_set(timer, far) == 0)
      var ready = pollfd(fd: timer, events: Int16(POLLIN), revents: 0)
      #expect(unsafe poll(&ready, 1, 0) == 0)
    }
  }

  @Test(
    "who wants to know is told that the wall clock was set, each time",
    .enabled(if: moveClock(), "needs to be allowed to set the clock (by a billionth of a second)"))
  func clockSet() async throws {
    let loop = try await RealLoop.get()
    let tally = Tally()
    let watch = try await ClockWatch(loop: loop) { tally.add() }
    for round in 1...3 {
      #expect(moveClock())
      for _ in 0..<500 where await tally.count < round { try await Task.sleep(for: .milliseconds(2)) }
      #expect(await tally.count == round)
    }
    withExtendedLifetime(watch) {}
  }

  @Test("jobs that come from many threads are all run, one at a time")
  func jobs() async throws {
    _ = try await RealLoop.get()
    let tally = Tally()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<200 {
        group.addTask {
          for _ in 0..<20 { await tally.add() }
        }
      }
    }
    #expect(await tally.count == 4_000)
  }

  @Test("a descriptor that becomes ready behind a thousand jobs is looked at before the last of them")
  func jobsGiveWay() async throws {
    let loop = try await RealLoop.get()
    try await check(loop)

    @VaultActor func check(_ loop: EventLoop) async throws {
      let (watcher, done) = (Recorder(loop), Promise<Void>())
      let caller = try Caller.pair { watcher.own($0) }
      watcher.watch = try loop.watch(watcher.number, for: .readable, watcher)
      var (count, countAtEvent) = (0, -1)
      watcher.onReady = { countAtEvent = count }
      caller.send(bytes: [1])
      for number in 1...1_000 {
        Task { @VaultActor in
          count += 1
          if number == 1_000 { done.resume() }
        }
      }
      await done.value()
      #expect((0..<1_000).contains(countAtEvent))
      watcher.forget()
    }
  }

  @Test("an event that was fetched for a descriptor that is gone reaches nobody, also not its successor")
  func stale() async throws {
    let loop = try await RealLoop.get()
    try await check(loop)

    @VaultActor func check(_ loop: EventLoop) async throws {
      var watchers: [Recorder] = []
      var callers: [Caller] = []
      // The first that is called forgets the other one, and puts a new one in its place.
      for _ in 0..<2 {
        let watcher = Recorder(loop)
        callers.append(try watcher.begin())
        watchers.append(watcher)
      }
      let successor = Recorder(loop)
      callers.append(try Caller.pair { successor.own($0) })
      watchers[0].onReady = {
        watchers[1].forget()
        successor.watch = try? loop.watch(successor.number, for: .readable, successor)
      }
      watchers[1].onReady = {
        watchers[0].forget()
        successor.watch = try? loop.watch(successor.number, for: .readable, successor)
      }
      callers[0].send(bytes: [1])
      callers[1].send(bytes: [1])
      for _ in 0..<100 where watchers[0].calls + watchers[1].calls == 0 {
        try await Task.sleep(for: .milliseconds(1))
      }
      try await Task.sleep(for: .milliseconds(5))
      #expect(min(watchers[0].calls, watchers[1].calls) == 0)
      #expect(max(watchers[0].calls, watchers[1].calls) >= 1)
      #expect(successor.calls == 0)
      for watcher in watchers + [successor] { watcher.forget() }
    }
  }
}

extension LoopTests {
  @Test(
    "watchers settle when all that were ready at once were told, each once, and one that was forgotten too")
  func settled() async throws {
    let loop = try await RealLoop.get()
    try await check(loop)

    @VaultActor func check(_ loop: EventLoop) async throws {
      var order: [String] = []
      var callers: [Caller] = []
      var watchers: [Recorder] = []
      for number in 0..<3 {
        let watcher = Recorder(loop)
        callers.append(try watcher.begin())
        watcher.onReady = { order.append("ready \(number)") }
        watcher.onSettle = { order.append("settle \(number)") }
        watchers.append(watcher)
      }
      // The loop looks for what is ready after this.
      for caller in callers { caller.send(bytes: [1]) }
      for _ in 0..<100 where order.count < 6 { try await Task.sleep(for: .milliseconds(1)) }
      #expect(order.count == 6)
      #expect(order.prefix(3).allSatisfy { $0.hasPrefix("ready") })
      #expect(Set(order).count == 6)
      for watcher in watchers { watcher.forget() }
    }
  }
}

/// Sets the wall clock forward by a nanosecond: a jump for whoever asks the kernel, and for nobody else.
/// - Returns: whether this machine lets it be done.
private func moveClock() -> Bool {
  // struct timex of adjtimex(2), which Swift does not see: modes and the time to add.
  let program = """
    import ctypes, struct, sys
    change = ctypes.create_string_buffer(512)
    struct.pack_into("I", change, 0, 0x0100 | 0x2000)  # ADJ_SETOFFSET | ADJ_NANO
    struct.pack_into("ll", change, 72, 0, 1)
    sys.exit(ctypes.CDLL(None).adjtimex(change) < 0)
    """
  let ended = try? run(["/usr/bin/python3", "-c", program], environment: ["PATH": "/usr/bin:/bin"])
  return ended?.status == 0
}

@VaultActor private final class Tally {
  var count = 0
  func add() { count += 1 }
}

@VaultActor private final class Recorder: Watcher {
  let loop: EventLoop
  private var descriptor: Descriptor?
  private(set) var number: Int32 = -1
  var watch: EventLoop.Watch?
  var calls = 0
  var onReady: (@VaultActor () -> Void)?
  var onSettle: (@VaultActor () -> Void)?

  init(_ loop: EventLoop) {
    self.loop = loop
  }

  func own(_ descriptor: consuming Descriptor) {
    number = descriptor.number
    self.descriptor = consume descriptor
  }

  /// Watches its end of a connection from now on, and returns the other one.
  func begin() throws -> Caller {
    let caller = try Caller.pair { own($0) }
    watch = try loop.watch(number, for: .readable, self)
    return caller
  }

  func ready(_ readiness: Readiness) {
    calls += 1
    onReady?()
    onReady = nil
    forget()
  }

  func settle() {
    onSettle?()
    onSettle = nil
  }

  func forget() {
    if let watch { loop.forget(watch) }
    watch = nil
  }
}
