// A token that was read before and is likely to be asked for again. Its secret stays sealed until an answer is written,
// and is opened in the very place from which that is sent. A store keeps it beside the record; who writes answers leaves
// in it what all of them have in common. It never changes: a change of the record makes another one.

import SecretMemory
import Synchronization

/// A token whose secret is opened where it is written.
public final class SealedToken: Sendable {
  /// What is known of it.
  public let entry: Entry
  /// The secret.
  public let secret: any SealedSecret

  /// How the secret stands in an answer.
  public enum Form: Sendable {
    /// Nobody has looked yet.
    case unknown
    /// Otherwise than byte for byte.
    case written
    /// Byte for byte; this is what stands behind it.
    case plain(textBehind: [UInt8])
  }

  private let kept = Mutex(Form.unknown)

  /// A token of these two.
  public init(entry: Entry, secret: any SealedSecret) {
    self.entry = entry
    self.secret = secret
  }

  /// Whether it is the token of this entry.
  public func isOf(_ id: EntryID) -> Bool { entry.id == id }

  /// Gives `body` the form of the secret, as far as it is known.
  public func withForm<Result, Failure: Error>(
    _ body: (Form) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try kept.withLock { form throws(Failure) in try body(form) }
  }

  /// Says what the form of the secret is.
  public func setForm(_ form: Form) {
    kept.withLock { $0 = form }
  }
}
