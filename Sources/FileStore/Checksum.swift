// Checksums that need no key, over the header and the slots: a slot that was damaged is never taken for one
// that a passphrase does not open. They keep nobody from changing anything; what is sealed does.

import SecretMemory
import VaultCrypto

/// HMAC-SHA256 under a key that everybody knows, cut to 16 bytes.
enum Checksum {
  static let size = 16
  private static let publicKey = "vault file checksum"

  /// The checksum of some bytes.
  static func of(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
    let key: SecretBytes
    do { key = try SecretBytes(copying: publicKey) } catch { throw .exhausted(bytes: publicKey.utf8.count) }
    let code = try AuthenticationKey(key).code(of: bytes.span)
    return code.withBytes { code in (0..<size).map { code[$0] } }
  }
}
