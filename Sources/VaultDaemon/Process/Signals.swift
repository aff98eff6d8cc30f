// Signals as events of the loop: they are blocked for every thread and read from a descriptor, so that nothing ever
// runs inside a handler.

import CLinux
import Glibc
import VaultCore

/// The signals that tell the daemon something.
struct Signals: ~Copyable, Sendable {
  let descriptor: Descriptor

  /// Blocks SIGTERM, SIGINT and SIGHUP, ignores SIGPIPE and SIGXFSZ. Call it once, before other threads are started: they
  /// inherit it.
  static func block() throws(StartFailure) -> Signals {
    let number = clinux_signals_open()
    guard number >= 0 else { throw .bug("signalfd: \(SystemError.meaning(of: -number))") }
    return Signals(descriptor: Descriptor(owning: number))
  }
}

/// Calls back for each signal.
@VaultActor
final class SignalWatcher: Watcher {
  private let signals: Signals
  private let action: @VaultActor (Int32) -> Void

  /// Signals that come are told to `action` by their number.
  init(
    _ signals: consuming Signals, loop: EventLoop, _ action: @escaping @VaultActor (Int32) -> Void
  ) throws(SystemError) {
    let number = signals.descriptor.number
    self.signals = consume signals
    self.action = action
    _ = try loop.watch(number, for: .readable, self)
  }

  func ready(_ readiness: Readiness) {
    while true {
      let signal = clinux_signals_next(signals.descriptor.number)
      if signal == 0 { return }
      action(signal)
    }
  }
}
