// The vault's actor in tests: a thread of its own takes the place of the daemon's event loop.

import Foundation
import Synchronization
import VaultCore

/// Starts the thread that runs the jobs of the vault's actor; once a process. Call it in the `init` of every
/// suite whose tests use that actor: a test that is itself isolated to the actor cannot start its own thread.
public func startVaultActor() {
  _ = loop
}

private let loop: Void = {
  let work = DispatchSemaphore(value: 0)
  VaultActor.executor.onWork { work.signal() }
  let thread = Thread {
    while true {
      work.wait()
      while VaultActor.executor.runPending() > 0 {}
    }
  }
  thread.stackSize = 8 << 20
  thread.start()
}()
