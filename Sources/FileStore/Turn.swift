// One thing at a time, first come, first served: what takes long, or what must not be done twice. Who waits holds
// nothing meanwhile.

import VaultCore
import VaultModel

/// A turn that one has and the others wait for.
@VaultActor
final class Turn {
  /// Who waits; `nil` where nobody has the turn.
  private var waiting: [Promise<Void>]?

  nonisolated init() {}

  /// How many wait.
  var waitingCount: Int { waiting?.count ?? 0 }

  /// Runs `body` when everybody who came earlier is done.
  func take<Result, Failure: Error>(
    _ body: @VaultActor () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    if waiting == nil {
      waiting = []
    } else {
      await withPromise { waiting?.append($0) }
    }
    defer { pass() }
    return try await body()
  }

  private func pass() {
    guard let next = waiting?.first else {
      waiting = nil
      return
    }
    waiting?.removeFirst()
    next.resume()
  }
}
