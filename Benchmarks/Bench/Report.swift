// What a run prints: the machine, the table of promises, the growth curves as numbers, how long each part took.
// As Markdown it is what docs/performance.md holds under "Results".

import Foundation
import Measuring

/// The results of a run.
struct Report {
  let machine: String
  var rows: [Row] = []
  var curves: Curves?
  /// Seconds of each part.
  var took: [(part: String, seconds: Int)] = []

  init(machine: String) { self.machine = machine }

  func text(asMarkdown: Bool) -> String {
    let write = asMarkdown ? markdown : columns
    var parts = [machine + "."]
    if !rows.isEmpty { parts.append(write([Row.heading] + rows.map(\.cells))) }
    if let curves { parts.append(write(curves.cells)) }
    let seconds = took.map { "\($0.part) \($0.seconds)" }.joined(separator: ", ")
    parts.append("Seconds that each part took: \(seconds).")
    return parts.joined(separator: "\n\n")
  }
}

/// Writes rows as columns for a terminal.
private func columns(_ rows: [[String]]) -> String {
  let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
  let lines = rows.map { row in
    zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
  }
  return lines.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
}

/// Writes rows as a table of Markdown; the first one is its heading.
private func markdown(_ rows: [[String]]) -> String {
  var lines = rows.map { "| " + $0.joined(separator: " | ") + " |" }
  lines.insert("|" + String(repeating: "---|", count: rows.first?.count ?? 0), at: 1)
  return lines.joined(separator: "\n")
}
