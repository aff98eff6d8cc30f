// A row of the table: what was promised, what is.

import Foundation

/// What a number may be at most, or must be at least.
enum Bound {
  case atMost(Double)
  case atLeast(Double)

  func holds(_ value: Double) -> Bool {
    switch self {
    case .atMost(let bound): value <= bound
    case .atLeast(let bound): value >= bound
    }
  }

  func text(_ unit: String) -> String {
    switch self {
    case .atMost(let bound): "≤ " + number(bound) + unit
    case .atLeast(let bound): "≥ " + number(bound) + unit
    }
  }
}

/// One promise and what was measured of it.
struct Row {
  let what: String
  let ours: String
  let peer: String
  /// What is judged: a ratio, or a number with a unit.
  let value: Double
  let unit: String
  let must: Bound?
  let aim: Bound?
  let note: String

  /// A row that compares: ours by the peer's.
  static func ratio(
    _ what: String, _ ours: Double, _ peer: Double, of unit: String, peer name: String, must: Bound?,
    aim: Bound?, note: String = ""
  ) -> Row {
    Row(
      what: what, ours: number(ours) + " " + unit, peer: "\(name) \(number(peer)) \(unit)",
      value: ours / peer, unit: " ×", must: must, aim: aim, note: note)
  }

  /// A row that stands for itself.
  static func plain(
    _ what: String, _ value: Double, _ unit: String, besides: String = "", must: Bound?, aim: Bound?
  ) -> Row {
    Row(
      what: what, ours: "\(number(value)) \(unit)", peer: besides, value: value, unit: " " + unit, must: must,
      aim: aim, note: "")
  }

  /// Its cells.
  var cells: [String] {
    [
      what, ours, peer, unit == " ×" ? number(value) + unit : "", must?.text(unit) ?? "", verdict(must),
      aim?.text(unit) ?? "", verdict(aim), note,
    ]
  }

  private func verdict(_ bound: Bound?) -> String {
    guard let bound else { return "" }
    return bound.holds(value) ? "met" : "not met"
  }

  static let heading = ["what", "ours", "peer", "ratio", "must", "", "aim", "", ""]
}

/// Three digits that count.
func number(_ value: Double) -> String {
  let size = value.magnitude
  let places = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
  return String(format: "%.\(places)f", value)
}

/// Writes rows as columns.
func table(_ rows: [[String]]) -> String {
  let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
  let lines = rows.map { row in
    zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
  }
  return lines.map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
}
