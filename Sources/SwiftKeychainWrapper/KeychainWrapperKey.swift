// Names of values as an app declares them once, and subscripts by them, as in the original:
//
//     extension KeychainWrapper.Key { static let token: KeychainWrapper.Key = "Back4Gram.sessionToken" }
//     KeychainWrapper.standard[.token] = "r:cbca71d29d76"

import Foundation

extension KeychainWrapper {
  /// The name of a value. Programs add their own.
  public struct Key: Hashable, RawRepresentable, ExpressibleByStringLiteral, Sendable {
    /// The name.
    public var rawValue: String

    /// A key of this name.
    public init(rawValue: String) {
      self.rawValue = rawValue
    }

    /// A key of this name.
    public init(stringLiteral value: String) {
      rawValue = value
    }
  }

  /// The bytes under a key.
  public func data(forKey key: Key) -> Data? { data(forKey: key.rawValue) }

  /// The boolean under a key.
  public func bool(forKey key: Key) -> Bool? { bool(forKey: key.rawValue) }

  /// The number under a key.
  public func integer(forKey key: Key) -> Int? { integer(forKey: key.rawValue) }

  /// The number under a key.
  public func float(forKey key: Key) -> Float? { float(forKey: key.rawValue) }

  /// The number under a key.
  public func double(forKey key: Key) -> Double? { double(forKey: key.rawValue) }

  /// The text under a key.
  public func string(forKey key: Key) -> String? { string(forKey: key.rawValue) }

  /// The object under a key.
  public func object(forKey key: Key) -> (any NSCoding)? { object(forKey: key.rawValue) }

  /// Removes the value under a key.
  public func remove(forKey key: Key) { removeObject(forKey: key.rawValue) }

  /// The text under a key; assigning `nil` does nothing, as in the original.
  public subscript(key: Key) -> String? {
    get { string(forKey: key) }
    set { if let newValue { set(newValue, forKey: key.rawValue) } }
  }

  /// The boolean under a key; assigning `nil` does nothing, as in the original.
  public subscript(key: Key) -> Bool? {
    get { bool(forKey: key) }
    set { if let newValue { set(newValue, forKey: key.rawValue) } }
  }

  /// The number under a key; assigning `nil` does nothing, as in the original.
  public subscript(key: Key) -> Int? {
    get { integer(forKey: key) }
    set { if let newValue { set(newValue, forKey: key.rawValue) } }
  }

  /// The number under a key; assigning `nil` does nothing, as in the original.
  public subscript(key: Key) -> Double? {
    get { double(forKey: key) }
    set { if let newValue { set(newValue, forKey: key.rawValue) } }
  }

  /// The number under a key; assigning `nil` does nothing, as in the original.
  public subscript(key: Key) -> Float? {
    get { float(forKey: key) }
    set { if let newValue { set(newValue, forKey: key.rawValue) } }
  }

  /// The bytes under a key; assigning `nil` does nothing, as in the original.
  public subscript(key: Key) -> Data? {
    get { data(forKey: key) }
    set { if let newValue { set(newValue, forKey: key.rawValue) } }
  }
}
