// Watching: who wants to know of changes, and what each was not told yet. A watcher takes events when it can; nobody
// waits for it, and what it does not take is bounded. Knows no connection.

import VaultModel

/// One watcher's events, in their order.
@VaultActor
public final class Watching {
  /// Called when there is an event again after there was none.
  public var onEvents: (@VaultActor () -> Void)?

  let filter: WatchFilter
  private weak var watchers: Watchers?
  private var events: [VaultEvent] = []
  private var taken = 0

  fileprivate init(_ filter: WatchFilter, _ watchers: Watchers) {
    self.filter = filter
    self.watchers = watchers
  }

  /// How many events it has memory for, those included that were taken and not yet let go of.
  var kept: Int { events.count }

  /// The next event; `nil` where there is none now. `lost` without a key: events were missed, start again from a list.
  public func next() -> VaultEvent? {
    guard taken < events.count else { return nil }
    defer {
      taken += 1
      if taken == events.count { (events, taken) = ([], 0) }
    }
    return events[taken]
  }

  /// No more events.
  public func end() {
    watchers?.remove(self)
    (events, taken) = ([], 0)
  }

  fileprivate func take(_ event: VaultEvent) {
    let wasEmpty = events.isEmpty
    if events.count - taken >= Limits.watchEvents {
      (events, taken) = ([VaultEvent(.lost)], 0)
    }
    // A watcher that never quite catches up would keep all that it ever took.
    if taken >= Limits.watchEvents {
      events.removeFirst(taken)
      taken = 0
    }
    events.append(event)
    if wasEmpty { onEvents?() }
  }
}

/// All watchers.
@VaultActor
final class Watchers {
  private var watchings: [ObjectIdentifier: Watching] = [:]

  /// Whether anybody watches.
  var isEmpty: Bool { watchings.isEmpty }

  /// Begins to watch.
  func watch(_ filter: WatchFilter) -> Watching {
    let watching = Watching(filter, self)
    watchings[ObjectIdentifier(watching)] = watching
    return watching
  }

  /// Tells everybody who wants to know.
  func tell(_ event: VaultEvent) {
    for watching in watchings.values where watching.filter.wants(event) { watching.take(event) }
  }

  fileprivate func remove(_ watching: Watching) {
    watchings[ObjectIdentifier(watching)] = nil
  }
}

extension WatchFilter {
  /// What happens to a store concerns everybody.
  fileprivate func wants(_ event: VaultEvent) -> Bool {
    guard let id = event.id else { return true }
    return switch self {
    case .everything: true
    case .namespace(let namespace): id.key.namespace == namespace
    case .key(let key): id.key == key
    }
  }
}

extension Vault {
  /// Begins to watch; `end` ends it.
  public func watch(_ filter: WatchFilter) -> Watching {
    watchers.watch(filter)
  }
}
