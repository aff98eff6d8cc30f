// What every measurement needs: a folder that goes away, the peers' programs compiled, two CPUs.

import Foundation
import Synchronization

/// The place where measurements are made.
final class Workshop {
  let settings: Settings
  /// An empty folder, 0700, removed at the end.
  let folder: String
  /// The CPU of every server, and of clients that take turns with it.
  let serverCPU: Int
  /// The CPU of clients that ask over many connections; another one where there is another one.
  let loadCPU: Int

  init(_ settings: Settings) throws {
    self.settings = settings
    folder = settings.folder + "/vault-bench-\(getpid())"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    let cpus = try Self.allowedCPUs()
    serverCPU = cpus[0]
    loadCPU = cpus[cpus.count - 1]
    removeWhenInterrupted(folder)
    for program in ["echo", "load", "append", "client", "runs", "first", "pinned"] {
      try output(
        of: "cc", ["-O2", "-static", "-o", tool(program), "\(settings.peers)/\(program).c"])
    }
  }

  deinit {
    try? FileManager.default.removeItem(atPath: folder)
  }

  /// The path of a peer's program.
  func tool(_ name: String) -> String { "\(folder)/\(name)" }

  /// A new folder in the workshop's, 0700.
  func makeFolder(_ name: String) throws -> String {
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

/// Removes the folder when the benchmark is interrupted; what it started ends with it.
private func removeWhenInterrupted(_ folder: String) {
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
