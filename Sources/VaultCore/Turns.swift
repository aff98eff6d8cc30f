// One change of a key at a time. Changes wait on stores; without turns a set could overtake a clear of the
// same key between two of their steps. Readers take no turn: they see the old or the new.

import VaultModel

/// First come, first served, key by key.
@VaultActor
final class Turns {
  /// Who waits behind the change that is under way; a key that is not in here has none under way.
  private var waiting: [EntryID: [CheckedContinuation<Void, Never>]] = [:]

  /// Runs `change` when every earlier change of `id` has ended.
  func take<Result, Failure: Error>(
    _ id: EntryID, _ change: @VaultActor () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    if waiting[id] == nil {
      waiting[id] = []
    } else {
      await withCheckedContinuation { waiting[id, default: []].append($0) }
    }
    defer { pass(id) }
    return try await change()
  }

  /// Whether no change of `id` is under way.
  func isFree(_ id: EntryID) -> Bool { waiting[id] == nil }

  private func pass(_ id: EntryID) {
    guard var queue = waiting[id], !queue.isEmpty else {
      waiting[id] = nil
      return
    }
    let next = queue.removeFirst()
    waiting[id] = queue
    next.resume()
  }
}
