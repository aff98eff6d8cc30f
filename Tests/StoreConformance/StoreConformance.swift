// What every store promises the vault, as one suite: each store's tests run it against the real thing
// (behaviour.md, "Keys, accounts, secrets"; the protocol `Store`). It uses keys of the namespaces
// `Conformance…` only and clears them at its end.

import SecretMemory
import TestSupport
import Testing
import VaultCore
import VaultModel

/// What a provider does without asking its user. What it asks about fails as it must, and the suite checks that.
public struct Capabilities: OptionSet, Sendable {
  public let rawValue: Int
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// It makes items.
  public static let making = Capabilities(rawValue: 1)
  /// It removes items.
  public static let removing = Capabilities(rawValue: 2)
  /// It lives through many changes at once.
  public static let hurrying = Capabilities(rawValue: 4)
  public static let all: Capabilities = [.making, .removing, .hurrying]
}

/// Runs every check of the suite against `store`, which is open and writable. `removeByHand` is how the owner of the store
/// removes what the store may not, for those that ask about it.
@VaultActor
public func checkConformance(
  of store: any Store, clock: any Clock, can: Capabilities = .all,
  removeByHand: @VaultActor @escaping (EntryID) async throws -> Void = { _ in }
) async throws {
  let conformance = StoreConformance(store: store, clock: clock, can: can, removeByHand: removeByHand)
  try await conformance.nothingIsStored()
  try await conformance.everyKindOfSecret()
  try await conformance.everyKindOfKey()
  try await conformance.replacing()
  try await conformance.accountsAreApart()
  try await conformance.namespacesAreApart()
  try await conformance.fieldsComeBack()
  try await conformance.removing()
  if can.contains(.hurrying) { try await conformance.manyAtOnce() }
  try await conformance.clearEverything()
}

@VaultActor
private struct StoreConformance {
  let store: any Store
  let clock: any Clock
  let can: Capabilities
  let removeByHand: @VaultActor (EntryID) async throws -> Void

  // MARK: The checks

  func nothingIsStored() async throws {
    #expect(try await read("Conformance.nothing") == nil)
    #expect(try await remove("Conformance.nothing") == false)
  }

  func everyKindOfSecret() async throws {
    let every = (0...255).map { UInt8($0) }
    let secrets: [(String, [UInt8])] = [
      ("empty", []), ("one", [0x41]), ("zero", [0]), ("every", every), ("everyBackwards", every.reversed()),
      ("lineEnds", Array("\r\n\n".utf8)), ("text", Array("grüße 🔑".utf8)),
      ("high", [0x7F, 0x80, 0x81, 0xFF]),
      ("base64Like", Array("AAAA".utf8)), ("kib8", pattern(8_191)), ("kib8exact", pattern(8_192)),
      ("kib8more", pattern(8_193)), ("kib64", pattern(65_536)), ("kib64more", pattern(65_537)),
      ("mib", pattern(Limits.secretBytes)),
    ]
    for (name, bytes) in secrets {
      let entry = try await write("Conformance.\(name)", bytes)
      let token = try await readToken("Conformance.\(name)")
      #expect(token.map { contents($0.secret) == bytes } == true, "\(store.name): \(name)")
      #expect(token?.entry.size == bytes.count)
      #expect(token?.entry.version == entry.version)
    }
    for (name, _) in secrets { #expect(try await remove("Conformance.\(name)")) }
  }

  func everyKindOfKey() async throws {
    let composed = "Conformance.caf\u{E9}"
    let decomposed = "Conformance.cafe\u{301}"
    let keys = [
      composed, decomposed, "Conformance.../../x", "Conformance.a/b", "Conformance.a%2Fb", "Conformance.-n",
      "Conformance.a b", "Conformance.a_b", "Conformance.A", "Conformance.a", "Conformance.🔑🪙",
      "Conformance.ı",
      "Conformance.i", "Conformance.İ", "Conformance.https://u@host:1/x",
      "Conformance." + String(repeating: "k", count: Limits.keyBytes - 12),
    ].filter { (try? Key($0)) != nil }
    for key in keys { try await write(key, Array(key.utf8)) }
    for key in keys { #expect(try await read(key) == Array(key.utf8), "\(store.name): \(key)") }
    for key in keys { #expect(try await remove(key), "\(store.name): \(key)") }
    for key in keys { #expect(try await read(key) == nil) }
  }

  func replacing() async throws {
    let first = try await write("Conformance.replace", Array("first, and longer".utf8))
    let second = try await write("Conformance.replace", Array("second".utf8))
    #expect(second.version > first.version)
    #expect(try await read("Conformance.replace") == Array("second".utf8))
    #expect(try await readToken("Conformance.replace")?.entry.version == second.version)
    try await write("Conformance.replace", [])
    #expect(try await read("Conformance.replace") == [])
    #expect(try await names(in: "Conformance").count == 1)
    #expect(try await remove("Conformance.replace"))
  }

  func accountsAreApart() async throws {
    let accounts = ["", "alice", "bob@example.org", "Alice"]
    for order in [accounts, accounts.reversed()] {
      for account in order { try await write("Conformance.account", Array("of \(account)".utf8), account) }
      for account in order {
        #expect(try await read("Conformance.account", account) == Array("of \(account)".utf8))
      }
      #expect(try await names(in: "Conformance").count == accounts.count)
      #expect(try await remove("Conformance.account", ""))
      #expect(try await read("Conformance.account", "") == nil)
      #expect(try await read("Conformance.account", "alice") == Array("of alice".utf8))
      for account in order.dropFirst(0) where account != "" {
        #expect(try await remove("Conformance.account", account))
      }
    }
  }

  func namespacesAreApart() async throws {
    let keys = ["Conformance.a", "Conformance2.a", "Conformance.sub.a", "Conform.a"]
    for key in keys { try await write(key, [1]) }
    #expect(try await names(in: "Conformance") == ["Conformance.a"])
    #expect(try await names(in: "Conformance.sub") == ["Conformance.sub.a"])
    #expect(Set(try await names(in: nil)).isSuperset(of: keys))
    for key in keys { #expect(try await remove(key)) }
  }

  func fieldsComeBack() async throws {
    let id = EntryID(try Key("Conformance.fields"), try Account("alice"))
    let entry = Entry(
      id: id, version: clock.wall.milliseconds + 7, created: WallTime(seconds: 1_700_000_000),
      modified: WallTime(seconds: 1_800_000_000), expires: WallTime(milliseconds: 2_000_000_000_123),
      idle: 3_600, untilLogout: false, label: "Für Elise", size: 3, store: store.name)
    let secret = SharedSecret(try SecretBytes(copying: "abc"))
    try await store.write(entry, secret, patience)
    #expect(try await store.read(id, patience)?.entry == entry)
    #expect(try await store.list(id.key.namespace, patience) == [entry])
    #expect(try await remove("Conformance.fields", "alice"))
  }

  func removing() async throws {
    try await write("Conformance.stays", [1])
    try await write("Conformance.goes", [2])
    #expect(try await remove("Conformance.goes"))
    #expect(try await remove("Conformance.goes") == false)
    #expect(try await read("Conformance.goes") == nil)
    #expect(try await read("Conformance.stays") == [1])
    try await write("Conformance.goes", [3])
    #expect(try await read("Conformance.goes") == [3])
    #expect(try await remove("Conformance.goes"))
    #expect(try await remove("Conformance.stays"))
  }

  func manyAtOnce() async throws {
    let writes = (0..<50).map { number in
      Task { @VaultActor in try await write("Conformance.many\(number)", Array("value \(number)".utf8)) }
    }
    for write in writes { _ = try await write.value }
    for number in 0..<50 {
      #expect(try await read("Conformance.many\(number)") == Array("value \(number)".utf8))
    }
    let removals = (0..<50).map { number in
      Task { @VaultActor in try await remove("Conformance.many\(number)") }
    }
    for removal in removals { #expect(try await removal.value) }
  }

  func clearEverything() async throws {
    #expect(try await names(in: nil).filter { $0.hasPrefix("Conform") } == [])
  }

  // MARK: The words of the checks

  private var patience: Patience {
    Patience(
      deadline: clock.boot.advanced(by: 30_000), promptDeadline: clock.boot.advanced(by: 60_000),
      interactive: !can.contains(.making))
  }

  @discardableResult
  private func write(_ key: String, _ bytes: [UInt8], _ account: String = "") async throws -> Entry {
    let id = EntryID(try Key(key), try Account(account))
    let entry = Entry(
      id: id, version: Versions.next(clock), created: clock.wall, modified: clock.wall, size: bytes.count,
      store: store.name)
    try await store.write(entry, SharedSecret(try SecretBytes(copying: bytes.span)), patience)
    return entry
  }

  private func readToken(_ key: String, _ account: String = "") async throws -> Token? {
    let id = EntryID(try Key(key), try Account(account))
    switch store.lookUp(id) {
    case .found(let token):
      #expect(try await store.read(id, patience)?.entry == token.entry)
      return token
    case .missing:
      #expect(try await store.read(id, patience) == nil)
      return nil
    case .failed(let error): throw error
    case .mustWait: return try await store.read(id, patience)
    }
  }

  private func read(_ key: String, _ account: String = "") async throws -> [UInt8]? {
    try await readToken(key, account).map { contents($0.secret) }
  }

  private func remove(_ key: String, _ account: String = "") async throws -> Bool {
    let id = EntryID(try Key(key), try Account(account))
    guard !can.contains(.removing), try await store.read(id, patience) != nil else {
      return try await store.remove(id, version: Versions.next(clock), patience)
    }
    // It would ask: that is a failure, nothing is removed, and what is there can still be read.
    do throws(WriteFailure) {
      _ = try await store.remove(id, version: Versions.next(clock), patience)
      Issue.record("\(store.name) removed \(id) without asking")
    } catch {
      #expect(error.error.outcome == .unavailable)
      #expect(!error.mayTakeEffect)
    }
    #expect(try await store.read(id, patience) != nil)
    try await removeByHand(id)
    return true
  }

  private func names(in namespace: String?) async throws -> [String] {
    let namespace = try namespace.map { try Namespace($0) }
    return try await store.list(namespace, patience).map(\.id.key.text).sorted()
  }

  private func contents(_ secret: SharedSecret) -> [UInt8] {
    secret.withBytes { bytes in (0..<bytes.count).map { bytes[$0] } }
  }

  private func pattern(_ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
  }
}

/// Versions of the suite: grow, whatever the clock does.
@VaultActor
private enum Versions {
  private static var last: Version = 0
  static func next(_ clock: any Clock) -> Version {
    last = max(last + 1, clock.wall.milliseconds)
    return last
  }
}
