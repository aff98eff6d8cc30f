// Random bytes from OpenSSL's generators, which the kernel seeds. Beneath sealing and key files. Never falls
// back to anything weaker: without a seed it throws.

import COpenSSL
import SecretMemory

/// Fills `bytes` with random bytes that may become known: nonces, salts, ids.
/// - Throws: `.library` where the generator has no seed.
public func randomBytes(into bytes: inout MutableSpan<UInt8>) throws(CryptoError) {
  _ = LibCrypto.usesSecretMemory
  let filled = unsafe bytes.withUnsafeMutableBytes { raw in
    unsafe RAND_bytes_ex(nil, raw.baseAddress, raw.count, 0)
  }
  guard filled == 1 else { throw .ofLibrary("RAND_bytes_ex") }
}

extension SecretBytes {
  /// A secret of `count` random bytes, from the generator that OpenSSL keeps for what stays unknown.
  /// - Throws: `.library` where the generator has no seed, `.exhausted` where there is no memory.
  public init(random count: Int) throws(CryptoError) {
    _ = LibCrypto.usesSecretMemory
    var bytes = try SecretBytes.zeros(count)
    let filled = bytes.withMutableBytes { span in
      unsafe span.withUnsafeMutableBytes { raw in
        unsafe RAND_priv_bytes_ex(nil, raw.baseAddress, raw.count, 0)
      }
    }
    guard filled == 1 else { throw .ofLibrary("RAND_priv_bytes_ex") }
    self = bytes
  }

  /// `count` zero bytes, with this module's error.
  static func zeros(_ count: Int) throws(CryptoError) -> SecretBytes {
    do { return try SecretBytes(zeros: count) } catch { throw CryptoError(error) }
  }
}

/// Whether two runs of bytes are the same, in a time that depends on their lengths only.
public func constantTimeEqual(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
  guard left.count == right.count else { return false }
  return unsafe left.withUnsafeBytes { left in
    unsafe right.withUnsafeBytes { right in
      guard let one = left.baseAddress, let other = right.baseAddress else { return true }
      return unsafe CRYPTO_memcmp(one, other, left.count) == 0
    }
  }
}
