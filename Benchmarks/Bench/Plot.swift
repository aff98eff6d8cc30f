// A plot of times by sizes, both by powers of ten, as SVG: written by hand, since it is a page of lines and words.
// Ours and the peer differ in colour, reading and writing in the line's and the points' form, so that it is read
// without colours as well; light or dark goes by what the reader's browser prefers.

import Foundation

/// What is drawn.
struct Plot {
  /// One line.
  struct Series {
    let name: String
    let isOurs: Bool
    let isWriting: Bool
    /// Sizes and times in microseconds.
    let points: [(size: Double, time: Double)]
  }

  let title: String
  let horizontal: String
  let vertical: String
  let series: [Series]

  // Where the axes are.
  private let width = 760.0, height = 470.0
  private let left = 86.0, right = 676.0, top = 104.0, bottom = 412.0

  /// The picture.
  var svg: String {
    var lines = [head]
    lines += horizontalLines + verticalLines + words
    for (place, one) in series.enumerated() { lines += legend(one, at: place) + line(one) }
    return lines.joined(separator: "\n") + "\n</svg>\n"
  }

  /// A time as people say it.
  static func time(_ microseconds: Double) -> String {
    let (value, unit) =
      microseconds >= 1e6
      ? (microseconds / 1e6, "s") : microseconds >= 1e3 ? (microseconds / 1e3, "ms") : (microseconds, "µs")
    // Three digits that count, and no zeros behind them.
    let places = value >= 100 ? 0 : value >= 10 ? 1 : 2
    var text = String(format: "%.\(places)f", value)
    if text.contains(".") {
      while text.hasSuffix("0") { text.removeLast() }
      if text.hasSuffix(".") { text.removeLast() }
    }
    return "\(text) \(unit)"
  }

  // MARK: The axes

  private var sizes: ClosedRange<Double> { powers(series.flatMap { $0.points.map(\.size) }) }
  private var times: ClosedRange<Double> { powers(series.flatMap { $0.points.map(\.time) }) }

  /// The powers of ten around some numbers.
  private func powers(_ numbers: [Double]) -> ClosedRange<Double> {
    let low = log10(numbers.min() ?? 1).rounded(.down), high = log10(numbers.max() ?? 10).rounded(.up)
    return low...max(high, low + 1)
  }

  private func x(_ size: Double) -> Double { place(log10(size), in: sizes, from: left, to: right) }
  private func y(_ time: Double) -> Double { place(log10(time), in: times, from: bottom, to: top) }

  private func place(_ power: Double, in range: ClosedRange<Double>, from: Double, to: Double) -> Double {
    from + (power - range.lowerBound) / (range.upperBound - range.lowerBound) * (to - from)
  }

  private var horizontalLines: [String] {
    stride(from: times.lowerBound, through: times.upperBound, by: 1).flatMap { power in
      let y = y(pow(10, power))
      return [
        #"<path class="grid" d="M\#(text(left)) \#(text(y))H\#(text(right))"/>"#,
        label(Self.time(pow(10, power)), left - 10, y + 4, anchor: "end"),
      ]
    }
  }

  private var verticalLines: [String] {
    stride(from: sizes.lowerBound, through: sizes.upperBound, by: 1).flatMap { power in
      let x = x(pow(10, power))
      return [
        #"<path class="grid" d="M\#(text(x)) \#(text(top))V\#(text(bottom))"/>"#,
        label(grouped(Int(pow(10, power).rounded())), x, bottom + 22, anchor: "middle"),
      ]
    }
  }

  private var words: [String] {
    let middle = text((top + bottom) / 2)
    return [
      #"<text class="title" x="\#(text(left))" y="30">\#(title)</text>"#,
      label(horizontal, (left + right) / 2, bottom + 46, anchor: "middle"),
      #"<text x="22" y="\#(middle)" text-anchor="middle" transform="rotate(-90 22 \#(middle))">\#(vertical)</text>"#,
    ]
  }

  // MARK: The lines

  private func line(_ one: Series) -> [String] {
    let places = one.points.map { (x: x($0.size), y: y($0.time)) }
    guard let last = places.last, let value = one.points.last?.time else { return [] }
    let path = places.map { "\(text($0.x)) \(text($0.y))" }.joined(separator: "L")
    return [#"<path class="\#(style(one))" d="M\#(path)"/>"#]
      + places.map { mark(one, $0.x, $0.y) }
      + [label(Self.time(value), last.x + 10, last.y + 4, anchor: "start")]
  }

  private func legend(_ one: Series, at place: Int) -> [String] {
    let x = left + Double(place % 2) * 300, y = 56 + Double(place / 2) * 22
    return [
      #"<path class="\#(style(one))" d="M\#(text(x)) \#(text(y))h44"/>"#, mark(one, x + 22, y),
      label(one.name, x + 54, y + 4, anchor: "start"),
    ]
  }

  private func mark(_ one: Series, _ x: Double, _ y: Double) -> String {
    let kind = one.isOurs ? "ours" : "theirs"
    return one.isWriting
      ? #"<rect class="\#(kind) mark" x="\#(text(x - 4))" y="\#(text(y - 4))" width="8" height="8"/>"#
      : #"<circle class="\#(kind) mark" cx="\#(text(x))" cy="\#(text(y))" r="4.5"/>"#
  }

  private func style(_ one: Series) -> String {
    "\(one.isOurs ? "ours" : "theirs") line\(one.isWriting ? " writing" : "")"
  }

  private func label(_ words: String, _ x: Double, _ y: Double, anchor: String) -> String {
    #"<text x="\#(text(x))" y="\#(text(y))" text-anchor="\#(anchor)">\#(words)</text>"#
  }

  private func text(_ number: Double) -> String { String(format: "%.1f", number) }

  private var head: String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(width)) \(Int(height))" \
    width="\(Int(width))" height="\(Int(height))" role="img" aria-label="\(title)">
    <style>
    .ground { fill: #ffffff } text { fill: #3a3f45; font: 13px system-ui, sans-serif } .title { font-size: 16px; \
    font-weight: 600 }
    .grid { stroke: #d9dde2; fill: none } .line { fill: none; stroke-width: 2.5 } .writing { stroke-dasharray: 8 5 }
    .ours.line { stroke: #1f6fd1 } .ours.mark { fill: #1f6fd1 } .theirs.line { stroke: #c4570c } \
    .theirs.mark { fill: #c4570c }
    @media (prefers-color-scheme: dark) {
    .ground { fill: #0d1117 } text { fill: #c9d1d9 } .grid { stroke: #30363d }
    .ours.line { stroke: #6cb0ff } .ours.mark { fill: #6cb0ff } .theirs.line { stroke: #ff9d57 } \
    .theirs.mark { fill: #ff9d57 }
    }
    </style>
    <rect class="ground" width="\(Int(width))" height="\(Int(height))"/>
    """
  }
}
