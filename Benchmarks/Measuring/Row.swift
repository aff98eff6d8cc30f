// A row of the table: what was promised, what is.

import Foundation

/// What a number may be at most, or must be at least.
package enum Bound {
  case atMost(Double)
  case atLeast(Double)

  package func holds(_ value: Double) -> Bool {
    switch self {
    case .atMost(let bound): value <= bound
    case .atLeast(let bound): value >= bound
    }
  }

  /// Whether a ratio is behind it by more than half of it: more than noise, in a short measurement on a busy machine.
  func isFarFrom(_ value: Double) -> Bool {
    switch self {
    case .atMost(let bound): value > 1.5 * bound
    case .atLeast(let bound): value < 0.5 * bound
    }
  }

  package func text(_ unit: String) -> String {
    switch self {
    case .atMost(let bound): "≤ " + number(bound) + unit
    case .atLeast(let bound): "≥ " + number(bound) + unit
    }
  }
}

/// One promise and what was measured of it.
package struct Row {
  package let what: String
  package let ours: String
  package let peer: String
  /// What is judged: a ratio, or a number with a unit.
  package let value: Double
  package let unit: String
  package let must: Bound?
  package let aim: Bound?
  package let note: String

  /// A row that compares: ours by the peer's.
  package static func ratio(
    _ what: String, _ ours: Double, _ peer: Double, of unit: String, peer name: String, must: Bound? = nil,
    aim: Bound? = nil, note: String = ""
  ) -> Row {
    Row(
      what: what, ours: number(ours) + " " + unit, peer: "\(name) \(number(peer)) \(unit)",
      value: ours / peer, unit: " ×", must: must, aim: aim, note: note)
  }

  /// A row that stands for itself.
  package static func plain(
    _ what: String, _ value: Double, _ unit: String, besides: String = "", must: Bound? = nil,
    aim: Bound? = nil, note: String = ""
  ) -> Row {
    Row(
      what: what, ours: "\(number(value)) \(unit)", peer: besides, value: value, unit: " " + unit, must: must,
      aim: aim, note: note)
  }

  /// Whether the must is missed by more than half.
  package var isFarBehind: Bool { must?.isFarFrom(value) ?? false }

  /// Its cells.
  package var cells: [String] {
    [
      what, ours, peer, unit == " ×" ? number(value) + unit : "", must?.text(unit) ?? "", verdict(must),
      aim?.text(unit) ?? "", verdict(aim), note,
    ]
  }

  /// As a line.
  package var text: String {
    let ratio = unit == " ×" ? " = \(number(value))\(unit)" : ""
    return "\(what): \(ours), \(peer)\(ratio), must \(must?.text(unit) ?? "-")"
  }

  private func verdict(_ bound: Bound?) -> String {
    guard let bound else { return "" }
    return bound.holds(value) ? "met" : "not met"
  }

  package static let heading = ["what", "ours", "beside", "ratio", "must", "", "aim", "", "note"]
}

/// Three digits that count.
package func number(_ value: Double) -> String {
  let size = value.magnitude
  let places = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
  return String(format: "%.\(places)f", value)
}
