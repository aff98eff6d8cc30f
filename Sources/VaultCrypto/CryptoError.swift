// What can go wrong with cryptography, and the one place where it becomes an outcome. Beside the way of a
// request. Carries OpenSSL's codes and its own fixed texts; never a byte of what was sealed, opened or derived.

import COpenSSL
import SecretMemory
import VaultModel

/// Why a sealed value was not opened, or a key not made.
public enum CryptoError: Error, Hashable, Sendable {
  /// The bytes, what they belong to, or the key are not those of the sealing.
  case authentication
  /// The key has sealed as many values as it may.
  case worn
  /// A length or a cost that the algorithm does not have, or that is out of our bounds; the text says which.
  case parameter(String)
  /// There is no secret memory for so many bytes.
  case exhausted(bytes: Int)
  /// OpenSSL failed: its error code and what it says of it.
  case library(code: UInt, text: String)
}

extension CryptoError {
  init(_ error: SecretMemoryError) {
    switch error {
    case .exhausted(let bytes): self = .exhausted(bytes: bytes)
    case .notBase64: self = .parameter("not Base64")
    case .notText: self = .parameter("not text")
    case .notOpened: self = .parameter("not opened")
    }
  }

  /// The failure of the OpenSSL call that just failed on this thread. Empties the thread's error queue, so that
  /// no later failure is taken for this one.
  static func ofLibrary(_ call: StaticString) -> CryptoError {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    let reason = unsafe ERR_reason_error_string(code)
    let text = unsafe reason.map { unsafe String(cString: $0) } ?? "no reason given"
    return .library(code: UInt(code), text: "\(call): \(text)")
  }
}

extension VaultError {
  /// The outcome of a failure of cryptography on something that is kept in `place`.
  public init(_ error: CryptoError, in place: Place) {
    switch error {
    case .authentication:
      self = .damaged(
        store: place, reason: "what is kept in \(place.rawValue) is not what was written there")
    case .worn:
      self = .unavailable(
        store: place,
        reason: "the key of \(place.rawValue) has sealed as many values as it may; make a new vault file")
    case .parameter(let which):
      self = .internal(reason: "cryptography was asked for what it has not: \(which)")
    case .exhausted(let bytes):
      self = VaultError(SecretMemoryError.exhausted(bytes: bytes))
    case .library(let code, let text):
      self = .internal(reason: "OpenSSL failed (\(String(code, radix: 16))): \(text)")
    }
  }
}
