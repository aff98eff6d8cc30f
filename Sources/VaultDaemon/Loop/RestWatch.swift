// When nobody asks: memory that only makes the daemon faster is given back a moment after the last request, and what was
// read of the stores after a longer while. Of the requests that come after a rest the first one sets an alarm, and a daemon
// that rests has one more, a minute later. What there is to give back, the owner says.

import VaultCore
import VaultModel

/// Notices that no request comes.
@VaultActor
final class RestWatch {
  private let server: Server
  private let clock: any Clock
  private let alarms: Alarms
  private let rest: @VaultActor () -> Void
  private let forget: @VaultActor () -> Void
  private var willForget = false

  /// Watches nothing yet. `rest` is called once no request came to `server` for a while, `forget` once none came for longer.
  init(
    _ server: Server, clock: any Clock, alarms: Alarms, rest: @escaping @VaultActor () -> Void,
    forget: @escaping @VaultActor () -> Void
  ) {
    (self.server, self.clock, self.alarms) = (server, clock, alarms)
    (self.rest, self.forget) = (rest, forget)
  }

  /// Watches from now on.
  func watch() {
    let seen = server.requests
    alarms.set(clock.boot.advanced(by: Limits.quietMilliseconds)) { [weak self] in self?.rest(since: seen) }
  }

  private func rest(since seen: UInt64) {
    if server.requests != seen { return watch() }
    rest()
    server.onNextRequest = { [weak self] in self?.watch() }
    watchForLonger()
  }

  private func watchForLonger() {
    guard !willForget else { return }
    willForget = true
    let seen = server.requests
    alarms.set(clock.boot.advanced(by: Limits.keptMilliseconds)) { [weak self] in self?.forget(since: seen) }
  }

  private func forget(since seen: UInt64) {
    willForget = false
    if server.requests == seen {
      forget()
    } else if server.onNextRequest != nil {
      // It rests again, since less than that.
      watchForLonger()
    }
  }
}
