// From the name that a program gives a value to the key that it has in the vault, and back. Names are anything; keys
// have rules (behaviour.md, "Keys, accounts, secrets"). What the rules forbid is percent-encoded, and nothing else,
// so that `Back4Gram.sessionToken` is `Back4Gram.sessionToken`, for other programs of the user too. Every key that
// comes out stands for one name. Touches no vault.

import VaultClient

/// How names of one service are written as keys.
struct StoredKey {
  /// The service of `KeychainWrapper.standard`, and the namespace of its names without a dot.
  static let standardService = "SwiftKeychainWrapper"

  /// An empty part, which a key may not have: an underscore that is encoded without need, as nothing else is.
  private static let emptyPart = "%5F"

  /// The service's name.
  let service: String

  /// What the service's names have in common as keys; `nil` for the standard service, whose names choose their own.
  var namespace: String? {
    service == Self.standardService ? nil : Self.encodedParts(service)
  }

  /// The key of a name. It may be longer than the vault takes.
  func key(of name: String) -> String {
    if let namespace { return namespace + "." + Self.encoded(name, dots: true) }
    guard name.utf8.contains(UInt8(ascii: ".")) else {
      return Self.standardService + "." + Self.encoded(name, dots: true)
    }
    let key = Self.encodedParts(name)
    // What would be taken for a name without a dot gives way: its first letter is encoded without need.
    return Self.isWithoutDot(key) ? "%53" + key.dropFirst() : key
  }

  /// The name whose key this is; `nil` where it is no key of the service's.
  func name(of key: String) -> String? {
    let name: String?
    if let namespace {
      name = key.hasExactPrefix(namespace + ".").flatMap(Self.decoded)
    } else if Self.isWithoutDot(key) {
      name = key.hasExactPrefix(Self.standardService + ".").flatMap(Self.decoded)
    } else {
      name = Self.decoded(key)
    }
    guard let name, self.key(of: name).utf8.elementsEqual(key.utf8) else { return nil }
    return name
  }

  /// Whether a key is that of a name without a dot in the standard service.
  private static func isWithoutDot(_ key: String) -> Bool {
    guard let rest = key.hasExactPrefix(standardService + ".") else { return false }
    return !rest.utf8.contains(UInt8(ascii: "."))
  }

  /// Encodes what no part of a key may be or hold; the dots between parts stay.
  private static func encodedParts(_ text: String) -> String {
    text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      .map { encoded(String(Substring($0)), dots: false) }.joined(separator: ".")
  }

  /// Encodes one part: control characters, white space at its ends, dots where they are no boundary, and a percent
  /// sign that would be taken for one of ours.
  private static func encoded(_ part: String, dots: Bool) -> String {
    guard !part.isEmpty else { return emptyPart }
    let scalars = Array(part.unicodeScalars)
    var text = ""
    for (index, scalar) in scalars.enumerated() {
      let isAtEnd = index == 0 || index == scalars.count - 1
      let mustGo =
        scalar.isControl || (isAtEnd && scalar.properties.isWhitespace) || (dots && scalar == ".")
        || (scalar == "%" && isHexadecimal(scalars, index + 1) && isHexadecimal(scalars, index + 2))
      if mustGo {
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { text += escape(byte) }
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  private static func isHexadecimal(_ scalars: [Unicode.Scalar], _ index: Int) -> Bool {
    index < scalars.count && scalars[index].isASCII && scalars[index].properties.isASCIIHexDigit
  }

  private static func escape(_ byte: UInt8) -> String {
    let digits = Array("0123456789ABCDEF")
    return "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
  }

  /// Decodes every escape; `nil` where the bytes are no text. Empty parts are put back.
  private static func decoded(_ text: String) -> String? {
    let bytes = Array(text.utf8)
    var decoded: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = value(bytes[index + 1]),
        let low = value(bytes[index + 2])
      {
        let isPart =
          (index == 0 || bytes[index - 1] == UInt8(ascii: "."))
          && (index + 3 == bytes.count || bytes[index + 3] == UInt8(ascii: "."))
        if !(isPart && bytes[index..<index + 3].elementsEqual(emptyPart.utf8)) {
          decoded.append(high << 4 | low)
        }
        index += 3
      } else {
        decoded.append(bytes[index])
        index += 1
      }
    }
    return String(validating: decoded, as: UTF8.self)
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}

extension String {
  /// What is behind a prefix that is there byte for byte; `nil` where it isn't.
  func hasExactPrefix(_ prefix: String) -> String? {
    guard utf8.starts(with: prefix.utf8) else { return nil }
    return String(Substring(utf8.dropFirst(prefix.utf8.count)))
  }
}
