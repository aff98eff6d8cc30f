// OpenSSL as this process uses it: its memory is ours, it reads no configuration, and each algorithm is
// looked up once. Beneath everything else of this module. Never used in a forked child: the library's memory
// is secret memory, and a child finds that empty.

import COpenSSL
import SecretMemory

/// The library, ready for use.
enum LibCrypto {
  /// Whether OpenSSL keeps its own memory in secret memory. False where something else in the process called
  /// OpenSSL first; everything works then, and expanded keys lie in ordinary memory while they are in use.
  static let usesSecretMemory: Bool = {
    let taken = unsafe CRYPTO_set_mem_functions(
      { count, _, _ in unsafe SecretMemory.allocate(Int(clamping: count)) },
      { piece, count, _, _ in unsafe SecretMemory.reallocate(piece, Int(clamping: count)) },
      { piece, _, _ in unsafe SecretMemory.free(piece) })
    return copenssl_start() == 1 && taken == 1
  }()

  /// An algorithm, looked up once. The handle counts its own references atomically and is never given back.
  @safe struct Algorithm: @unchecked Sendable {
    // OpenSSL's fetched algorithms are immutable and made to be shared between threads (crypto(7)).
    let handle: OpaquePointer?

    init(_ fetch: () -> OpaquePointer?) {
      _ = usesSecretMemory
      unsafe handle = unsafe fetch()
    }
  }

  static let aes256GCM = unsafe Algorithm { unsafe EVP_CIPHER_fetch(nil, "AES-256-GCM", nil) }
  static let aes256ECB = unsafe Algorithm { unsafe EVP_CIPHER_fetch(nil, "AES-256-ECB", nil) }
  static let hmac = unsafe Algorithm { unsafe EVP_MAC_fetch(nil, "HMAC", nil) }
  static let hkdf = unsafe Algorithm { unsafe EVP_KDF_fetch(nil, "HKDF", nil) }
  static let scrypt = unsafe Algorithm { unsafe EVP_KDF_fetch(nil, "SCRYPT", nil) }
}

/// How cryptography protects its own memory, for `status`.
public enum CryptoMemory {
  /// Whether OpenSSL's own copies of keys lie in secret memory too.
  public static var isSecret: Bool { LibCrypto.usesSecretMemory }
}
