// What every measurement needs: a folder that goes away, the peers' programs, compiled when they are needed, two
// CPUs.

import Foundation
import Synchronization

/// The place where measurements are made.
package final class Workshop {
  package let settings: Settings
  /// An empty folder, 0700, removed at the end.
  package let folder: String
  /// The CPU of every server, and of clients that take turns with it.
  package let serverCPU: Int
  /// The CPU of clients that ask over many connections; another one where there is another one.
  package let loadCPU: Int

  package init(_ settings: Settings) throws {
    self.settings = settings
    folder = settings.folder + "/vault-bench-\(getpid())"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let cpus = try Self.allowedCPUs()
    serverCPU = cpus[0]
    loadCPU = cpus[cpus.count - 1]
  }

  deinit { end() }

  /// Removes the folder.
  package func end() { try? FileManager.default.removeItem(atPath: folder) }

  /// The path of a peer's program. It is linked statically, so that its start costs no more than it must, except what
  /// stands for programs that use libsecret.
  package func tool(_ name: String) throws -> String {
    let path = "\(folder)/\(name)"
    if FileManager.default.fileExists(atPath: path) { return path }
    let source = "\(settings.peers)/\(name).c"
    if name == "libsecret" {
      let flags = try output(of: "pkg-config", ["--cflags", "--libs", "libsecret-1"])
        .split(whereSeparator: \.isWhitespace).map(String.init)
      try output(of: "cc", ["-O2", "-o", path, source] + flags)
    } else {
      try output(of: "cc", ["-O2", "-static", "-o", path, source])
    }
    return path
  }

  /// Whether a program is on PATH.
  package static func hasProgram(_ name: String) -> Bool {
    (try? output(of: "sh", ["-c", "command -v \(name)"])) != nil
  }

  /// The last lines that the servers wrote to standard error.
  package var log: String {
    let log = (try? String(contentsOfFile: "\(folder)/log", encoding: .utf8)) ?? ""
    return log.split(separator: "\n").suffix(10).joined(separator: "\n")
  }

  /// A new folder in the workshop's, 0700.
  package func makeFolder(_ name: String) throws -> String {
    let path = "\(folder)/\(name)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return path
  }

  /// The CPUs that this process may use, the lowest first.
  private static func allowedCPUs() throws -> [Int] {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") }
    let ranges = line?.split(separator: "\t").last?.split(separator: ",") ?? []
    let cpus = ranges.flatMap { range in
      let ends = range.split(separator: "-").compactMap { Int($0) }
      return ends.isEmpty ? [] : Array(ends[0]...ends[ends.count - 1])
    }
    guard !cpus.isEmpty else { throw Failure("no CPU is named in /proc/self/status") }
    return cpus
  }
}

/// Removes the workshop's folder when the program is interrupted; what it started ends with it.
package func removeWhenInterrupted(_ workshop: Workshop) {
  let folder = workshop.folder
  var signals = sigset_t()
  unsafe sigemptyset(&signals)
  unsafe sigaddset(&signals, SIGINT)
  unsafe sigaddset(&signals, SIGTERM)
  unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
  let waiting = signals
  Thread.detachNewThread {
    var waiting = waiting
    var signal: Int32 = 0
    unsafe sigwait(&waiting, &signal)
    try? FileManager.default.removeItem(atPath: folder)
    _exit(128 + signal)
  }
}
