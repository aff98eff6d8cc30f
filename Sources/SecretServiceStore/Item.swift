// An item of the Secret Service as an entry, and an entry as an item: the attributes that every item of ours
// has, and how items that other programs made are read. Other programs find an item by `namespace`, `name`
// and `account`; the rest is a copy of the entry, believed where the state was lost. Holds no secret.

import GLibLoop
import VaultModel

/// What is known of an item beside its secret.
struct Item {
  /// The names of the attributes; the same on every item of ours.
  enum Attribute {
    /// What kind of item it is; never searched for: in a keyring that is locked since its daemon's start such
    /// a search finds nothing.
    static let schema = "xdg:schema"
    static let namespace = "namespace"
    static let name = "name"
    static let account = "account"
    /// Numbers: the version; Unix milliseconds; seconds; bytes. Empty for "none".
    static let version = "version"
    static let created = "created"
    static let modified = "modified"
    static let expires = "expires"
    static let idle = "idle"
    static let size = "size"
    /// `true` or `false`.
    static let untilLogout = "until-logout"
    /// How the secret is written: empty as it is, `base64` in Base64 with a mark before it.
    static let encoding = "encoding"
  }

  static let schema = "org.vaultd.Token"

  /// The attributes that are ours, of any.
  static func own(_ attributes: [String: String]) -> [String: String] {
    let names: Set = [
      Attribute.schema, Attribute.namespace, Attribute.name, Attribute.account, Attribute.version,
      Attribute.created, Attribute.modified, Attribute.expires, Attribute.idle, Attribute.size,
      Attribute.untilLogout, Attribute.encoding,
    ]
    return attributes.filter { names.contains($0.key) }
  }
  static let base64 = "base64"

  /// Where it is on the bus.
  let path: String
  let attributes: [String: String]
  let label: String
  /// When it was made and changed, as the provider says, to the second; the epoch where it doesn't.
  let created: WallTime
  let modified: WallTime
  let isLocked: Bool

  /// Reads the answer to GetAll, `(a{sv})`.
  init(path: String, properties answer: Variant) {
    self.path = path
    var attributes: [String: String] = [:]
    var label = ""
    var times: [String: Int64] = [:]
    var isLocked = false
    for (key, value) in answer[0]?.entries ?? [] {
      switch key {
      case "Attributes":
        for (name, text) in value.entries { attributes[name] = text.string ?? "" }
      case "Label": label = value.string ?? ""
      case "Created", "Modified":
        times[key] = value.integer.flatMap { (0...Limits.latestTime).contains($0) ? $0 : nil }
      case "Locked": isLocked = value.boolean ?? false
      default: break  // the provider's own
      }
    }
    self.attributes = attributes
    self.label = label
    self.isLocked = isLocked
    created = WallTime(seconds: times["Created"] ?? 0)
    modified = WallTime(seconds: times["Modified"] ?? 0)
  }

  /// Whether the attributes can be read. In a keyring that is locked since its daemon's start gnome-keyring
  /// shows their hashes, under other names.
  var isReadable: Bool { attributes[Attribute.namespace] != nil }

  /// Whether there is an attribute of that name, readable or hashed.
  func has(_ attribute: String) -> Bool {
    attributes[attribute] != nil || attributes["gkr:compat:hashed:" + attribute] != nil
  }

  /// Whether its secret is in Base64 where it begins with the mark.
  var isEncoded: Bool { attributes[Attribute.encoding] == Self.base64 }

  /// Whose it is; `nil` where it is none of ours or can't be read. No `account` is the empty account.
  var id: EntryID? {
    guard let namespace = attributes[Attribute.namespace], let name = attributes[Attribute.name],
      let key = try? Key("\(namespace).\(name)"),
      // Where a name holds a dot the key would be split elsewhere: such an item cannot be ours.
      ExactText(key.name) == ExactText(name),
      let account = try? Account(attributes[Attribute.account] ?? "")
    else { return nil }
    return EntryID(key, account)
  }

  /// The entry that it is a copy of, or that another program made: that one has version 0, and its date of
  /// modification.
  func entry(_ id: EntryID, size: Int?) -> Entry {
    let changed = modified.milliseconds
    let times = 0...(Limits.latestTime * 1_000)
    let version = number(Attribute.version, in: 1...Int64.max)
    let modified = version == nil ? nil : number(Attribute.modified, in: times)
    return Entry(
      id: id, version: version ?? 0,
      created: WallTime(milliseconds: number(Attribute.created, in: times) ?? created.milliseconds),
      modified: WallTime(milliseconds: modified ?? changed),
      expires: number(Attribute.expires, in: times).map { WallTime(milliseconds: $0) },
      idle: number(Attribute.idle, in: 1...Limits.longestDuration),
      untilLogout: attributes[Attribute.untilLogout] == "true", label: givenLabel(id),
      size: size ?? self.size ?? 0,
      store: .secretService)
  }

  /// The size of the secret that the attributes tell.
  var size: Int? { number(Attribute.size, in: 0...Int64(Limits.secretBytes)).map { Int($0) } }

  /// Whether this one counts where both have the same key: the one that was changed last.
  func counts(before other: Item) -> Bool {
    let mine = number(Attribute.version, in: 1...Int64.max) ?? 0
    let others = other.number(Attribute.version, in: 1...Int64.max) ?? 0
    return (modified, mine, created) > (other.modified, others, other.created)
  }

  private func givenLabel(_ id: EntryID) -> String? {
    guard !label.isEmpty, ExactText(label) != ExactText(Self.label(for: id)), (try? checkLabel(label)) != nil
    else { return nil }
    return label
  }

  private func number(_ attribute: String, in range: ClosedRange<Int64>) -> Int64? {
    guard let value = attributes[attribute].flatMap({ Int64($0) }), range.contains(value) else { return nil }
    return value
  }

  // MARK: Writing

  /// What finds exactly the items of a key and an account that have all of our attributes.
  static func exact(_ id: EntryID) -> [String: String] {
    [
      Attribute.namespace: id.key.namespace.text, Attribute.name: id.key.name,
      Attribute.account: id.account.text,
    ]
  }

  /// The attributes of an entry's item. What another program added to the item stays.
  static func attributes(_ entry: Entry, encoded: Bool, over present: [String: String] = [:]) -> [String:
    String]
  {
    present.merging(exact(entry.id)) { $1 }.merging([
      Attribute.schema: schema, Attribute.version: String(entry.version),
      Attribute.created: String(entry.created.milliseconds),
      Attribute.modified: String(entry.modified.milliseconds),
      Attribute.expires: entry.expires.map { String($0.milliseconds) } ?? "",
      Attribute.idle: entry.idle.map { String($0) } ?? "", Attribute.size: String(entry.size),
      Attribute.untilLogout: String(entry.untilLogout), Attribute.encoding: encoded ? base64 : "",
    ]) { $1 }
  }

  /// Whether it has all that is written for an entry. Providers add attributes of their own.
  func isCopy(of entry: Entry, encoded: Bool) -> Bool {
    Self.attributes(entry, encoded: encoded).allSatisfy { attributes[$0] == $1 }
      && ExactText(label) == ExactText(Self.label(for: entry))
  }

  /// What a person reads who looks at the keyring: the label that was given, else key and account. A password
  /// within a URL is left out.
  static func label(for entry: Entry) -> String {
    guard let label = entry.label, !label.isEmpty else { return label(for: entry.id) }
    return label
  }

  static func label(for id: EntryID) -> String {
    let key = withoutPassword(id.key.text)
    return id.account == .empty ? key : "\(key) (\(id.account.text))"
  }

  private static func withoutPassword(_ text: String) -> String {
    guard let scheme = text.firstRange(of: "://") else { return text }
    let authority = text[scheme.upperBound...].prefix { $0 != "/" }
    guard let at = authority.lastIndex(of: "@"), let colon = authority[..<at].firstIndex(of: ":") else {
      return text
    }
    return String(text[..<colon]) + String(text[at...])
  }
}
