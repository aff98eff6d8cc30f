// The process's secret memory as a whole, and what can go wrong with it. Below every step of a request.

import Synchronization

/// What can go wrong with secret memory. `VaultModel` maps it to an outcome.
public enum SecretMemoryError: Error, Equatable, Sendable {
  /// The system gave no memory for so many bytes.
  case exhausted(bytes: Int)
  /// Text that was to be Base64 (RFC 4648, section 4, padded) is not.
  case notBase64
  /// A passphrase that has to travel as text is not UTF-8.
  case notText
  /// A secret that is kept sealed was not opened by the library that has sealed it.
  case notOpened
}

/// The process's secret memory.
public enum SecretMemory {
  /// One for the process: any thread takes from it and gives back to it, one at a time.
  static let arena = Mutex(Arena())

  /// False once the kernel refused to keep some secret out of swap (RLIMIT_MEMLOCK), out of core dumps or out
  /// of forked children.
  public static var isLocked: Bool { arena.withLock { $0.isGuarded } }

  /// Gives memory in which nothing is held back to the system. What is taken next costs a page fault more.
  public static func giveBackUnused() { arena.withLock { $0.giveBackUnused() } }
}
