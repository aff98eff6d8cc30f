// Puts the daemon together: settings, protection, signals, then the stores behind the vault and the loop in front of
// it. The order matters: nothing that holds a secret or starts a thread comes before the process is protected.

import Database
import FileStore
import GLibLoop
import Glibc
import SecretServiceStore
import StateStore
import VaultCore
import VaultDaemon
import VaultModel

/// Runs the daemon on the calling thread, which must be the main one, and ends the process.
func runVaultd() -> Never {
  Hardening.apply()
  let manager = ServiceManager.takeFromEnvironment()
  do throws(StartFailure) {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch try Invocation(arguments: arguments, surroundings: .ofThisProcess) {
    case .say(let text):
      print(text)
      exit(0)
    case .run(let start):
      SessionBus.findAddress()
      serve(start, manager)
    }
  } catch {
    Daemon.report(error, to: manager)
    exit(error.exitStatus)
  }
}

private func serve(_ start: Invocation.Start, _ manager: ServiceManager) -> Never {
  Task { @VaultActor in
    // Not exit: other threads are at work, and what exit tears down is theirs too.
    _exit(Daemon.run(start, manager: manager, make: makeService))
  }
  // The job that was just made, which never returns.
  VaultActor.executor.runPending()
  _exit(70)
}

@VaultActor
private func makeService(_ settings: Settings, _ clock: any Clock) -> Service {
  let folder = DataFolder(settings.dataFolder)
  let file = FileStore(folder: folder, clock: clock, credentials: credentialsFolder())
  let state = StateStore(folder: folder, clock: clock)
  let secretService = SecretServiceStore(plainSession: settings.plainSession, clock: clock)
  let session = SessionStore(
    runtimeFolder: Surroundings.ofThisProcess.runtimeFolder, clock: clock,
    startedByManager: isServiceOfManager)
  let vault = Vault(
    preference: settings.store, secretService: secretService, file: file, session: session, state: state,
    clock: clock, timeouts: settings.timeouts)
  return Service(
    vault: vault, warnings: state.notice.map { [$0] } ?? [],
    start: {
      // A bus that is slow or absent is no reason to wait with tokens of the file. One that is not asked for anything
      // is not watched either.
      if settings.store != .file { Task { await secretService.start() } }
      await vault.start()
    },
    close: {
      await secretService.close()
      await state.close()
      await file.close()
      await session.close()
    })
}

/// Whether systemd executed this very process, and not one that it comes from (systemd.exec(5)).
private var isServiceOfManager: Bool {
  guard let number = unsafe getenv("SYSTEMD_EXEC_PID") else { return false }
  return unsafe String(validatingCString: number) == "\(getpid())"
}

/// Where systemd puts the credentials of the unit (systemd.exec(5)).
private func credentialsFolder() -> String? {
  guard let path = unsafe getenv("CREDENTIALS_DIRECTORY") else { return nil }
  return unsafe String(validatingCString: path)
}
