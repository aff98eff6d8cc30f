// The keychain wrapper that Swift programs for Apple's systems use, over the vault: the same names, types and
// results, so that such a program compiles for Linux with another dependency and nothing else. Stands on `Client`,
// and blocks as the original does. Its answers are values and booleans: it cannot tell a value that is not there
// from one that cannot be read now; programs that must (whoever would log a user out) ask `VaultClient`.

import Foundation
import Synchronization
import VaultClient

/// Values of one service, kept in the vault of this user.
///
/// The standard wrapper keeps a name with a dot under that very key (`Back4Gram.sessionToken`) and one without in the
/// namespace `SwiftKeychainWrapper`; a wrapper for another service keeps its names in the namespace of the service's
/// name. What keys may not hold is percent-encoded. A key has at most 255 bytes: `set` returns false for a name that
/// is longer.
///
/// Without meaning on Linux, accepted everywhere and without effect: `accessGroup` (programs of one user are not kept
/// apart), `withAccessibility` (remembered for `accessibilityOfKey`), `isSynchronizable` (nothing leaves the machine).
// Open, as programs have subclasses of it, and so its safety is not the compiler's to check: what it holds never
// changes, but the client behind a lock.
open class KeychainWrapper: @unchecked Sendable {
  /// The wrapper of programs that name no service.
  public static let standard = KeychainWrapper(serviceName: StoredKey.standardService)

  /// The same under its old name.
  @available(*, deprecated, renamed: "standard")
  public static let defaultKeychainWrapper = KeychainWrapper.standard

  /// Tells the values of this wrapper from those of others.
  public let serviceName: String

  /// On Apple's systems, the group of programs that share values; here without effect.
  public let accessGroup: String?

  /// Made by the first call, and again where the environment named no daemon.
  private let client = Mutex<Client?>(nil)

  /// A wrapper for the values of a service.
  /// - Parameters:
  ///   - serviceName: tells its values from those of other services.
  ///   - accessGroup: without effect.
  public init(serviceName: String, accessGroup: String? = nil) {
    self.serviceName = serviceName
    self.accessGroup = accessGroup
  }

  // MARK: What there is

  /// Whether a value is stored under `key` and can be read.
  open func hasValue(
    forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil,
    isSynchronizable: Bool = false
  ) -> Bool {
    data(forKey: key, withAccessibility: accessibility, isSynchronizable: isSynchronizable) != nil
  }

  /// How accessible the value under `key` was to be; `nil` where there is none. What another program stored counts as
  /// `.whenUnlocked`.
  open func accessibilityOfKey(_ key: String) -> KeychainItemAccessibility? {
    guard let id = entryID(key),
      let entry = try? vault()?.list(id.key.namespace).first(where: { $0.id == id })
    else { return nil }
    return Mark(label: entry.label, of: serviceName)?.accessibility ?? .whenUnlocked
  }

  /// The names of the values that this service stored through a wrapper; empty where they cannot be read, too.
  open func allKeys() -> Set<String> {
    Set(ownEntries().map(\.name))
  }

  // MARK: Reading

  /// The number under `key`; `nil` where there is none, or it is no number.
  open func integer(
    forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil,
    isSynchronizable: Bool = false
  ) -> Int? {
    number(key, accessibility, isSynchronizable)?.intValue
  }

  /// The number under `key`; `nil` where there is none, or it is no number.
  open func float(
    forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil,
    isSynchronizable: Bool = false
  ) -> Float? {
    number(key, accessibility, isSynchronizable)?.floatValue
  }

  /// The number under `key`; `nil` where there is none, or it is no number.
  open func double(
    forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil,
    isSynchronizable: Bool = false
  ) -> Double? {
    number(key, accessibility, isSynchronizable)?.doubleValue
  }

  /// The number under `key`, as a boolean; `nil` where there is none, or it is no number.
  open func bool(
    forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil,
    isSynchronizable: Bool = false
  ) -> Bool? {
    number(key, accessibility, isSynchronizable)?.boolValue
  }

  /// The text under `key`; `nil` where there is none, or it is not UTF-8.
  open func string(
    forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil,
    isSynchronizable: Bool = false
  ) -> String? {
    data(forKey: key, withAccessibility: accessibility, isSynchronizable: isSynchronizable)
      .flatMap { String(data: $0, encoding: .utf8) }
  }

  /// The object under `key`; `nil` where there is none, or what is there is no archive of one.
  open func object(
    forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil,
    isSynchronizable: Bool = false
  ) -> (any NSCoding)? {
    data(forKey: key, withAccessibility: accessibility, isSynchronizable: isSynchronizable)
      .flatMap(Archive.object)
  }

  /// The bytes under `key`; `nil` where there is none, or they cannot be read now.
  open func data(
    forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil,
    isSynchronizable: Bool = false
  ) -> Data? {
    guard let id = entryID(key), let token = try? vault()?.get(GetRequest(id: id)) else { return nil }
    return Data(token.secret.bytes)
  }

  /// What names the value under `key` for good: here its key in the vault. `nil` where there is none.
  open func dataRef(
    forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil,
    isSynchronizable: Bool = false
  ) -> Data? {
    guard let id = entryID(key), hasValue(forKey: key) else { return nil }
    return Data(id.key.text.utf8)
  }

  // MARK: Storing

  /// Stores a number in place of what was there, as an archived `NSNumber`, as the original does.
  /// - Returns: whether it is stored.
  @discardableResult
  open func set(
    _ value: Int, forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil,
    isSynchronizable: Bool = false
  ) -> Bool {
    setNumber(NSNumber(value: value), key, accessibility, isSynchronizable)
  }

  /// Stores a number in place of what was there, as an archived `NSNumber`, as the original does.
  /// - Returns: whether it is stored.
  @discardableResult
  open func set(
    _ value: Float, forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil,
    isSynchronizable: Bool = false
  ) -> Bool {
    setNumber(NSNumber(value: value), key, accessibility, isSynchronizable)
  }

  /// Stores a number in place of what was there, as an archived `NSNumber`, as the original does.
  /// - Returns: whether it is stored.
  @discardableResult
  open func set(
    _ value: Double, forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil,
    isSynchronizable: Bool = false
  ) -> Bool {
    setNumber(NSNumber(value: value), key, accessibility, isSynchronizable)
  }

  /// Stores a boolean in place of what was there, as an archived `NSNumber`, as the original does.
  /// - Returns: whether it is stored.
  @discardableResult
  open func set(
    _ value: Bool, forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil,
    isSynchronizable: Bool = false
  ) -> Bool {
    setNumber(NSNumber(value: value), key, accessibility, isSynchronizable)
  }

  /// Stores text in place of what was there, as its UTF-8; the empty text is one.
  /// - Returns: whether it is stored.
  @discardableResult
  open func set(
    _ value: String, forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil,
    isSynchronizable: Bool = false
  ) -> Bool {
    set(Data(value.utf8), forKey: key, withAccessibility: accessibility, isSynchronizable: isSynchronizable)
  }

  /// Stores an archive of an object in place of what was there.
  /// - Returns: whether it is stored.
  @discardableResult
  open func set(
    _ value: any NSCoding, forKey key: String,
    withAccessibility accessibility: KeychainItemAccessibility? = nil,
    isSynchronizable: Bool = false
  ) -> Bool {
    guard let data = Archive.data(of: value) else { return false }
    return set(data, forKey: key, withAccessibility: accessibility, isSynchronizable: isSynchronizable)
  }

  /// Stores bytes in place of what was there.
  /// - Returns: whether they are stored.
  @discardableResult
  open func set(
    _ value: Data, forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil,
    isSynchronizable: Bool = false
  ) -> Bool {
    guard let id = entryID(key), let secret = try? SharedSecret(copying: [UInt8](value).span) else {
      return false
    }
    let mark = Mark(service: serviceName, accessibility: accessibility ?? .whenUnlocked)
    return (try? vault()?.set(SetRequest(id: id, secret: secret, label: mark.label))) != nil
  }

  // MARK: Removing

  /// Removes the value under `key`.
  /// - Returns: whether there was one, and it is gone.
  @discardableResult
  open func removeObject(
    forKey key: String, withAccessibility accessibility: KeychainItemAccessibility? = nil,
    isSynchronizable: Bool = false
  ) -> Bool {
    guard let id = entryID(key), let clearance = try? vault()?.clear(id) else { return false }
    return clearance.cleared > 0
  }

  /// Removes the value under `key`.
  open func remove(forKey key: String) {
    removeObject(forKey: key)
  }

  /// Removes the values that this service stored through a wrapper, and nothing else.
  /// - Returns: whether there were any, and all of them are gone.
  @discardableResult
  open func removeAllKeys() -> Bool {
    let own = ownEntries()
    return !own.isEmpty && remove(own.map(\.entry))
  }

  /// Removes every value that any program of this user stored through a wrapper, of every service. What was stored in
  /// another way stays: on Linux the vault is not one program's alone.
  open class func wipeKeychain() {
    let all = (try? standard.vault()?.list()) ?? []
    _ = standard.remove(all.filter { Mark.isMark($0.label) })
  }
}

extension KeychainWrapper {
  private func vault() throws(VaultError) -> Client? {
    if let client = client.withLock({ $0 }) { return client }
    let made = try Client()
    return client.withLock { client in
      if client == nil { client = made }
      return client
    }
  }

  private func entryID(_ name: String) -> EntryID? {
    try? EntryID(StoredKey(service: serviceName).key(of: name))
  }

  /// What this service stored, by the marks on it.
  private func ownEntries() -> [(name: String, entry: Entry)] {
    let stored = StoredKey(service: serviceName)
    var namespace: Namespace?
    if let text = stored.namespace {
      guard let valid = try? Namespace(text) else { return [] }
      namespace = valid
    }
    let entries = (try? vault()?.list(namespace)) ?? []
    return entries.compactMap { entry in
      guard entry.id.account == .empty, Mark(label: entry.label, of: serviceName) != nil,
        let name = stored.name(of: entry.id.key.text)
      else { return nil }
      return (name, entry)
    }
  }

  private func remove(_ entries: [Entry]) -> Bool {
    var all = true
    for entry in entries where (try? vault()?.clear(entry.id)) == nil { all = false }
    return all
  }

  private func number(
    _ key: String, _ accessibility: KeychainItemAccessibility?, _ isSynchronizable: Bool
  ) -> NSNumber? {
    object(forKey: key, withAccessibility: accessibility, isSynchronizable: isSynchronizable) as? NSNumber
  }

  private func setNumber(
    _ value: NSNumber, _ key: String, _ accessibility: KeychainItemAccessibility?, _ isSynchronizable: Bool
  ) -> Bool {
    set(
      value as any NSCoding, forKey: key, withAccessibility: accessibility, isSynchronizable: isSynchronizable
    )
  }
}
