// A number by which a key and its account are found again from their bytes, as they stand in a frame: a token that is asked
// for again is found before anybody judges, copies or compares a name. Holds no secret.

import SecretMemory

/// Numbers for names.
public enum NameHash {
  /// A number from all bytes of a key and an account. Different names may have the same one, and whoever chooses names
  /// can choose such: who looks up by it compares the names, and keeps one entry for a number.
  @inlinable
  public static func of(_ key: Span<UInt8>, _ account: Span<UInt8>) -> Int {
    // Names that are the same bytes, divided otherwise, begin with different numbers.
    Int(truncatingIfNeeded: mix(account, into: mix(key, into: UInt64(truncatingIfNeeded: key.count))))
  }

  @inlinable
  static func mix(_ bytes: Span<UInt8>, into seed: UInt64) -> UInt64 {
    // 2^64 divided by the golden ratio, as in Fibonacci hashing.
    let factor: UInt64 = 0x9E37_79B9_7F4A_7C15
    var mixed = seed
    var index = 0
    while index + 8 <= bytes.count {
      mixed = (mixed ^ bytes.word(at: index)) &* factor
      mixed ^= mixed >> 32
      index += 8
    }
    if index < bytes.count, bytes.count >= 8 {
      // Some of the last eight bytes come twice.
      mixed = (mixed ^ bytes.word(at: bytes.count - 8)) &* factor
      index = bytes.count
    }
    while index < bytes.count {
      mixed = (mixed ^ UInt64(bytes[index])) &* factor
      index += 1
    }
    return mixed ^ mixed >> 32
  }
}

extension EntryID {
  /// A number from its names: `NameHash` of their bytes.
  public var namesMixed: Int { NameHash.of(key.text.utf8.span, account.text.utf8.span) }

  /// The entry whose key and account these bytes are; `nil` where they are none.
  public init?(key: Span<UInt8>, account: Span<UInt8>) {
    guard let name = key.validText.flatMap({ try? Key($0) }),
      let owner = account.validText.flatMap({ try? Account($0) })
    else { return nil }
    self.init(name, owner)
  }

  /// Whether these bytes are its names.
  public func isOf(key: Span<UInt8>, account: Span<UInt8>) -> Bool {
    self.key.isEqual(to: key) && self.account.isEqual(to: account)
  }
}
