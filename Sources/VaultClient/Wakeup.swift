// An eventfd: what makes a thread that waits for descriptors look up.

import CLinux
import Glibc
import VaultModel

/// A descriptor that is readable from `signal` to `clear`.
struct Wakeup: ~Copyable {
  private let descriptor: Int32

  /// Opens one.
  /// - Throws: `.unavailable` where the process has no descriptor left.
  init() throws(VaultError) {
    descriptor = clinux_wakeup_open()
    guard descriptor >= 0 else {
      let reason = unsafe String(cString: clinux_error_text(-descriptor))
      throw .unavailable(store: .vault, reason: "this process can open no eventfd: \(reason)")
    }
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }

  /// What to poll for.
  var wanted: pollfd { pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0) }

  var isSignalled: Bool {
    var request = wanted
    return unsafe poll(&request, 1, 0) > 0
  }

  func signal() { clinux_wakeup_signal(descriptor) }

  func clear() { clinux_wakeup_clear(descriptor) }
}
