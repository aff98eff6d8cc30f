// How the process protects what it will hold: done first, before a secret or a thread is there, and told by
// `Status` as the kernel has it and not as we asked for it. A measure that the kernel refuses is no reason not to
// start: the unit may have taken it already and forbidden the call. Where to read why: the page on threats.

import CLinux
import Glibc
import SecretMemory

/// Measures against other programs of the same user, and against our own accidents.
public enum Hardening {
  /// Takes every measure. Call it once, before other threads are started.
  public static func apply() {
    // Nobody attaches, reads memory or takes descriptors; no dump.
    _ = clinux_forbid_tracing()
    _ = clinux_forbid_core()
    _ = clinux_forbid_new_privileges()
    // Swift's crash handler prints the memory that registers point to. The environment can turn it off only
    // before the program starts, and not every way of starting it does; without its handlers it does nothing.
    clinux_drop_crash_handlers()
    // A descriptor of ours that took the place of a closed standard error would get the log.
    while case let number = unsafe open("/dev/null", O_RDWR), number >= 0 {
      if number > STDERR_FILENO {
        _ = close(number)
        break
      }
    }
    // Whatever makes a file makes it for this user alone.
    umask(0o077)
  }

  /// Each measure, and whether it is in force now.
  public static var protections: [String: Bool] {
    [
      "not_dumpable": clinux_tracing_is_forbidden(),
      "no_core": clinux_core_is_forbidden(),
      "no_new_privileges": clinux_new_privileges_are_forbidden(),
      "no_crash_dump": clinux_crash_handlers_are_dropped(),
      "memory_locked": SecretMemory.isLocked,
    ]
  }
}
