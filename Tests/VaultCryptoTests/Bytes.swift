// Published vectors are hexadecimal; the calls take spans and secrets.

import SecretMemory

@testable import VaultCrypto

/// The bytes that hexadecimal text stands for; white space is skipped.
func bytes(_ hex: String) -> [UInt8] {
  let digits = hex.compactMap { $0.hexDigitValue }.map { UInt8($0) }
  return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
}

/// A secret that holds these bytes.
func secret(_ bytes: [UInt8]) throws -> SecretBytes { try SecretBytes(copying: bytes.span) }

/// What a secret holds.
func contents(_ secret: borrowing SecretBytes) -> [UInt8] {
  secret.withBytes { span in span.indices.map { span[$0] } }
}

/// What a digest holds.
func contents(_ digest: Digest) -> [UInt8] {
  digest.withBytes { span in span.indices.map { span[$0] } }
}

// `#expect` takes no spans: these take and give arrays.

extension SealingKey {
  func seal(_ plain: [UInt8], to associated: [UInt8] = [], nonce: Nonce? = nil) throws(CryptoError) -> [UInt8]
  {
    try seal(plain.span, associated: associated.span, nonce: nonce)
  }

  func opened(_ sealed: [UInt8], to associated: [UInt8] = []) throws(CryptoError) -> [UInt8] {
    contents(try open(sealed.span, associated: associated.span))
  }
}

extension Shield {
  func cover(_ secret: [UInt8]) throws(CryptoError) -> ShieldedSecret { try cover(secret.span) }
}

extension ShieldedSecret {
  func uncovered() throws(SecretMemoryError) -> [UInt8] { contents(try opened()) }
}

extension AuthenticationKey {
  func code(ofBytes bytes: [UInt8]) throws(CryptoError) -> Digest { try code(of: bytes.span) }
}

func nonce(_ bytes: [UInt8]) -> Nonce? { Nonce(bytes.span) }
func digest(_ bytes: [UInt8]) -> Digest? { Digest(bytes.span) }
func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool { constantTimeEqual(left.span, right.span) }

func derived(_ key: [UInt8], salt: [UInt8], info: [UInt8], count: Int) throws -> [UInt8] {
  contents(
    try KeyDerivation.hkdf(from: try secret(key), salt: salt.span, info: info.span, count: count))
}

func derived(_ key: [UInt8], salt: [UInt8], label: StaticString, count: Int) throws -> [UInt8] {
  contents(try KeyDerivation.hkdf(from: try secret(key), salt: salt.span, label: label, count: count))
}
