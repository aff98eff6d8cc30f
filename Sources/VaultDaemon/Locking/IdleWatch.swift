// How long the vault was not used, by the clock that counts suspend. One alarm, set when it is needed and moved only
// when it rings, so that a request costs a look at the clock and an idle daemon wakes up once. What a use is, the
// connection says; what happens when there is none, the owner.

import VaultCore
import VaultModel
import VaultWire

/// Notices that the vault was not used for a while.
@VaultActor
final class IdleWatch {
  /// Called whenever the time without a use was reached.
  var onIdle: (@VaultActor () -> Void)?

  private let clock: any Clock
  private let alarms: Alarms
  private var limit: Int64?
  private var lastUse: BootTime
  private var underWay = 0
  private var alarm: Alarms.Alarm?

  /// Watches nothing yet.
  init(clock: any Clock, alarms: Alarms) {
    self.clock = clock
    self.alarms = alarms
    lastUse = clock.boot
  }

  /// Watches for so many milliseconds without a use, from now on; `nil`: not at all.
  func watch(for milliseconds: Int64?) {
    if limit == milliseconds { return }
    limit = milliseconds
    stop()
    if milliseconds == nil { return }
    lastUse = clock.boot
    setAlarm()
  }

  /// A request is about to be looked at. Where the time was over before, that comes first: a machine that wakes up may hear
  /// of the request before the alarm.
  func catchUp() {
    guard let limit, underWay == 0, alarm != nil, lastUse.advanced(by: limit) <= clock.boot else { return }
    stop()
    onIdle?()
  }

  /// A request that uses the vault begins.
  func begin() {
    catchUp()
    underWay += 1
    note()
  }

  /// The vault is used.
  func note() {
    if limit == nil { return }
    lastUse = clock.boot
    setAlarm()
  }

  /// A request that began has ended.
  func end() {
    underWay -= 1
    if limit != nil { lastUse = clock.boot }
  }

  private func setAlarm() {
    guard alarm == nil, let limit else { return }
    alarm = alarms.set(lastUse.advanced(by: limit)) { [weak self] in self?.ring() }
  }

  private func stop() {
    if let alarm { alarms.cancel(alarm) }
    alarm = nil
  }

  private func ring() {
    alarm = nil
    guard let limit else { return }
    // While a request waits, for a store or for a person, the vault is in use.
    if underWay > 0 { lastUse = clock.boot }
    if lastUse.advanced(by: limit) > clock.boot { setAlarm() } else { onIdle?() }
  }
}

extension Call {
  /// Whether it is a use of the vault, whatever comes of it: it asks for entries, changes them, or opens the file. To
  /// look at the daemon, to be told of changes, and to lock are none.
  var usesVault: Bool {
    switch self {
    case .get, .set, .clear, .clearNamespace, .list, .touch, .refresh, .giveUp, .initialise, .unlock,
      .addSlot, .removeSlot, .verify:
      true
    case .getInfo, .getInterfaceDescription, .watch, .lock, .slots, .status: false
    }
  }
}
