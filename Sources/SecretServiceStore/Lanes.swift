// Changes of one key one after the other. One that was sent and not answered goes on after its request has ended: it
// keeps the others waiting, so that what a provider does late never undoes what came after it. Readers do not wait.

import GLibLoop
import VaultModel

/// The order of changes, key by key.
@GLibActor
final class Lanes {
  /// What a change that has outlived its request waits for.
  enum Hold {
    /// The answer to a call.
    case call
    /// A prompt on the screen.
    case prompt
  }

  private final class Lane {
    var isTaken = false
    var holds: [Hold] = []
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
    _ id: EntryID, _ allowance: Allowance, _ body: @GLibActor () async throws(Trouble) -> Result
  ) async throws(Trouble) -> Result {
    let lane = enter(id)
    defer { leave(id, lane) }
    while lane.isTaken || !lane.holds.isEmpty {
      let isPrompting = lane.holds.contains(.prompt)
      if isPrompting {
        guard allowance.interactive else { throw .promptNotWanted }
        allowance.extend()
      }
      guard await lane.waiters.wait(by: allowance.deadline) else {
        throw isPrompting ? .promptNotAnswered : .noAnswer
      }
    }
    lane.isTaken = true
    defer {
      lane.isTaken = false
      onEnd?(id)
      lane.waiters.wakeAll()
    }
    return try await body()
  }

  /// Keeps further changes of `id` waiting until `end` returns.
  func hold(_ id: EntryID, while hold: Hold, until end: @escaping @GLibActor () async -> Void) {
    let lane = enter(id)
    lane.holds.append(hold)
    Task { @GLibActor in
      await end()
      if let index = lane.holds.firstIndex(of: hold) { lane.holds.remove(at: index) }
      lane.waiters.wakeAll()
      leave(id, lane)
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
