// Who asks: one connection of one client, as far as the vault has to know. A lease belongs to a connection and ends
// with it. Says nothing of processes or users.

/// Names a connection; never used again.
public struct CallerID: Hashable, Sendable {
  /// Its number.
  public let number: UInt64

  /// The connection of this number.
  public init(_ number: UInt64) {
    self.number = number
  }
}
