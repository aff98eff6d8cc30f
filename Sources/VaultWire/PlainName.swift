// Which names of a request may be repeated in an error. An error ends in logs and on terminals, so a name is
// repeated only where it can be nothing but a name; of a caller that mixed up names and values, nothing is.

import VaultModel

/// Names that are safe to repeat.
enum PlainName {
  /// What stands for any other.
  static let other = "(unknown)"

  /// The name of a member, if it is one in the grammar of Varlink and short: letters, digits and underscores,
  /// a letter first.
  static func field(_ name: Span<UInt8>) -> String {
    plain(name, limit: Limits.echoedFieldBytes, also: UInt8(ascii: "_"), UInt8(ascii: "_"))
  }

  /// The name of an interface or a method: letters, digits, dots and hyphens, a letter first.
  static func method(_ name: Span<UInt8>) -> String {
    plain(name, limit: Limits.echoedMethodBytes, also: UInt8(ascii: "."), UInt8(ascii: "-"))
  }

  private static func plain(_ name: Span<UInt8>, limit: Int, also one: UInt8, _ another: UInt8) -> String {
    guard !name.isEmpty, name.count <= limit, isLetter(name[0]) else { return other }
    for index in name.indices {
      let byte = name[index]
      guard isLetter(byte) || (0x30...0x39).contains(byte) || byte == one || byte == another else {
        return other
      }
    }
    return name.text
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }
}
