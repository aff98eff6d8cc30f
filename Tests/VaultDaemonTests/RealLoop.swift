// The daemon's own event loop, as a job of the thread that all tests share: readiness, nested jobs and wake-ups are
// the real ones. One for the process, since one thread at a time may run the actor's jobs; once it runs, it runs those
// of every other suite as well.

import TestSupport
import VaultCore

@testable import VaultDaemon

/// The loop of this process; started with its first use.
enum RealLoop {
  @VaultActor private static var running: EventLoop?

  /// The loop, while it runs.
  nonisolated static func get() async throws -> EventLoop {
    _ = started
    return try await made()
  }

  @VaultActor private static func made() throws -> EventLoop {
    if let running { return running }
    let loop = try EventLoop(clock: SystemClock())
    running = loop
    return loop
  }

  /// Runs the loop; a job that never ends.
  @VaultActor fileprivate static func run() throws {
    try made().run()
  }
}

private let started: Void = {
  startVaultActor()
  Task { @VaultActor in try RealLoop.run() }
}()
