// Keys from keys (HKDF-SHA256, RFC 5869) and keys from passphrases (scrypt, RFC 7914). Used when a vault file
// is made, opened or given another slot. Every result goes straight into secret memory.

import COpenSSL
import SecretMemory
import VaultModel

/// The ways to come to a key.
public enum KeyDerivation {
  /// The longest result of HKDF-SHA256, in bytes (RFC 5869, section 2.3).
  static let longestHKDF = 255 * 32

  /// A key for one purpose from a key for all of them, by HKDF-SHA256.
  /// - Parameters:
  ///   - key: the key that all others come from; not empty.
  ///   - salt: what tells one vault from another; may be empty.
  ///   - label: the purpose: HKDF's `info`. No two purposes share one.
  ///   - count: the bytes wanted, 1 to 8,160.
  /// - Throws: `.parameter` for another count or an empty key.
  /// - Returns: the derived key.
  public static func hkdf(
    from key: borrowing SecretBytes, salt: Span<UInt8>, label: StaticString, count: Int
  ) throws(CryptoError) -> SecretBytes {
    let info = unsafe UnsafeBufferPointer(start: label.utf8Start, count: label.utf8CodeUnitCount)
    return try hkdf(from: key, salt: salt, info: unsafe Span(_unsafeElements: info), count: count)
  }

  static func hkdf(
    from key: borrowing SecretBytes, salt: Span<UInt8>, info: Span<UInt8>, count: Int
  ) throws(CryptoError) -> SecretBytes {
    guard (1...longestHKDF).contains(count) else { throw .parameter("HKDF gives 1 to 8,160 bytes") }
    guard key.count > 0 else { throw .parameter("HKDF needs a key") }
    let hkdf = unsafe LibCrypto.hkdf.handle
    guard let hkdf = unsafe hkdf else { throw .ofLibrary("EVP_KDF_fetch") }
    var derived = try SecretBytes.zeros(count)
    let done = derived.withMutableBytes { out in
      key.withBytes { key in
        unsafe out.withUnsafeMutableBufferPointer { out in
          unsafe key.withUnsafeBytes { key in
            unsafe salt.withUnsafeBytes { salt in
              unsafe info.withUnsafeBytes { info in
                unsafe copenssl_hkdf(
                  hkdf, key.baseAddress, key.count, salt.baseAddress, salt.count, info.baseAddress,
                  info.count,
                  out.baseAddress, out.count)
              }
            }
          }
        }
      }
    }
    guard done == 1 else { throw .ofLibrary("EVP_KDF_derive (HKDF)") }
    return derived
  }

  /// The 32 bytes that a passphrase comes to, by scrypt. Blocks the calling thread for a third of a second and
  /// takes 128 · N · r bytes meanwhile, which are wiped and given back to the system before it returns: whoever
  /// calls it does so on a thread of its own, one at a time.
  /// - Parameters:
  ///   - passphrase: what the user typed, as bytes.
  ///   - salt: random bytes that are kept beside the result.
  ///   - logN: the binary logarithm of N.
  ///   - r: the block size.
  ///   - p: the parallelisation.
  /// - Throws: `.parameter` where a cost is outside its bounds in `Limits`.
  /// - Returns: 32 bytes.
  public static func scrypt(
    passphrase: borrowing SecretBytes, salt: Span<UInt8>, logN: Int, r: Int, p: Int
  ) throws(CryptoError) -> SecretBytes {
    guard Limits.scryptLogNRange.contains(logN) else { throw .parameter("scrypt's N is out of bounds") }
    guard Limits.scryptRRange.contains(r) else { throw .parameter("scrypt's r is out of bounds") }
    guard Limits.scryptPRange.contains(p) else { throw .parameter("scrypt's p is out of bounds") }
    return try unboundedScrypt(
      passphrase: passphrase, salt: salt, n: 1 << UInt64(logN), r: UInt32(r), p: UInt32(p),
      count: SealingKey.size)
  }

  /// scrypt with any parameters: for the vectors of RFC 7914, some of which are outside our bounds.
  static func unboundedScrypt(
    passphrase: borrowing SecretBytes, salt: Span<UInt8>, n: UInt64, r: UInt32, p: UInt32, count: Int
  ) throws(CryptoError) -> SecretBytes {
    let scrypt = unsafe LibCrypto.scrypt.handle
    guard let scrypt = unsafe scrypt else { throw .ofLibrary("EVP_KDF_fetch") }
    // OpenSSL counts the blocks that it mixes and two more; its own ceiling of 32 MiB is below our cost.
    let ceiling = 128 &* UInt64(r) &* (n &+ UInt64(p) &+ 2)
    var derived = try SecretBytes.zeros(count)
    let done = derived.withMutableBytes { out in
      passphrase.withBytes { passphrase in
        unsafe out.withUnsafeMutableBufferPointer { out in
          unsafe passphrase.withUnsafeBytes { passphrase in
            unsafe salt.withUnsafeBytes { salt in
              unsafe copenssl_scrypt(
                scrypt, passphrase.baseAddress, passphrase.count, salt.baseAddress, salt.count, n, r, p,
                ceiling,
                out.baseAddress, out.count)
            }
          }
        }
      }
    }
    guard done == 1 else { throw .ofLibrary("EVP_KDF_derive (scrypt)") }
    return derived
  }
}
