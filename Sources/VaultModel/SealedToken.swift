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

  private let written = Mutex<[UInt8]>([])

  /// A token of these two.
  public init(entry: Entry, secret: any SealedSecret) {
    self.entry = entry
    self.secret = secret
  }

  /// Whether it is the token of this entry.
  public func isOf(_ id: EntryID) -> Bool { entry.id == id }

  /// Gives `body` what stands behind the secret in each answer, where the secret stands there byte for byte; nothing as
  /// long as nobody has said so.
  public func withTextBehindSecret<Result, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    try written.withLock { text throws(Failure) in try body(text.span) }
  }

  /// Says what stands behind the secret.
  public func setTextBehindSecret(_ text: [UInt8]) {
    written.withLock { $0 = text }
  }
}
