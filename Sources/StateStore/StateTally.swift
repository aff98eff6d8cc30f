// What is true of `state.db` as a whole after the last commit: known to both threads, so that the main thread
// asks no database for it.

import Synchronization
import VaultCore
import VaultModel

/// Numbers of the whole state.
struct StateNumbers: Hashable, Sendable {
  /// The largest version ever given.
  var highest: Version = 0
  /// Whether a Secret Service ever answered.
  var providerAnswered = false
  /// Keys of which anything is known.
  var records = 0
  /// Keys that the Secret Service has.
  var present = 0
  /// Removals that are outstanding.
  var removals = 0
  /// The latest wall time that was recorded.
  var latest = WallTime(milliseconds: 0)
  /// Removals of whole namespaces that are outstanding.
  var namespaceRemovals: [NamespaceRemoval] = []
}

/// The numbers as they are on the disk.
final class StateTally: Sendable {
  private let numbers: Mutex<StateNumbers>

  init(_ numbers: StateNumbers) {
    self.numbers = Mutex(numbers)
  }

  var committed: StateNumbers {
    get { numbers.withLock { $0 } }
    set { numbers.withLock { $0 = newValue } }
  }
}
