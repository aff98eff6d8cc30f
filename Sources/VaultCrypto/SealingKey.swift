// Authenticated encryption: AES-256-GCM under one key (NIST SP 800-38D). A store seals entries and secrets
// with it before they leave memory and opens them straight into secret memory. It never tells which bytes
// were wrong, and never gives out a byte of a value that fails.
//
// Nonces are 96 random bits. Under one key 2^32 of them keep the odds that any two are equal below 2^-32, the
// bound that SP 800-38D sets for random nonces (section 8.3). Two things keep the bound: each purpose has a
// key of its own, derived with its own label, and each key counts its seals and refuses past 2^32, from the
// count that its owner says was reached in earlier lives of the process. A derived key for every record would
// need no count; it would cost each seal and each opening three times what they cost now.

import SecretMemory
import Synchronization

/// A key of AES-256-GCM. Any thread may use it; two at once take turns, for as long as a seal takes (0.4 µs for
/// a token, 0.3 ms for 1 MiB). A thread that must never wait for another has a key of its own.
public struct SealingKey: ~Copyable, Sendable {
  /// The key's size in bytes.
  public static let size = 32
  /// How many bytes longer a sealed value is than the plain one: nonce in front, tag behind.
  public static let overhead = Nonce.size + tagSize
  /// How many values one key may seal.
  public static let mostSeals: UInt64 = 1 << 32
  /// The longest value, plain or associated, in bytes: more than a vault file has, less than OpenSSL's int.
  static let longest = 1 << 30
  static let tagSize = 16

  // Not private: Swift 6.3 fails to link the layout of a private type in a Mutex of a type that others hold.
  struct Contexts: ~Copyable {
    let seal: CipherContext
    let open: CipherContext
    var nonces: NonceSource
    var seals: UInt64
  }

  private let contexts: Mutex<Contexts>

  /// The key that these 32 bytes are. They are expanded into secret memory of the key's own; the caller's copy
  /// stays the caller's.
  /// - Parameters:
  ///   - key: 32 bytes.
  ///   - sealed: how many values this key has sealed before, as far as its owner knows.
  /// - Throws: `.parameter` for any other size.
  public init(_ key: borrowing SecretBytes, sealed: UInt64 = 0) throws(CryptoError) {
    let seal = try key.withBytes { key throws(CryptoError) in try CipherContext(.seal, key: key) }
    let open = try key.withBytes { key throws(CryptoError) in try CipherContext(.open, key: key) }
    contexts = Mutex(Contexts(seal: seal, open: open, nonces: try NonceSource(), seals: sealed))
  }

  /// A new random key that nobody else has: what it seals is readable as long as this value lives.
  public init() throws(CryptoError) {
    try self.init(try SecretBytes(random: Self.size))
  }

  /// Seals `plain` and binds it to `associated`, which is not in the result.
  /// - Returns: nonce (12) ‖ ciphertext (as long as `plain`) ‖ tag (16).
  /// - Throws: `.worn` past 2^32 seals, `.parameter` past 1 GiB.
  public func seal(_ plain: Span<UInt8>, associated: Span<UInt8>) throws(CryptoError) -> [UInt8] {
    try seal(plain, associated: associated, nonce: nil)
  }

  /// Seals under a nonce that is given: for published vectors and nothing else.
  func seal(
    _ plain: Span<UInt8>, associated: Span<UInt8>, nonce fixed: Nonce?
  ) throws(CryptoError) -> [UInt8] {
    guard plain.count <= Self.longest, associated.count <= Self.longest else {
      throw .tooLong
    }
    return try contexts.withLock { contexts throws(CryptoError) in
      guard contexts.seals < Self.mostSeals else { throw .worn }
      contexts.seals += 1
      let nonce = if let fixed { fixed } else { try contexts.nonces.draw() }
      var done = false
      let count = plain.count + Self.overhead
      let sealed = unsafe [UInt8](unsafeUninitializedCapacity: count) { bytes, written in
        guard let start = bytes.baseAddress else { return }
        done = unsafe contexts.seal.seal(plain, associated: associated, nonce: nonce, to: start)
        if done { written = count }
      }
      guard done else { throw .ofLibrary("EVP_CipherUpdate") }
      return sealed
    }
  }

  /// Opens what `seal` gave, straight into secret memory.
  /// - Throws: `.authentication` where `sealed` or `associated` is not what it was, or the key another.
  public func open(_ sealed: Span<UInt8>, associated: Span<UInt8>) throws(CryptoError) -> SecretBytes {
    guard associated.count <= Self.longest else { throw .tooLong }
    let count = sealed.count - Self.overhead
    guard count >= 0 else { throw .authentication }
    guard count <= Self.longest else { throw .tooLong }
    var plain = try SecretBytes.zeros(count)
    let opening = contexts.withLock { contexts in
      plain.withMutableBytes { plain in
        unsafe plain.withUnsafeMutableBufferPointer { bytes -> CipherContext.Opening in
          guard let start = bytes.baseAddress else { return .failed }
          return unsafe contexts.open.open(sealed, associated: associated, to: start)
        }
      }
    }
    switch opening {
    case .opened: return plain
    case .refused: throw .authentication
    case .failed: throw .ofLibrary("EVP_CipherUpdate")
    }
  }
}

extension CryptoError {
  fileprivate static var tooLong: CryptoError { .parameter("a sealed value is at most 1 GiB") }
}
