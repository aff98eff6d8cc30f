// The nonce of AES-GCM: 96 bits that no two values sealed under one key may share (NIST SP 800-38D, section
// 8.2.2). Made by the generator, stored in front of what it sealed. No secret.

import SecretMemory

/// 12 bytes, random.
public struct Nonce: Hashable, Sendable {
  /// Its size in bytes.
  public static let size = 12

  private let low: UInt64
  private let high: UInt32

  /// The nonce that these 12 bytes are; `nil` for any other number of them. For tests and vectors: whoever
  /// seals twice under one nonce gives away both values and the key that authenticates.
  init?(_ bytes: Span<UInt8>) {
    guard bytes.count == Self.size else { return nil }
    (low, high) = unsafe bytes.withUnsafeBytes { raw in
      unsafe (
        raw.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
        raw.loadUnaligned(fromByteOffset: 8, as: UInt32.self)
      )
    }
  }

  /// Writes the 12 bytes in front of `target`, which has room for them.
  @unsafe func write(to target: UnsafeMutableRawPointer) {
    unsafe target.storeBytes(of: low, as: UInt64.self)
    unsafe target.storeBytes(of: high, toByteOffset: 8, as: UInt32.self)
  }
}

/// Random nonces, drawn in batches: one draw of the generator costs more than sealing a token does.
struct NonceSource: ~Copyable, Sendable {
  private static let batch = 85
  private var drawn: SecretBytes
  private var next: Int

  init() throws(CryptoError) {
    drawn = try SecretBytes.zeros(Self.batch * Nonce.size)
    next = drawn.count
  }

  /// A nonce that was never handed out.
  mutating func draw() throws(CryptoError) -> Nonce {
    if next == drawn.count {
      try drawn.withMutableBytes { bytes throws(CryptoError) in try randomBytes(into: &bytes) }
      next = 0
    }
    defer { next += Nonce.size }
    let start = next
    let nonce = drawn.withBytes { Nonce($0.extracting(start..<start + Nonce.size)) }
    guard let nonce else { throw .parameter("a nonce has 12 bytes") }
    return nonce
  }
}
