// What we wrote into a provider's items a moment ago, as it was read back, so that the signals that our own writes
// cause can be told from changes by others, also those that come after the answer. Of a secret it keeps a
// fingerprint under a key of this process that Swift's hashing makes, and no secret.

import GLibLoop
import SecretMemory
import VaultModel

/// The items of one provider that we wrote lately.
@GLibActor
struct Writings {
  /// What an item was read to be after we wrote it.
  struct Writing {
    let attributes: [String: String]
    let label: String
    let fingerprint: Int
    /// Signals that came up to here are older than what was read.
    let arrival: UInt64
    /// Until when signals may be about our own write.
    let end: Deadline
  }

  private var writings: [String: Writing] = [:]

  init() {}

  /// What was written lately at a path; `nil` where a signal about it is somebody else's.
  subscript(path: String) -> Writing? {
    guard let writing = writings[path], !writing.end.isOver else { return nil }
    return writing
  }

  /// Notes what an item was read to be after we wrote it.
  mutating func note(_ item: Item, fingerprint: Int, arrival: UInt64) {
    if writings.count >= Limits.knownWritings { writings = writings.filter { !$1.end.isOver } }
    if writings.count >= Limits.knownWritings { writings = [:] }
    writings[item.path] = Writing(
      attributes: item.attributes, label: item.label, fingerprint: fingerprint, arrival: arrival,
      end: .after(milliseconds: Limits.echoMilliseconds))
  }

  /// The item was changed by somebody, or is gone.
  mutating func forget(_ path: String) { writings[path] = nil }

  /// A number that tells a secret from any other, in this process only.
  static func fingerprint(_ secret: borrowing SecretBytes) -> Int {
    secret.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { bytes in
        var hasher = Hasher()
        unsafe hasher.combine(bytes: bytes)
        return hasher.finalize()
      }
    }
  }
}

extension Writings.Writing {
  /// Whether an item and its secret are still what we wrote.
  func isStill(_ item: Item, fingerprint: Int) -> Bool {
    self.fingerprint == fingerprint && attributes == item.attributes
      && ExactText(label) == ExactText(item.label)
  }
}
