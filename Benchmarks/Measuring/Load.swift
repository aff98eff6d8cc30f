// One measurement of a server on a Unix socket: how many answers, how fast. The asking is done by a C program
// that is the same for every server.

import Foundation

/// What the end of an answer is.
package enum AnswerEnd: String {
  case nul, redis, echo
}

/// A server and how to talk to it.
package struct Peer {
  package let socket: String
  package let end: AnswerEnd
}

/// What one measurement showed.
package struct Load {
  /// Answers a second.
  package let rate: Double
  /// The median round trip in microseconds.
  package let median: Double
  /// How much of its CPU the asking program used, 0 to 1. Near 1 it, and not the server, set the pace.
  package let clientShare: Double
  /// The last answer.
  package let answer: String

  /// Asks over `connections` connections for so many seconds, else as long as the workshop's scale says; with 0 each
  /// request is sent once. With `every`, and one connection, all requests are sent once in that many seconds. With
  /// `blocking` one connection's answers are waited for in `recv`, and not in `poll`.
  package init(
    _ peer: Peer, _ requests: Requests, connections: Int, idle: Int = 0, seconds: Double? = nil,
    every: Double? = nil, blocking: Bool = false, in workshop: Workshop
  ) throws {
    let file = "\(workshop.folder)/requests"
    try requests.write(to: file)
    let cpu = connections == 1 ? workshop.serverCPU : workshop.loadCPU
    let seconds = seconds ?? workshop.settings.scale.seconds
    let text = try output(
      of: try workshop.tool("load"),
      [
        peer.socket, String(connections), String(idle), String(cpu), String(seconds), file, peer.end.rawValue,
      ] + (every.map { [String($0)] } ?? []), environment: blocking ? ["LOAD_BLOCKS": "1"] : [:])
    let lines = text.split(separator: "\n", maxSplits: 1)
    let numbers = lines.first?.split(separator: " ").compactMap { Double($0) } ?? []
    guard numbers.count == 6 else { throw Failure("load wrote \(text.prefix(200))") }
    rate = numbers[0] / numbers[1]
    median = numbers[2] / 1_000
    clientShare = numbers[5]
    answer = lines.count > 1 ? String(lines[1]) : ""
  }
}

/// The middle of what several rounds gave.
package func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  return sorted.isEmpty ? .nan : sorted[sorted.count / 2]
}

/// Measures several things in turn, round by round, so that what the machine does meanwhile meets all of them.
/// - Returns: the median of each.
package func inTurn(_ rounds: Int, _ measurements: (() throws -> Double)...) throws -> [Double] {
  var values = [[Double]](repeating: [], count: measurements.count)
  for _ in 0..<rounds {
    for (index, measure) in measurements.enumerated() { values[index].append(try measure()) }
  }
  return values.map(median)
}
