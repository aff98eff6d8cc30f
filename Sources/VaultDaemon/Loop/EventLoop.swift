// The daemon's main thread: waits until a descriptor is ready, calls whoever watches it, then runs the jobs of
// the vault's actor that came up. It is itself one job of that actor that never ends, so everything that it calls
// may use the vault without a hop. Knows nothing of requests.
//
// Level-triggered, unless a watcher asks otherwise: a connection does, of readability. The kernel looks at each descriptor
// that it reported again, with the next wait, whether it still is ready; where it reports once it need not. Writability
// is asked for by those who wait for it alone: else every answer that a client takes would be reported.

import CLinux
import VaultCore
import VaultModel

/// What is asked of a descriptor, and what it turned out to be ready for.
struct Readiness: OptionSet, Sendable {
  let rawValue: UInt32

  init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// There is something to read, or its end.
  static let readable = Readiness(rawValue: UInt32(CLINUX_READABLE))
  /// There is room to write.
  static let writable = Readiness(rawValue: UInt32(CLINUX_WRITABLE))
  /// Both directions are shut, or the descriptor failed. Reported always, never asked for.
  static let hungUp = Readiness(rawValue: UInt32(CLINUX_HUNG_UP))
  /// Asked for where a state that lasts is to be reported once: a peer that hung up, while its request runs. With
  /// `readable`: whoever is told reads until there is nothing left, or asks again (`change`).
  static let once = Readiness(rawValue: UInt32(CLINUX_ONCE))
  /// Reported with `once` and `readable`: the other end sends no more, and its end is still to be read.
  static let last = Readiness(rawValue: UInt32(CLINUX_LAST))
}

/// Whoever is called when a descriptor is ready.
@VaultActor
protocol Watcher: AnyObject {
  /// The descriptor is ready.
  func ready(_ readiness: Readiness)

  /// Those that were ready at the same time have been told so too: what is better done when all have come as far.
  func settle()
}

extension Watcher {
  func settle() {}
}

/// Waits for descriptors, points in time and jobs.
@VaultActor
final class EventLoop {
  /// Names a descriptor that is watched.
  struct Watch: Hashable, Sendable {
    fileprivate let token: UInt64
    fileprivate let descriptor: Int32
  }

  private struct Place {
    var watcher: (any Watcher)?
    // Which use of this place it is: an event that was fetched before the descriptor went is told by it.
    var use: UInt32 = 0
  }

  // Jobs that make jobs get this many rounds before descriptors are looked at again.
  private static let rounds = 4
  // Nor are more jobs run than this many: a commit of a logout wakes up hundreds, of 10 µs each.
  private static let jobs = 128
  private static let wakeupToken = UInt64.max
  private static let timerToken = UInt64.max - 1

  /// What is to happen at a point in time.
  let alarms: Alarms

  private let epoll: Descriptor
  private let wakeup: Descriptor
  private let timer: Descriptor
  private var places: [Place] = []
  private var freePlaces: [UInt32] = []
  private var atEnd: [@VaultActor () -> Void] = []
  private var isStopped = false

  /// A loop that watches nothing yet.
  init(clock: any Clock) throws(SystemError) {
    epoll = Descriptor(owning: try check(clinux_epoll_open(), "epoll_create1"))
    wakeup = Descriptor(owning: try check(clinux_wakeup_open(), "eventfd"))
    timer = Descriptor(owning: try check(clinux_timer_open(), "timerfd_create"))
    try check(
      clinux_epoll_add(epoll.number, wakeup.number, Readiness.readable.rawValue, Self.wakeupToken),
      "epoll_ctl")
    try check(
      clinux_epoll_add(epoll.number, timer.number, Readiness.readable.rawValue, Self.timerToken),
      "epoll_ctl")
    let number = timer.number
    alarms = clock.alarms
    alarms.order = { time in
      // It cannot fail: the descriptor is a timer and the time is in range.
      _ = clinux_timer_set(number, time.map { max(0, $0.milliseconds) } ?? -1)
    }
  }

  /// Calls `watcher` whenever `descriptor` is ready for what `interest` asks. The loop keeps the watcher; whoever
  /// closes the descriptor calls `forget` first.
  func watch(
    _ descriptor: Int32, for interest: Readiness, _ watcher: any Watcher
  ) throws(SystemError) -> Watch {
    let place: UInt32
    if let free = freePlaces.popLast() {
      place = free
    } else {
      place = UInt32(places.count)
      places.append(Place())
    }
    places[Int(place)].watcher = watcher
    let token = UInt64(places[Int(place)].use) << 32 | UInt64(place)
    let watch = Watch(token: token, descriptor: descriptor)
    do {
      try check(clinux_epoll_add(epoll.number, descriptor, interest.rawValue, token), "epoll_ctl")
    } catch {
      vacate(place)
      throw error
    }
    return watch
  }

  /// Asks for something else.
  func change(_ watch: Watch, to interest: Readiness) {
    // It fails only for a descriptor that isn't watched, and the caller holds the proof that it is.
    _ = clinux_epoll_change(epoll.number, watch.descriptor, interest.rawValue, watch.token)
  }

  /// Stops watching; no event of this descriptor is delivered any more.
  func forget(_ watch: Watch) {
    _ = clinux_epoll_remove(epoll.number, watch.descriptor)
    vacate(UInt32(truncatingIfNeeded: watch.token))
  }

  /// Has `action` run once, at the end of this turn: when the jobs that came up have been run, before the loop waits. It
  /// must make no jobs.
  func atEndOfTurn(_ action: @escaping @VaultActor () -> Void) {
    atEnd.append(action)
  }

  /// Has `run` return at the end of this turn.
  func stop() {
    isStopped = true
  }

  /// Runs until `stop`. Call it from a job of the vault's actor, once a process.
  func run() throws(SystemError) {
    clinux_loop_enter()
    let number = wakeup.number
    VaultActor.executor.onWork {
      // Jobs that come up on this thread are run before it waits again.
      if !clinux_loop_is_current() { clinux_wakeup_signal(number) }
    }
    var events = [clinux_event](repeating: clinux_event(), count: Int(CLINUX_EVENTS))
    var told: [any Watcher] = []
    told.reserveCapacity(Limits.answersAtOnce)
    while true {
      let isIdle = runJobs()
      if !atEnd.isEmpty { endTurn() }
      if isStopped { return }
      let wait: Int32 = isIdle ? -1 : 0
      let count = Int(try check(Self.wait(epoll.number, wait, &events), "epoll_wait"))
      for index in 0..<count {
        if let watcher = deliver(events[index]) { told.append(watcher) }
        if told.count == Limits.answersAtOnce || index == count - 1 {
          while let watcher = told.popLast() { watcher.settle() }
        }
      }
    }
  }

  private func endTurn() {
    let actions = atEnd
    atEnd = []
    for action in actions { action() }
  }

  // Not of the actor: see `Connection.receive`.
  private nonisolated static func wait(
    _ epoll: Int32, _ milliseconds: Int32, _ events: inout [clinux_event]
  ) -> Int32 {
    unsafe events.withUnsafeMutableBufferPointer { buffer in
      unsafe clinux_epoll_wait(epoll, buffer.baseAddress, milliseconds)
    }
  }

  /// Runs the jobs that are waiting.
  /// - Returns: whether none is left.
  private func runJobs() -> Bool {
    var left = Self.jobs
    for _ in 0..<Self.rounds where left > 0 {
      let count = VaultActor.executor.runPending(atMost: left)
      if count == 0 { return true }
      left -= count
    }
    return false
  }

  /// - Returns: who was told.
  private func deliver(_ event: clinux_event) -> (any Watcher)? {
    switch event.token {
    case Self.wakeupToken:
      clinux_wakeup_clear(wakeup.number)
      return nil
    case Self.timerToken:
      clinux_timer_clear(timer.number)
      alarms.ring()
      return nil
    default:
      let place = places[Int(UInt32(truncatingIfNeeded: event.token))]
      guard place.use == UInt32(event.token >> 32), let watcher = place.watcher else { return nil }
      watcher.ready(Readiness(rawValue: event.ready))
      return watcher
    }
  }

  private func vacate(_ place: UInt32) {
    places[Int(place)].watcher = nil
    places[Int(place)].use &+= 1
    freePlaces.append(place)
  }
}
