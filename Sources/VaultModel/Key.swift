// The names under which tokens are kept: key, namespace, account (behaviour.md, "Keys, accounts, secrets").
// Made by validation only; compared byte for byte; never a file name. Holds no secret.

/// `NAMESPACE.NAME`, split at the last dot: 3 to 255 bytes of UTF-8.
public struct Key: Hashable, Sendable, Comparable, CustomStringConvertible {
  private let exact: ExactText

  /// The whole key.
  public var text: String { exact.text }

  /// Everything before the last dot.
  public var namespace: Namespace { Namespace(trusted: String(halves.0)) }

  /// Everything behind the last dot.
  public var name: String { String(halves.1) }

  /// Takes a key that fits the rules.
  /// - Throws: `.invalidArgument` that names the rule.
  public init(_ text: String) throws(VaultError) {
    try checkDotted(text, argument: "key", limit: Limits.keyBytes)
    let bytes = text.utf8.span
    guard bytes.indices.contains(where: { bytes[$0] == UInt8(ascii: ".") }) else {
      throw .invalidArgument(
        argument: "key", reason: "a key is NAMESPACE.NAME, as in Back4Gram.sessionToken: there is no dot")
    }
    exact = ExactText(text)
  }

  /// Whether these bytes are this key.
  public func isEqual(to bytes: Span<UInt8>) -> Bool { exact.isEqual(to: bytes) }

  private var halves: (Substring, Substring) {
    let dot = text.utf8.lastIndex(of: UInt8(ascii: ".")) ?? text.startIndex
    return (text[..<dot], text[text.utf8.index(after: dot)...])
  }

  public static func < (left: Self, right: Self) -> Bool { left.exact < right.exact }

  public var description: String { text }
}

/// What a client's keys have in common: one or more parts with dots between them.
public struct Namespace: Hashable, Sendable, Comparable, CustomStringConvertible {
  private let exact: ExactText

  /// The namespace as text.
  public var text: String { exact.text }

  /// Takes a namespace that fits the rules.
  /// - Throws: `.invalidArgument` that names the rule.
  public init(_ text: String) throws(VaultError) {
    try checkDotted(text, argument: "namespace", limit: Limits.keyBytes)
    exact = ExactText(text)
  }

  init(trusted text: String) {
    exact = ExactText(text)
  }

  public static func < (left: Self, right: Self) -> Bool { left.exact < right.exact }

  public var description: String { text }
}

/// Tells apart several logins under one key. The empty account is an account like any other.
public struct Account: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// The account of those who name none.
  public static let empty = Account(trusted: "")

  private let exact: ExactText

  /// The account as text; may be empty.
  public var text: String { exact.text }

  /// Takes an account that fits the rules: at most 255 bytes, no control character.
  /// - Throws: `.invalidArgument` that names the rule.
  public init(_ text: String) throws(VaultError) {
    try check(text, argument: "account", limit: Limits.accountBytes)
    exact = ExactText(text)
  }

  private init(trusted text: String) {
    exact = ExactText(text)
  }

  /// Whether these bytes are this account.
  public func isEqual(to bytes: Span<UInt8>) -> Bool { exact.isEqual(to: bytes) }

  public static func < (left: Self, right: Self) -> Bool { left.exact < right.exact }

  public var description: String { text }
}

/// What one entry is known by: a key and an account.
public struct EntryID: Hashable, Sendable, Comparable, CustomStringConvertible {
  // It is handed on, kept and looked up many times in a request, and made once.
  private final class Names: Sendable {
    let key: Key
    let account: Account
    let hash: Int

    init(_ key: Key, _ account: Account) {
      (self.key, self.account) = (key, account)
      var hasher = Hasher()
      hasher.combine(key)
      hasher.combine(account)
      hash = hasher.finalize()
    }
  }

  private let names: Names

  /// The key.
  public var key: Key { names.key }
  /// The account.
  public var account: Account { names.account }

  /// The entry of `account` under `key`.
  public init(_ key: Key, _ account: Account = .empty) {
    names = Names(key, account)
  }

  public static func == (left: Self, right: Self) -> Bool {
    if left.isIdentical(to: right) { return true }
    return left.names.hash == right.names.hash && left.key == right.key && left.account == right.account
  }

  /// Whether it is a copy of that one: then it is equal, and that takes no look at the names.
  func isIdentical(to other: Self) -> Bool { names === other.names }

  public func hash(into hasher: inout Hasher) { hasher.combine(names.hash) }

  /// What `hashValue` is worked out from: as good, and at hand. Another in each run of the program.
  public var nameHash: Int { names.hash }

  public static func < (left: Self, right: Self) -> Bool {
    left.key == right.key ? left.account < right.account : left.key < right.key
  }

  /// For texts that people read: the key, and the account where there is one.
  public var description: String {
    account == .empty ? key.text : "\(key.text) (account \(account.text))"
  }
}

/// Takes a label that fits the rules: at most 1,024 bytes, no control character.
/// - Throws: `.invalidArgument` that names the rule.
public func checkLabel(_ label: String) throws(VaultError) {
  try check(label, argument: "label", limit: Limits.labelBytes)
}

private func check(_ text: String, argument: String, limit: Int) throws(VaultError) {
  guard text.utf8.count <= limit else {
    throw .invalidArgument(argument: argument, reason: "longer than \(limit) bytes")
  }
  guard !text.holdsControl else {
    throw .invalidArgument(argument: argument, reason: "holds a control character")
  }
}

private func checkDotted(_ text: String, argument: String, limit: Int) throws(VaultError) {
  if isPlainDotted(text), text.utf8.count <= limit { return }
  guard !text.isEmpty else { throw .invalidArgument(argument: argument, reason: "is empty") }
  try check(text, argument: argument, limit: limit)
  // By scalars: a dot with a combining mark behind it is one Character, and still a dot in bytes.
  var last: Unicode.Scalar = "."
  for scalar in text.unicodeScalars {
    if scalar == "." || last == "." { try checkBoundary(last, scalar, argument: argument) }
    last = scalar
  }
  try checkBoundary(last, ".", argument: argument)
}

/// Whether a text is of printing ASCII without spaces, as nearly all are, and has no empty part: in such a text no rule
/// but that of the length can be broken.
private func isPlainDotted(_ text: String) -> Bool {
  let bytes = text.utf8.span
  var last = UInt8(ascii: ".")
  for index in bytes.indices {
    let byte = bytes[index]
    guard byte > 0x20, byte < 0x7F else { return false }
    if byte == UInt8(ascii: "."), last == UInt8(ascii: ".") { return false }
    last = byte
  }
  return last != UInt8(ascii: ".")
}

/// Checks what stands on both sides of the beginning or the end of a part; one of the two is a dot.
private func checkBoundary(
  _ left: Unicode.Scalar, _ right: Unicode.Scalar, argument: String
) throws(VaultError) {
  guard left != right else {
    throw .invalidArgument(argument: argument, reason: "a part between dots is empty")
  }
  // In ASCII only the space is left: the others are control characters.
  let inside = left == "." ? right : left
  guard inside.isASCII ? inside != " " : !inside.properties.isWhitespace else {
    throw .invalidArgument(
      argument: argument, reason: "a part between dots starts or ends with white space")
  }
}
