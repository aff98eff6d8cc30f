// One change of a thing at a time: of a key, or of the vault file's slots. Changes wait on stores; without turns a set
// could overtake a clear of the same key between two of their steps. Readers take no turn: they see the old or the new.

import VaultModel

/// First come, first served, for each `ID`.
@VaultActor
final class Turns<ID: Hashable & Sendable> {
  /// Who waits behind the change that is under way; a key that is not in here has none under way.
  private var waiting: [ID: [Promise<Void>]] = [:]

  /// Runs `change` when every earlier change of `id` has ended.
  func take<Result, Failure: Error>(
    _ id: ID, _ change: @VaultActor () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    if waiting[id] == nil {
      waiting[id] = []
    } else {
      await withPromise { waiting[id, default: []].append($0) }
    }
    defer { pass(id) }
    return try await change()
  }

  /// Whether no change of `id` is under way.
  func isFree(_ id: ID) -> Bool { waiting[id] == nil }

  /// How many changes of `id` wait for their turn.
  func waitingCount(_ id: ID) -> Int { waiting[id]?.count ?? 0 }

  private func pass(_ id: ID) {
    guard var queue = waiting[id], !queue.isEmpty else {
      waiting[id] = nil
      return
    }
    let next = queue.removeFirst()
    waiting[id] = queue
    next.resume()
  }
}
