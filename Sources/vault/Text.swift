// Text for people: what cannot harm a terminal, how wide it is, tables, times in words.

import VaultClient

/// Text from somewhere else, with everything that a terminal could take for a command written as `\u{…}`:
/// control characters, line separators, and marks that turn the direction of writing.
func printable(_ text: String, except kept: Unicode.Scalar? = nil) -> String {
  guard text.unicodeScalars.contains(where: { $0.isTreacherous && $0 != kept }) else { return text }
  var result = ""
  for scalar in text.unicodeScalars {
    if scalar.isTreacherous, scalar != kept {
      result += "\\u{\(String(scalar.value, radix: 16))}"
    } else {
      result.unicodeScalars.append(scalar)
    }
  }
  return result
}

extension Unicode.Scalar {
  fileprivate var isTreacherous: Bool {
    switch value {
    case 0x2028, 0x2029, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069, 0xFEFF: true
    default: isControl
    }
  }

  /// The columns that a terminal gives it: none to marks on the one before, two to East Asian and pictures.
  fileprivate var columns: Int {
    switch value {
    case ..<0x300: return 1
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F680...0x1F6FF, 0x1F900...0x1F9FF,
      0x1FA70...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default: break
    }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return 1
    }
  }
}

/// How text is shown on a terminal.
enum Emphasis {
  case plain, strong, good, bad
}

/// Emphasis as escape sequences, where somebody sees them.
struct Style {
  let isOn: Bool

  func apply(_ emphasis: Emphasis, to text: String) -> String {
    guard isOn else { return text }
    switch emphasis {
    case .plain: return text
    case .strong: return "\u{1B}[1m\(text)\u{1B}[0m"
    case .good: return "\u{1B}[32m\(text)\u{1B}[0m"
    case .bad: return "\u{1B}[31m\(text)\u{1B}[0m"
    }
  }
}

/// Rows in columns as wide as they must be, the first row in bold.
struct Table {
  private var rows: [[(text: String, emphasis: Emphasis)]]

  init(_ heads: [String]) {
    rows = [heads.map { ($0, .strong) }]
  }

  mutating func add(_ cells: [String], emphasis: [Int: Emphasis] = [:]) {
    rows.append(cells.enumerated().map { (printable($1), emphasis[$0] ?? .plain) })
  }

  /// The lines, without white space at their ends.
  func lines(_ style: Style) -> String {
    let widths = rows[0].indices.map { column in rows.map { columns(of: $0[column].text) }.max() ?? 0 }
    var result = ""
    for row in rows {
      var gap = 0
      for (cell, width) in zip(row, widths) {
        defer { gap += width + 2 }
        guard !cell.text.isEmpty else { continue }
        result += String(repeating: " ", count: gap) + style.apply(cell.emphasis, to: cell.text)
        gap = -columns(of: cell.text)
      }
      result += "\n"
    }
    return result
  }
}

private func columns(of text: String) -> Int {
  text.unicodeScalars.reduce(0) { $0 + $1.columns }
}

/// How long something takes, in words: `45 s`, `12 min`, `1 h 30 min`, `20 h`, `3 d`. Rounded to the nearest.
func inWords(seconds: Int64) -> String {
  let seconds = max(0, min(seconds, Limits.longestDuration))
  if seconds < 60 { return "\(seconds) s" }
  let minutes = (seconds + 30) / 60
  if minutes < 60 { return "\(minutes) min" }
  if minutes < 600 {
    return minutes % 60 == 0 ? "\(minutes / 60) h" : "\(minutes / 60) h \(minutes % 60) min"
  }
  let hours = (seconds + 1_800) / 3_600
  if hours < 48 { return "\(hours) h" }
  return "\((seconds + 43_200) / 86_400) d"
}

/// When an entry is over, in words.
func expiryInWords(of entry: Entry, now: WallTime) -> String {
  var parts: [String] = []
  if let expires = entry.expires {
    parts.append(expires <= now ? "over" : "in " + inWords(seconds: expires.seconds - now.seconds))
  }
  if let idle = entry.idle { parts.append("\(inWords(seconds: idle)) after use") }
  if entry.untilLogout { parts.append("at logout") }
  return parts.isEmpty ? "never" : parts.joined(separator: ", ")
}
