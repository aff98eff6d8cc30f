// strace on a running daemon: counts its calls of the system, shows them in their order, or makes one of them fail. It
// attaches as root, which the daemon cannot refuse, so that counting begins when the test says so.

import Foundation
import Glibc
import Spawning

/// strace, attached to a daemon.
final class CallTracer {
  /// Whether a process may be traced here.
  static let isAvailable: Bool =
    geteuid() == 0
    && (try? Spawning.run(
      ["strace", "-qq", "-o", "/dev/null", "true"], environment: ["PATH": "/usr/bin:/bin"]))?.status == 0
  /// What is printed where a test is left out for want of it.
  static let wanted = "needs root, and strace that may attach"

  /// A call that is to fail.
  struct Failure: CustomStringConvertible {
    /// Its name.
    var call: String
    /// Which one of its name, from 1, in each thread.
    var place: Int
    /// How: the name of an error number.
    var error: String

    var description: String { "\(call) \(place) with \(error)" }
  }

  private let strace: Child
  private let trace: String

  /// Attaches to `daemon`, follows the calls of these names, and makes one fail. `options` are further words for strace.
  init(
    _ daemon: DaemonUnderTest, in session: ThrowawaySession, _ calls: [String],
    failing failure: Failure? = nil, options: [String] = []
  ) throws {
    let name = "strace-" + UUID().uuidString.prefix(8)
    trace = "\(session.folder)/\(name).trace"
    var arguments = ["strace", "-f", "-o", trace, "-e", "trace=" + calls.joined(separator: ",")] + options
    if let failure {
      arguments += ["-e", "inject=\(failure.call):error=\(failure.error):when=\(failure.place)"]
    }
    strace = try session.start(name, arguments + ["-p", "\(daemon.pid)"])
    guard becomesTrue({ session.log(name).contains("attached") || strace.look() != nil }),
      strace.look() == nil
    else { throw HarnessFailure("strace does not attach: \(session.log(name))") }
  }

  /// Lets go of the daemon.
  /// - Returns: for each call how often one thread made it at most.
  @discardableResult
  func end() throws -> [String: Int] {
    var counts: [Substring: [String: Int]] = [:]
    for line in try lines() {
      guard let match = line.prefixMatch(of: #/(\d+) +(\w+)\(/#) else { continue }
      counts[match.1, default: [:]][String(match.2), default: 0] += 1
    }
    return counts.values.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: max) }
  }

  /// Lets go of the daemon.
  /// - Returns: what strace wrote, in the order in which calls began and ended.
  func lines() throws -> [Substring] {
    strace.kill(SIGTERM)
    try strace.wait()
    return String(decoding: try Data(contentsOf: URL(filePath: trace)), as: UTF8.self).split(separator: "\n")
  }
}
