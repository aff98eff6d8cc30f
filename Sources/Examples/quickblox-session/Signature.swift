// The signature of a request for a session: HMAC-SHA1 (RFC 2104) over the parameters, as QuickBlox wants it.

import COpenSSL
import Foundation
import VaultClient

/// Signs parameters.
/// - Parameters:
///   - parameters: the others, by their names.
///   - secret: the authorization secret.
/// - Returns: 40 hexadecimal digits.
func signature(of parameters: [String: String], with secret: SharedSecret) -> String {
  let text = Array(
    parameters.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { "\($0.key)=\($0.value)" }
      .joined(separator: "&").utf8)
  var digest = [UInt8](repeating: 0, count: 20)
  secret.withBytes { secret in
    unsafe secret.withUnsafeBytes { key in
      _ = unsafe HMAC(EVP_sha1(), key.baseAddress, Int32(key.count), text, text.count, &digest, nil)
    }
  }
  return digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}
