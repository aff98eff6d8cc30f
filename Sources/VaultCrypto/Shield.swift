// What keeps tokens in ordinary memory unreadable: they are sealed under a random key that is only in secret
// memory and never leaves the process. The cache of what was read from the Secret Service holds them so. To
// forget them all is to wipe one key.

import SecretMemory

/// A secret under a shield: readable only through the shield that sealed it, and only until that is wiped.
public struct ShieldedSecret: Sendable {
  fileprivate let sealed: [UInt8]

  /// How many bytes the secret has.
  public var count: Int { sealed.count - SealingKey.overhead }
}

/// Seals what stays in memory.
public struct Shield: ~Copyable, Sendable {
  private var key: SealingKey?

  /// A shield with a key of its own, made when it is first needed.
  public init() {}

  /// Seals a secret.
  /// - Throws: what a `SealingKey` throws.
  public mutating func cover(_ secret: Span<UInt8>) throws(CryptoError) -> ShieldedSecret {
    if key == nil { key = try SealingKey() }
    guard let sealed = try key?.seal(secret, associated: Span()) else { throw .authentication }
    return ShieldedSecret(sealed: sealed)
  }

  /// Opens a secret.
  /// - Throws: `.authentication` where the shield was wiped since, or another one sealed it.
  public func uncover(_ secret: borrowing ShieldedSecret) throws(CryptoError) -> SecretBytes {
    guard let plain = try key?.open(secret.sealed.span, associated: Span()) else { throw .authentication }
    return plain
  }

  /// Makes everything that it has sealed unreadable for ever.
  public mutating func wipe() {
    key = nil
  }
}
