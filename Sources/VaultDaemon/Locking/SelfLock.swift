// The vault locks itself: here the settings, the idle time and the login manager's news come together, and each
// occasion becomes one lock and one line of the log. It never unlocks anything: that takes a passphrase, a key file or
// a credential.

import GLibLoop
import Glibc
import VaultCore
import VaultModel

/// Locks the vault on the occasions that the settings name.
@VaultActor
final class SelfLock {
  /// Is told when requests use the vault.
  let idle: IdleWatch

  private let vault: Vault
  private let journal: Journal
  private var login: LoginWatch?
  private var triggers = LockTriggers()

  /// Locks `vault` on no occasion yet.
  init(vault: Vault, clock: any Clock, alarms: Alarms, journal: Journal) {
    self.vault = vault
    self.journal = journal
    idle = IdleWatch(clock: clock, alarms: alarms)
    idle.onIdle = { [unowned self] in
      if let seconds = self.triggers.afterIdle { lock(.idle(seconds: seconds)) }
    }
  }

  /// From now on these occasions count. Connects to the system bus where one of them needs it, and only then.
  func watch(for triggers: LockTriggers) {
    self.triggers = triggers
    idle.watch(for: triggers.afterIdle.map { $0 * 1_000 })
    if login == nil {
      guard triggers.needsLogin else { return }
      login = LoginWatch(
        user: geteuid(), lock: { [weak self] in self?.lock($0) },
        warn: { [journal] in journal.note(.warning, $0) })
    }
    Task { @GLibActor [login] in login?.watch(triggers) }
  }

  private func lock(_ occasion: LockOccasion) {
    if vault.isLocked { return }
    vault.lock()
    journal.note(.info, "the vault was locked: \(occasion.reason)")
  }
}
