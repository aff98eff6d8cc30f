// A vault file in memory whose writes wait for as long as a test wants.

import SecretMemory
import TestSupport
import VaultCore
import VaultModel

/// A fake vault file with a gate before its writes.
@VaultActor
final class SlowFile: VaultFile {
  var onOpened: (@VaultActor () async -> Void)?
  nonisolated let name = StoreName.file
  let inner = FakeFile()

  /// Whether writes wait.
  var isHolding = false
  /// How often something was looked up.
  private(set) var lookUps = 0
  /// How many wait now.
  var waiting: Int { held.count }

  private var held: [CheckedContinuation<Void, Never>] = []

  /// Lets every write that waits go on.
  func release() {
    isHolding = false
    let held = held
    self.held = []
    for continuation in held { continuation.resume() }
  }

  func write(_ entry: Entry, _ secret: SharedSecret, _ patience: Patience) async throws(WriteFailure) {
    if isHolding { await withCheckedContinuation { held.append($0) } }
    try await inner.write(entry, secret, patience)
  }

  func sealedToken(_ key: Span<UInt8>, _ account: Span<UInt8>) -> (any SealedToken)? {
    guard let token = inner.sealedToken(key, account) else { return nil }
    lookUps += 1
    return token
  }

  var status: StoreStatus { inner.status }
  var highestVersion: Version { inner.highestVersion }
  var exists: Bool { inner.exists }
  var isUnlocked: Bool { inner.isUnlocked }
  var recordCount: Int? { inner.recordCount }
  func lookUp(_ id: EntryID) -> LookUp {
    lookUps += 1
    return inner.lookUp(id)
  }
  func read(_ id: EntryID, _ patience: Patience) async throws(VaultError) -> Token? {
    try await inner.read(id, patience)
  }
  func remove(_ id: EntryID, version: Version, _ patience: Patience) async throws(WriteFailure) -> Bool {
    try await inner.remove(id, version: version, patience)
  }
  func list(_ namespace: Namespace?, _ patience: Patience) async throws(VaultError) -> [Entry] {
    try await inner.list(namespace, patience)
  }
  func forEach(
    in namespace: Namespace?, _ patience: Patience, _ body: (Entry) -> Void
  ) async throws(VaultError) {
    for entry in try await list(namespace, patience) { body(entry) }
  }
  func forget() { inner.forget() }
  func initialise(_ key: SlotKey) async throws(VaultError) { try await inner.initialise(key) }
  func rest() {}

  func update(_ entry: Entry, _ patience: Patience) async throws(WriteFailure) {
    try await inner.update(entry, patience)
  }
  func unlock(_ key: SlotKey?, _ patience: Patience) async throws(VaultError) {
    try await inner.unlock(key, patience)
  }
  func slots() throws(VaultError) -> [Slot] { try inner.slots() }
  func addSlot(_ key: SlotKey) async throws(VaultError) -> Slot { try await inner.addSlot(key) }
  func removeSlot(_ number: Int64) async throws(VaultError) { try await inner.removeSlot(number) }
  func verify() async throws(VaultError) -> Verification { try await inner.verify() }
}
