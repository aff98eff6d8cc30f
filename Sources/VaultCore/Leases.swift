// Leases: the right of one caller to renew a token while all others wait for what comes of it. A lease is of a
// connection and ends with it. Decides who waits and who goes on; what a token is, is none of its business.

import VaultModel

/// Who renews which key, and who waits for it.
@VaultActor
final class Leases {
  /// Why waiting ended.
  enum Outcome: Sendable {
    /// Somebody set the key.
    case renewed
    /// The lease ended without a new value, or the key was cleared: look again.
    case ended
    /// The waiter's own time is over.
    case timedOut
    /// The waiter's connection is gone.
    case left
  }

  private struct Lease {
    let name: String
    let holder: CallerID
    let alarm: Alarms.Alarm
  }

  private final class Waiter {
    let caller: CallerID
    var alarm: Alarms.Alarm?
    var continuation: Promise<Outcome>?
    init(_ caller: CallerID) { self.caller = caller }
  }

  private let clock: any Clock
  private var leases: [EntryID: Lease] = [:]
  private var waiters: [EntryID: [Waiter]] = [:]
  // Callers whose requests run, by how many; those of them that are gone.
  private var running: [CallerID: Int] = [:]
  private var gone: Set<CallerID> = []

  /// No leases.
  init(clock: any Clock) {
    self.clock = clock
  }

  // MARK: Callers

  /// A request of the caller begins; `end` follows.
  func begin(_ caller: CallerID) {
    running[caller, default: 0] += 1
  }

  /// A request of the caller ended.
  func end(_ caller: CallerID) {
    let count = running[caller, default: 1] - 1
    running[caller] = count > 0 ? count : nil
    if count <= 0 { gone.remove(caller) }
  }

  /// Whether the caller's connection ended while its request runs.
  func isGone(_ caller: CallerID) -> Bool { gone.contains(caller) }

  /// The caller's connection ended: its leases end, and it waits no longer.
  func left(_ caller: CallerID) {
    if running[caller] != nil { gone.insert(caller) }
    for (id, lease) in leases where lease.holder == caller { end(id, .ended) }
    for waiter in waiters.values.joined().filter({ $0.caller == caller }) { wake(waiter, .left) }
  }

  // MARK: Leases

  /// Whether somebody has the lease of a key.
  func isHeld(_ id: EntryID) -> Bool { leases[id] != nil }

  /// Whether `name` is the present lease of a key.
  func isPresent(_ name: String, of id: EntryID) -> Bool { leases[id]?.name == name }

  /// Whether the caller has the lease of a key.
  func isHolder(_ caller: CallerID?, of id: EntryID) -> Bool { caller != nil && leases[id]?.holder == caller }

  /// Gives the lease of a key, which nobody has, to a caller. It ends by itself after `Limits.leaseSeconds`.
  func grant(_ id: EntryID, _ name: String, to caller: CallerID) {
    let end = clock.boot.advanced(by: Int64(Limits.leaseSeconds) * 1_000)
    let alarm = clock.alarms.set(end) { [weak self] in
      guard let self, leases[id]?.name == name else { return }
      self.end(id, .ended)
    }
    leases[id] = Lease(name: name, holder: caller, alarm: alarm)
  }

  /// Ends the lease of that name, wherever it is; it may have ended before.
  func giveUp(_ name: String) {
    guard let id = leases.first(where: { $0.value.name == name })?.key else { return }
    end(id, .ended)
  }

  /// Ends the lease of a key, where there is one, and tells all who wait.
  func end(_ id: EntryID, _ outcome: Outcome) {
    if !leases.isEmpty, let lease = leases.removeValue(forKey: id) { clock.alarms.cancel(lease.alarm) }
    guard !waiters.isEmpty, let waiting = waiters.removeValue(forKey: id) else { return }
    for waiter in waiting { wake(waiter, outcome) }
  }

  // MARK: Waiting

  /// How many wait for the lease of a key.
  func waiting(_ id: EntryID) -> Int { waiters[id]?.count ?? 0 }

  /// Waits until the lease of a key ends, in the order of arrival, at most until `end`.
  func wait(_ id: EntryID, _ caller: CallerID, until end: BootTime) async -> Outcome {
    if clock.boot >= end { return .timedOut }
    let waiter = Waiter(caller)
    waiters[id, default: []].append(waiter)
    return await withPromise { continuation in
      waiter.continuation = continuation
      waiter.alarm = clock.alarms.set(end) { [weak self] in
        self?.waiters[id]?.removeAll { $0 === waiter }
        self?.wake(waiter, .timedOut)
      }
    }
  }

  private func wake(_ waiter: Waiter, _ outcome: Outcome) {
    if let alarm = waiter.alarm { clock.alarms.cancel(alarm) }
    waiter.continuation?.resume(returning: outcome)
    waiter.continuation = nil
  }
}
