// By what a secret in the Secret Service is known again after the daemon was killed in the middle of a write: a code of
// it under a key that lives as long as the login session, outside of the daemon and on no disk (`SessionKeeper`). The
// code stands in `state.db` from the intent to its outcome. Who has that file alone can't test a guess by it, nor see
// that two secrets are the same, since each code is of one version of one key. Keeps no secret and no key.

import SecretMemory
import VaultCrypto
import VaultModel

/// What tells the secret of one write from every other.
public struct Fingerprint: Hashable, Sendable {
  /// The size in bytes.
  public static let size = 24
  /// So many of them tell which key it was made under; the others are the code.
  private static let nameSize = 8

  /// Its bytes.
  public let bytes: [UInt8]

  /// The fingerprint that these bytes are; `nil` for another number of them.
  public init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.size else { return nil }
    self.bytes = bytes
  }

  /// The fingerprint of the secret of an entry under a session's key.
  init(of secret: SharedSecret, in entry: Entry, under key: SharedSecret) throws(CryptoError) {
    let whole: SecretBytes
    do throws(SecretMemoryError) {
      whole = try key.withBytes { bytes throws(SecretMemoryError) in try SecretBytes(copying: bytes) }
    } catch {
      throw .exhausted(bytes: key.count)
    }
    let key = try AuthenticationKey(whole)
    let name = try key.code { message in message.add(1) }
    let code = try key.code { message in
      message.add(2)
      message.add(text: entry.id.key.text)
      message.add(text: entry.id.account.text)
      message.add(UInt64(bitPattern: entry.version))
      secret.withBytes { message.add($0) }
    }
    func first(_ count: Int, of digest: Digest) -> [UInt8] {
      digest.withBytes { bytes in (0..<count).map { bytes[$0] } }
    }
    bytes = first(Self.nameSize, of: name) + first(Self.size - Self.nameSize, of: code)
  }

  /// Whether both were made under the same key: only then does it tell anything that they differ.
  func hasKey(of other: Fingerprint) -> Bool {
    bytes.prefix(Self.nameSize) == other.bytes.prefix(Self.nameSize)
  }
}

extension Vault {
  /// The fingerprint of what is about to be written; `nil` where the session keeps no key.
  func fingerprint(of secret: SharedSecret, in entry: Entry) -> Fingerprint? {
    guard let key = session.fingerprintKey(making: true) else { return nil }
    return try? Fingerprint(of: secret, in: entry, under: key)
  }

  /// Whether a secret is the one that an intent was about; `nil` where nobody can tell any more.
  func isSecret(_ secret: SharedSecret, of intent: Intent) -> Bool? {
    guard let recorded = intent.fingerprint, let key = session.fingerprintKey(making: false),
      let found = try? Fingerprint(of: secret, in: intent.entry, under: key), found.hasKey(of: recorded)
    else { return nil }
    return constantTimeEqual(found.bytes.span, recorded.bytes.span)
  }
}
