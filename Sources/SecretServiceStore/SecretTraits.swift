// What a secret holds that a provider may change or refuse: everything but printable ASCII, which Base64 is made of
// too, so that nothing is safer. And what one provider was found to do to it.

/// Kinds of bytes in a secret, other than printable ASCII.
struct SecretTraits: OptionSet, Hashable {
  let rawValue: UInt8

  /// Text beyond ASCII, in UTF-8.
  static let beyondASCII = SecretTraits(rawValue: 1)
  /// Bytes that are no UTF-8.
  static let notText = SecretTraits(rawValue: 2)
  /// Control characters, other than line ends and NUL.
  static let controls = SecretTraits(rawValue: 4)
  /// CR and LF: in a keyring without a password they make gnome-keyring refuse its own file.
  static let lineEnds = SecretTraits(rawValue: 8)
  /// NUL.
  static let zeros = SecretTraits(rawValue: 16)

  init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Those of a secret.
  init(of secret: Span<UInt8>) {
    var traits: SecretTraits = []
    var hasHigh = false
    for index in secret.indices {
      switch secret[index] {
      case 0x80...: hasHigh = true
      case 0: traits.insert(.zeros)
      case 0x0A, 0x0D: traits.insert(.lineEnds)
      case 0x01..<0x20, 0x7F: traits.insert(.controls)
      default: break
      }
    }
    if hasHigh { traits.insert((try? UTF8Span(validating: secret)) == nil ? .notText : .beyondASCII) }
    self = traits
  }

  /// Every byte of these kinds.
  var samples: [UInt8] {
    var samples: [UInt8] = []
    if contains(.beyondASCII) {
      samples += (0xA0...0x17F).flatMap { Array(String(UnicodeScalar($0) ?? " ").utf8) }
      samples += Array("\u{2028}e\u{301}\u{FB01}\u{1F511}".utf8)
    }
    if contains(.notText) { samples += (0x80...0xFF).map { UInt8($0) } }
    if contains(.controls) { samples += (0x01...0x1F).filter { $0 != 0x0A && $0 != 0x0D } + [0x7F] }
    if contains(.zeros) { samples += [0x61, 0, 0, 0x61] }
    // At the very end too, where some programs cut them off.
    if contains(.lineEnds) { samples += Array("\n\n\r\n\r\na\n".utf8) }
    return samples
  }
}

/// What one provider was found to do to secrets, and to attributes.
struct ProviderManners {
  /// Whether it changed any: from then on whatever is not printable ASCII is written in Base64.
  private(set) var alters = false
  /// Whether it lets an item's attributes be set that it made itself, as its title or its path: KeePassXC refuses, and
  /// keeps what is left out.
  var takesItsOwn = true
  private var keeps: [SecretForm.ContentType: SecretTraits] = [:]

  /// The forms to try for a secret, the best first.
  func forms(for secret: Span<UInt8>) -> [SecretForm] {
    if SecretForm.beginsWithMark(secret) { return [.base64] }
    let traits = SecretTraits(of: secret)
    if !traits.isEmpty, alters { return [.base64] }
    let isText = traits.isDisjoint(with: [.notText, .zeros])
    let types: [SecretForm.ContentType] = isText ? [.text, .bytes] : [.bytes, .text]
    return types.map { type in
      traits.isSubset(of: keeps[type] ?? []) ? .plain(type) : .trial(type, traits)
    } + [.base64]
  }

  /// It gave back what was stored in this form.
  mutating func kept(_ form: SecretForm) {
    if case .trial(let type, let traits) = form { keeps[type, default: []].formUnion(traits) }
  }

  /// It gave back something else, again.
  mutating func altered(_ form: SecretForm) {
    if form != .base64 { alters = true }
    keeps = [:]
  }
}
