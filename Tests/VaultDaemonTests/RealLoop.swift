// The daemon's own event loop, on a thread of its own, in place of the plain one that other tests share: readiness,
// nested jobs and wake-ups are the real ones. One for the process.

import Foundation
import Synchronization
import VaultCore

@testable import VaultDaemon

/// The loop of this process; started with its first use.
enum RealLoop {
  @VaultActor private static var running: EventLoop?

  /// The loop, while it runs.
  nonisolated static func get() async throws -> EventLoop {
    _ = thread
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

private let thread: Void = {
  let thread = Thread {
    Task { @VaultActor in try RealLoop.run() }
    // Jobs that came before the loop was there; the last one of them is the loop.
    while true {
      VaultActor.executor.runPending()
      usleep(1_000)
    }
  }
  thread.stackSize = 8 << 20
  thread.start()
}()
