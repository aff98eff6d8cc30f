// One line of the log while it is put together: plain words, then fields as NAME=VALUE, which both people and
// programs can read. Whatever comes from outside — keys, accounts, paths of programs — goes in through the
// calls below, which let no control character through.

import VaultModel

/// A line of the log.
struct LogLine: ~Copyable {
  private var bytes: [UInt8] = []

  /// Starts a line behind `lines`, taking over their memory until `end`.
  init(taking lines: inout [UInt8]) {
    swap(&bytes, &lines)
  }

  /// Ends the line and gives all lines back.
  consuming func end(into lines: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\n"))
    lines = bytes
  }

  /// Adds text of our own.
  mutating func add(raw text: String) {
    bytes.append(contentsOf: text.utf8)
  }

  /// Adds text that may hold anything.
  mutating func add(_ text: String) {
    add(text, quoted: false)
  }

  /// Adds a field; a value that could be read in two ways is put in quotes.
  mutating func add(_ name: StaticString, _ value: String) {
    addName(name)
    let plain =
      !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 != 0x3D && $0 != 0x5C }
    if plain {
      add(value, quoted: false)
    } else {
      bytes.append(UInt8(ascii: "\""))
      add(value, quoted: true)
      bytes.append(UInt8(ascii: "\""))
    }
  }

  /// Adds a field with a number.
  mutating func add(_ name: StaticString, _ value: some BinaryInteger) {
    addName(name)
    add(raw: String(value))
  }

  private mutating func addName(_ name: StaticString) {
    bytes.append(UInt8(ascii: " "))
    name.withUTF8Buffer { unsafe bytes.append(contentsOf: $0) }
    bytes.append(UInt8(ascii: "="))
  }

  private mutating func add(_ text: String, quoted: Bool) {
    // Printable ASCII, which is nearly all of it, needs no look at each scalar.
    if !quoted && text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) {
      bytes.append(contentsOf: text.utf8)
      return
    }
    for scalar in text.unicodeScalars {
      if scalar.isControl || scalar.isInvisible {
        add(raw: "\\u{\(String(scalar.value, radix: 16))}")
      } else {
        if quoted && (scalar == "\"" || scalar == "\\") { bytes.append(UInt8(ascii: "\\")) }
        bytes.append(contentsOf: String(scalar).utf8)
      }
    }
  }
}

extension Unicode.Scalar {
  /// What changes the order or the lines of the text around it and cannot be seen itself.
  fileprivate var isInvisible: Bool {
    switch properties.generalCategory {
    case .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
