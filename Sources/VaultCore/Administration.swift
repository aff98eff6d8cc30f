// What is asked of the vault as a whole: init, lock, unlock, slots, verify, status. Passes the file's own work
// on to it and adds the lock that covers every store.

import VaultModel

extension Vault {
  /// Makes the vault file with one slot.
  public func initialise(_ key: SlotKey) async throws(VaultError) {
    try await fileTurns.take(.file) { () async throws(VaultError) in try await file.initialise(key) }
  }

  /// Makes the vault forget everything: keys, and values in memory. Every get and set is `Locked` from here on.
  public func lock() {
    isLocked = true
    file.forget()
    secretService.forget()
  }

  /// Opens the vault file and lifts the lock. `nil` tries key files and credentials.
  public func unlock(_ key: SlotKey?) async throws(VaultError) {
    guard file.exists else {
      if key != nil {
        throw .invalidArgument(
          argument: "passphrase", reason: "there is no vault file to open; `vault init` makes one")
      }
      isLocked = false
      return
    }
    do {
      try await file.unlock(key, patience(interactive: false))
    } catch {
      // A file that can't be opened by anybody must not take the other store with it.
      if error.outcome == .damaged || error.outcome == .unsupportedVersion { isLocked = false }
      throw error
    }
    isLocked = false
    await removeStaleCopies()
  }

  /// The slots of the vault file.
  public func slots() throws(VaultError) -> [Slot] {
    try file.slots()
  }

  /// Adds a way to open the vault file.
  public func addSlot(_ key: SlotKey) async throws(VaultError) -> Slot {
    try await fileTurns.take(.file) { () async throws(VaultError) in try await file.addSlot(key) }
  }

  /// Removes a way to open the vault file.
  public func removeSlot(_ number: Int64) async throws(VaultError) {
    try await fileTurns.take(.file) { () async throws(VaultError) in try await file.removeSlot(number) }
  }

  /// Authenticates the whole vault file.
  public func verify() async throws(VaultError) -> Verification {
    try await file.verify()
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
    let session = StoreStatus(
      store: .session, state: .absent, detail: "not supported yet", entries: 0, pending: 0)
    return [provider, file.status, session]
  }
}
