// What systemd tells a service when it starts it, and what the service tells systemd. The variables are taken
// out of the environment, so that no program that a library starts takes them for its own. The protocols are those
// of sd_listen_fds(3) and sd_notify(3); no libsystemd.

import CLinux
import Glibc

/// The service manager that started this process, if there is one.
public struct ServiceManager: Sendable {
  /// Descriptors that were handed over; empty where none were.
  public let sockets: Range<Int32>

  /// Whether standard error goes to the journal, so that lines may say their priority.
  public let journalReadsStandardError: Bool

  private let notifySocket: String?

  /// Reads the environment and removes what was meant for this process alone. Call it once, before other threads
  /// are started.
  public static func takeFromEnvironment() -> ServiceManager {
    let count = variable("LISTEN_FDS").flatMap { Int32($0) } ?? 0
    // Meant for us and not for a process that started us, with a number that cannot be nonsense.
    let isOurs = variable("LISTEN_PID").flatMap { Int32($0) } == getpid() && (1...1_024).contains(count)
    let manager = ServiceManager(
      sockets: isOurs ? 3..<3 + count : 3..<3,
      journalReadsStandardError: standardErrorIs(variable("JOURNAL_STREAM")),
      notifySocket: variable("NOTIFY_SOCKET"))
    for name in ["LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "NOTIFY_SOCKET"] { unsafe unsetenv(name) }
    return manager
  }

  /// Sends lines of `NAME=value`. Nobody listening, or not fast enough, is no failure of the daemon.
  public func notify(_ lines: String...) {
    guard let notifySocket else { return }
    let text = Array(lines.joined(separator: "\n").utf8)
    _ = unsafe text.withUnsafeBytes { bytes in
      unsafe clinux_send_datagram(notifySocket, bytes.baseAddress, bytes.count)
    }
  }

  init(sockets: Range<Int32>, journalReadsStandardError: Bool, notifySocket: String?) {
    self.sockets = sockets
    self.journalReadsStandardError = journalReadsStandardError
    self.notifySocket = notifySocket
  }

  /// `stream` is `DEVICE:INODE` of what was standard error when the service was started (systemd.exec(5)).
  private static func standardErrorIs(_ stream: String?) -> Bool {
    var status = stat()
    guard let stream, unsafe fstat(STDERR_FILENO, &status) == 0 else { return false }
    return stream == "\(status.st_dev):\(status.st_ino)"
  }

  private static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name), let text = unsafe String(validatingCString: value) else {
      return nil
    }
    return text.isEmpty ? nil : text
  }
}
