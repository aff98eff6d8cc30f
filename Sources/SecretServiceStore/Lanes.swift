// Changes of one key one after the other, and readers kept away from the moments in which what the provider
// has is being checked: a value that it changed on the way in is replaced before anybody reads it.

import GLibLoop
import VaultModel

/// The order of changes and reads, key by key.
@GLibActor
final class Lanes {
  private final class Lane {
    var isTaken = false
    /// Whether what the provider has is not yet what it is to have.
    var isUnsettled = false
    /// Counts the changes that were begun.
    var changes = 0
    /// Who holds the lane or waits for it.
    var users = 0
    let waiters: Waiters
    init(_ waiters: Waiters) { self.waiters = waiters }
  }

  /// Called when a change has ended, before the next one of the same key begins.
  var onEnd: (@GLibActor (EntryID) -> Void)?

  private var lanes: [EntryID: Lane] = [:]

  init() {}

  /// Whether a change of `id` is under way.
  func isChanging(_ id: EntryID) -> Bool { lanes[id]?.isTaken ?? false }

  /// Runs a change when every earlier one of the same key has ended.
  func change<Result>(
    _ id: EntryID, by deadline: Deadline, _ body: @GLibActor () async throws(Trouble) -> Result
  ) async throws(Trouble) -> Result {
    let lane = enter(id)
    defer { leave(id, lane) }
    while lane.isTaken {
      guard await lane.waiters.wait(by: deadline) else { throw .noAnswer }
    }
    lane.isTaken = true
    defer {
      lane.isTaken = false
      onEnd?(id)
      lane.waiters.wakeAll()
    }
    return try await body()
  }

  /// Runs the part of a change in which readers must not look.
  func unsettled<Result>(
    _ id: EntryID, _ body: @GLibActor () async throws(Trouble) -> Result
  ) async throws(Trouble) -> Result {
    let lane = enter(id)
    lane.isUnsettled = true
    lane.changes += 1
    defer {
      lane.isUnsettled = false
      lane.waiters.wakeAll()
      leave(id, lane)
    }
    return try await body()
  }

  /// Runs a read, again where a change went on meanwhile.
  func read<Result>(
    _ id: EntryID, _ allowance: Allowance, _ body: @GLibActor () async throws(Trouble) -> Result
  ) async throws(Trouble) -> Result {
    let lane = enter(id)
    defer { leave(id, lane) }
    while true {
      while lane.isUnsettled {
        guard await lane.waiters.wait(by: allowance.deadline) else { throw .noAnswer }
      }
      let changes = lane.changes
      let result = try await body()
      if lane.changes == changes { return result }
    }
  }

  private func enter(_ id: EntryID) -> Lane {
    let lane = lanes[id] ?? Lane(Waiters())
    lanes[id] = lane
    lane.users += 1
    return lane
  }

  private func leave(_ id: EntryID, _ lane: Lane) {
    lane.users -= 1
    if lane.users == 0 { lanes[id] = nil }
  }
}
