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

  /// Whether nothing is recorded of any key or namespace.
  var isBlank: Bool { records == 0 && namespaceRemovals.isEmpty }
}

/// The numbers as they are on the disk.
final class StateTally: Sendable {
  private let numbers = Mutex(StateNumbers())
  // Asked with every request.
  private let blank = Atomic(false)

  var committed: StateNumbers {
    get { numbers.withLock { $0 } }
    set {
      numbers.withLock { numbers in
        numbers = newValue
        blank.store(newValue.isBlank, ordering: .releasing)
      }
    }
  }

  /// Whether nothing at all is recorded; false until what is on the disk is known.
  var isBlank: Bool { blank.load(ordering: .acquiring) }

  /// What is on the disk is not known any more.
  func doubt() {
    blank.store(false, ordering: .releasing)
  }
}
