// What is asked of the vault as a whole: init, lock, unlock, slots, verify, status. Passes the file's own work
// on to it and adds the lock that covers every store.

import VaultModel

extension Vault {
  /// Makes the vault file with one slot.
  public func initialise(_ key: SlotKey) async throws(VaultError) {
    try await withFile { vault, _ async throws(VaultError) in try await vault.file.initialise(key) }
  }

  /// Makes the vault forget everything: keys, and values in memory. Every get and set is `Locked` from here on.
  public func lock() {
    let wasLocked = isLocked
    isLocked = true
    file.forget()
    session.forget()
    secretService.forget()
    forgetReads()
    if !wasLocked { watchers.tell(VaultEvent(.locked)) }
  }

  /// Opens the vault file and lifts the lock. `nil` tries key files and credentials.
  public func unlock(_ key: SlotKey?) async throws(VaultError) {
    try await withFile { vault, patience async throws(VaultError) in try await vault.unlockNow(key, patience)
    }
  }

  private func unlockNow(_ key: SlotKey?, _ patience: Patience) async throws(VaultError) {
    guard file.exists else {
      if key != nil {
        throw .invalidArgument(
          argument: "passphrase", reason: "there is no vault file to open; `vault init` makes one")
      }
      try await lift()
      return
    }
    let wasOpen = file.isUnlocked
    do {
      try await file.unlock(key, patience)
    } catch {
      // A file that can't be opened by anybody must not take the other stores with it.
      if error.outcome == .damaged || error.outcome == .unsupportedVersion { try await lift() }
      throw error
    }
    if !wasOpen { watchers.tell(VaultEvent(.unlocked, store: .file)) }
    try await lift()
    await opened()
    settle()
  }

  private func lift() async throws(VaultError) {
    // Where it has no place it is no reason to keep the vault locked.
    try? await session.unlock()
    guard isLocked else { return }
    isLocked = false
    watchers.tell(VaultEvent(.unlocked))
  }

  /// The slots of the vault file.
  public func slots() throws(VaultError) -> [Slot] {
    try file.slots()
  }

  /// Adds a way to open the vault file.
  public func addSlot(_ key: SlotKey) async throws(VaultError) -> Slot {
    try await withFile { vault, _ async throws(VaultError) in try await vault.file.addSlot(key) }
  }

  /// Removes a way to open the vault file.
  public func removeSlot(_ number: Int64) async throws(VaultError) {
    try await withFile { vault, _ async throws(VaultError) in try await vault.file.removeSlot(number) }
  }

  /// Authenticates the whole vault file.
  public func verify() async throws(VaultError) -> Verification {
    try await deadlines.run(patience(interactive: false), late: self.late(.file, nil, isChange: false)) {
      _ async throws(VaultError) in
      try await self.file.verify()
    }
  }

  /// Runs what concerns the file as a whole, one after the other, and not for those whose time is over: a queue of
  /// wrong passphrases ends with its askers.
  private func withFile<Success: Sendable>(
    _ body: @escaping @VaultActor (Vault, Patience) async throws(VaultError) -> Success
  ) async throws(VaultError) -> Success {
    let patience = patience(interactive: false)
    return try await deadlines.run(patience, late: self.late(.file, nil, isChange: true)) {
      life async throws(VaultError) in
      try await self.fileTurns.take(.file) { () async throws(VaultError) in
        try self.requireTime(life, nil)
        return try await body(self, patience)
      }
    }
  }

  /// How the stores are, in the order of `StoreName`. Asks nobody.
  public var storeStatuses: [StoreStatus] {
    var provider = secretService.status
    provider.entries = state.presentCount
    provider.pending = state.removalCount
    if preference == .file {
      provider.state = .absent
      provider.detail = "left out by the setting store=file"
    }
    return [provider, file.status, session.status]
  }
}
