// Where the session's keys are while no daemon runs, the session store's data key and the one of fingerprints: in a keyring of the kernel, in memory, gone with the
// login session. Under systemd it is the ring of the user's manager, which the unit shares (KeyringMode=inherit):
// that ends with the last session of the user. A daemon that was started by hand has the ring of its terminal there,
// which the next one does not share, so it uses the user's, and so does one whose manager has no ring (on systems where
// PAM gives it none). Reads the key straight into secret memory.

import CLinux
import Glibc
import SecretMemory
import VaultCrypto
import VaultModel

/// The place of one key in the kernel's keyrings.
struct SessionRing: Sendable {
  /// What a key is for.
  enum Purpose: String {
    /// The data key of the session store.
    case data = ""
    /// Tells secrets in the Secret Service from each other.
    case fingerprints = ":fingerprints"
  }

  /// The key's name: one for each runtime folder and purpose.
  let name: String
  private let rings: [clinux_ring]

  /// The place of a key of the session whose store is in `folder`.
  /// - Parameters:
  ///   - purpose: what the key is for.
  ///   - folder: the path of the session store's folder.
  ///   - startedByManager: whether this process is a service of the user's manager.
  init(_ purpose: Purpose = .data, folder: String, startedByManager: Bool) {
    name = "vaultd:\(folder)\(purpose.rawValue)"
    rings =
      startedByManager && clinux_has_session_ring()
      ? [CLINUX_SESSION_RING, CLINUX_USER_RING] : [CLINUX_USER_RING, CLINUX_SESSION_RING]
  }

  /// Whether the key is there.
  var holdsKey: Bool { rings.contains { unsafe clinux_key_find($0, name) >= 0 } }

  /// Reads the key; `nil` where there is none any more.
  func read() throws(VaultError) -> SharedSecret? {
    var refused: Int32 = 0
    for ring in rings {
      let number = unsafe clinux_key_find(ring, name)
      if number >= 0 { return try read(number) }
      if refused == 0, ![ENOKEY, EKEYREVOKED, EKEYEXPIRED].contains(-number) { refused = -number }
    }
    if refused != 0 { throw failure(refused) }
    return nil
  }

  private func read(_ number: Int32) throws(VaultError) -> SharedSecret {
    var key: SecretBytes
    do throws(SecretMemoryError) { key = try SecretBytes(zeros: SealingKey.size) } catch {
      throw VaultError(error)
    }
    let size = key.withMutableBytes { bytes in
      unsafe bytes.withUnsafeMutableBytes { unsafe clinux_key_read(number, $0.baseAddress, $0.count) }
    }
    guard size == SealingKey.size else { throw failure(size < 0 ? Int32(-size) : EBADMSG) }
    return SharedSecret(key)
  }

  /// Keeps a key, in place of the one of the same name.
  func keep(_ key: SharedSecret) throws(VaultError) {
    let number = key.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe clinux_key_put(rings[0], name, $0.baseAddress, $0.count) }
    }
    if number < 0 { throw failure(-number) }
  }

  /// Takes the key out of the rings, as the end of a session does.
  func drop() {
    for ring in rings {
      let number = unsafe clinux_key_find(ring, name)
      if number >= 0 { _ = clinux_key_remove(ring, number) }
    }
  }

  private func failure(_ error: Int32) -> VaultError {
    let text = unsafe String(cString: strerror(error))
    return .unavailable(
      store: .session, reason: "the kernel's keyring does not keep the key of tokens until logout: \(text)")
  }
}
