// What keeps tokens in ordinary memory unreadable: they are encrypted under a random key that is only in secret memory and
// never leaves the process. What was read of a store before is held so. To forget all of it is to wipe one key. Whoever
// can change this process's memory needs no token of it, so nothing here tells whether bytes are what they were.

import SecretMemory
import Synchronization

/// A secret under a shield: readable only through the shield that covers it, and only until that is wiped.
public struct ShieldedSecret: SealedSecret {
  private let shield: Shield
  let bytes: [UInt8]
  // The counter of its first block. No other secret of the shield has one of its counters.
  private let counter: UInt64

  fileprivate init(_ shield: Shield, _ bytes: [UInt8], _ counter: UInt64) {
    (self.shield, self.bytes, self.counter) = (shield, bytes, counter)
  }

  /// How many bytes the secret has.
  public var count: Int { bytes.count }

  /// Uncovers it into `room`, which has `count` bytes.
  /// - Returns: false where the shield was wiped since.
  public func open(into room: inout MutableSpan<UInt8>) -> Bool {
    shield.uncover(bytes.span, counter, into: &room)
  }
}

/// Covers what stays in memory. Any thread may use it.
public final class Shield: Sendable {
  // Not private: Swift 6.3 fails to link the layout of a private type in a Mutex of a type that others hold.
  struct Cipher: ~Copyable {
    var key: CounterMode?
    /// The counter of the next block, for all keys that there ever were.
    var next: UInt64 = 0
    /// The first counter that was used with the present key.
    var first: UInt64 = 0
  }

  private let cipher = Mutex(Cipher())

  /// A shield with a key of its own, made when it is first needed.
  public init() {}

  /// Covers a secret.
  /// - Throws: `.exhausted` or `.library`.
  public func cover(_ secret: Span<UInt8>) throws(CryptoError) -> ShieldedSecret {
    var bytes = [UInt8](repeating: 0, count: secret.count)
    var room = bytes.mutableSpan
    let counter = try cover(secret, into: &room)
    return ShieldedSecret(self, bytes, counter)
  }

  /// Covers a secret into `room`, which has as many bytes.
  /// - Throws: `.exhausted` or `.library`.
  /// - Returns: what it is uncovered with.
  public func cover(_ secret: Span<UInt8>, into room: inout MutableSpan<UInt8>) throws(CryptoError) -> UInt64
  {
    try cipher.withLock { cipher throws(CryptoError) in
      if cipher.key == nil {
        cipher.key = try SecretBytes(random: SealingKey.size).withBytes { key throws(CryptoError) in
          try CounterMode(key: key)
        }
        cipher.first = cipher.next
      }
      let counter = cipher.next
      cipher.next += UInt64((secret.count + CounterMode.block - 1) / CounterMode.block)
      guard cipher.key?.turn(secret, into: &room, counter: (0, counter)) == true else {
        throw .ofLibrary("EVP_EncryptUpdate")
      }
      return counter
    }
  }

  /// Uncovers into `room`, which has as many bytes, what was covered with `counter`.
  /// - Returns: false where the shield was wiped since.
  public func uncover(
    _ bytes: Span<UInt8>, _ counter: UInt64, into room: inout MutableSpan<UInt8>
  ) -> Bool {
    cipher.withLock { cipher in
      guard counter >= cipher.first else { return false }
      return cipher.key?.turn(bytes, into: &room, counter: (0, counter)) == true
    }
  }

  /// Makes everything that it has covered unreadable for ever.
  public func wipe() {
    cipher.withLock { $0.key = nil }
  }
}
