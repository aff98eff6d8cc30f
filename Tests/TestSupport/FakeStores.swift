// Stores in memory for tests of the vault's own decisions. They keep the protocols' promises, and fail where
// a test says so. The real stores have tests of their own; nothing of this is in the product.

import SecretMemory
import VaultCore
import VaultModel

/// A provider that is there, locked, or away, as the test says.
@VaultActor
public final class FakeProvider: ObservedStore {
  public nonisolated let name = StoreName.secretService
  public var items: [EntryID: Token] = [:]
  /// What every call fails with; `nil` while the provider answers.
  public var trouble: VaultError?
  /// Keys that it refuses to store or to remove.
  public var refused: Set<EntryID> = []
  /// What the next write does although it fails with `trouble`.
  public var writesInSpiteOfTrouble = false
  /// How far a write over an item comes.
  public enum Reach: Sendable, CaseIterable { case nothing, secret, all }
  /// How far writes come before whoever waits for them is killed; `nil` where they are answered.
  public var cutsOff: Reach?
  /// What happens between a write and its acknowledgement.
  public var afterWrite: (@VaultActor () -> Void)?
  public var calls = 0
  public var onChange: (@VaultActor ([StoreChange]) -> Void)?

  public init() {}

  private var refusal: VaultError { .unavailable(store: .secretService, reason: "it refuses this one") }

  public var isPrompting = false
  /// Whether reads and writes wait; `release` lets them go on.
  public var isHolding = false
  /// How many wait now.
  public var waiting: Int { held.count }
  private var held: [CheckedContinuation<Void, Never>] = []

  /// Lets everything that waits go on.
  public func release() {
    isHolding = false
    let held = held
    self.held = []
    for continuation in held { continuation.resume() }
  }

  private func hold() async {
    if isHolding { await withCheckedContinuation { held.append($0) } }
  }

  /// Another program puts an item there: without a version, with its date.
  public func put(_ id: EntryID, _ secret: SharedSecret, at date: WallTime) {
    let entry = Entry(
      id: id, version: 0, created: date, modified: date, size: secret.count, store: .secretService)
    items[id] = Token(entry: entry, secret: secret)
    changes[id] = date
    onChange?([.itemChanged(id)])
  }

  /// When items were changed, where a test says so.
  public var changes: [EntryID: WallTime] = [:]
  public func lastChange(_ id: EntryID, _ patience: Patience) async throws(VaultError) -> WallTime? {
    if let trouble { throw trouble }
    return items[id].map { changes[id] ?? $0.entry.modified }
  }
  public var provider: String? { trouble == nil ? "fake-provider" : nil }

  public var status: StoreStatus {
    StoreStatus(
      store: .secretService, state: trouble == nil ? .available : .unavailable, detail: "fake-provider",
      entries: 0, pending: 0)
  }
  public var highestVersion: Version { 0 }
  public func lookUp(_ id: EntryID) -> LookUp { .mustWait }
  public func forget() {}

  public func read(_ id: EntryID, _ patience: Patience) async throws(VaultError) -> Token? {
    calls += 1
    // What it answers is what it had when it was asked.
    let found = items[id]
    await hold()
    if let trouble { throw trouble }
    return found
  }

  public func write(
    _ entry: Entry, _ secret: SharedSecret, _ patience: Patience
  ) async throws(WriteFailure) {
    calls += 1
    await hold()
    if refused.contains(entry.id) { throw WriteFailure(refusal) }
    var kept = entry
    (kept.setAt, kept.lastUse) = (nil, nil)
    if let cutsOff {
      switch (cutsOff, items[entry.id]) {
      case (.nothing, _): break
      case (.secret, let item?):
        // The item's attributes and its label are those that it had; its date is the provider's to set.
        var had = item.entry
        had.size = secret.count
        if had.version == 0 { had.modified = entry.modified }
        items[entry.id] = Token(entry: had, secret: secret)
      // A new item is there with all it has.
      case (.secret, nil), (.all, _): items[entry.id] = Token(entry: kept, secret: secret)
      }
      throw WriteFailure(
        .unavailable(store: .secretService, reason: "no answer in time"), mayTakeEffect: true)
    }
    if trouble == nil || writesInSpiteOfTrouble { items[entry.id] = Token(entry: kept, secret: secret) }
    if let trouble { throw WriteFailure(trouble, mayTakeEffect: writesInSpiteOfTrouble) }
    afterWrite?()
  }

  public func remove(
    _ id: EntryID, version: Version, _ patience: Patience
  ) async throws(WriteFailure) -> Bool {
    calls += 1
    if refused.contains(id) { throw WriteFailure(refusal) }
    if let trouble { throw WriteFailure(trouble) }
    return items.removeValue(forKey: id) != nil
  }

  public func list(_ namespace: Namespace?, _ patience: Patience) async throws(VaultError) -> [Entry] {
    if let trouble { throw trouble }
    return items.values.map(\.entry).filter { namespace == nil || $0.id.key.namespace == namespace }
  }
}

extension VaultFile {
  /// Opens the file with all the time that it takes.
  public func unlock(_ key: SlotKey?) async throws(VaultError) {
    let never = BootTime(milliseconds: .max)
    try await unlock(key, Patience(deadline: never, promptDeadline: never, interactive: false))
  }
}

private func emptySecret() -> SharedSecret {
  guard let empty = try? SecretBytes(zeros: 0) else { fatalError("no memory for nothing") }
  return SharedSecret(empty)
}

/// What opens, of a fake, without having been sealed.
public final class UnsealedToken: SealedToken {
  private let token: Token
  // Whether it opens.
  private let opens: Bool

  public init(_ token: Token, opens: Bool = true) { (self.token, self.opens) = (token, opens) }

  public var facts: EntryFacts { EntryFacts(token.entry) }

  public var textBytes: Int {
    let id = token.entry.id
    return id.key.text.utf8.count + id.account.text.utf8.count + (token.entry.label ?? "").utf8.count
  }

  public func withTexts<Failure: Error>(
    _ body: (_ key: Span<UInt8>, _ account: Span<UInt8>, _ label: Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    let (key, account, label) = (
      token.entry.id.key.text, token.entry.id.account.text, token.entry.label ?? ""
    )
    try body(key.utf8.span, account.utf8.span, label.utf8.span)
  }

  public var count: Int { token.secret.count }

  public func open(into room: inout MutableSpan<UInt8>) -> Bool {
    token.secret.withBytes { bytes in
      for index in bytes.indices { room[index] = bytes[index] }
    }
    return opens
  }
}

extension SealedToken {
  /// Whether an answer says of it what it says of that one.
  public func isAnswered(as token: Token) throws -> Bool {
    var isSame = facts == EntryFacts(token.entry)
    withTexts { key, account, label in
      if !token.entry.id.isOf(key: key, account: account) { isSame = false }
      if label.validText != token.entry.label ?? "" { isSame = false }
    }
    let secret = try opened()
    return isSame && secret.withBytes { own in token.secret.withBytes { own.isEqual(to: $0) } }
  }
}

/// A vault file without a file.
@VaultActor
public final class FakeFile: VaultFile {
  public nonisolated let name = StoreName.file
  public var items: [EntryID: Token] = [:]
  public var exists: Bool
  public var isUnlocked: Bool
  /// What writes and removals fail with.
  public var trouble: VaultError?
  public var damaged: Set<EntryID> = []
  public var highest: Version = 0
  public var onOpened: (@VaultActor () async -> Void)?
  /// What happens between a removal and its acknowledgement.
  public var afterRemoval: (@VaultActor () async -> Void)?
  /// What was removed, in the order in which that was asked for.
  public var removals: [EntryID] = []

  public init(exists: Bool = true, isUnlocked: Bool = true) {
    self.exists = exists
    self.isUnlocked = isUnlocked
  }

  private var closed: VaultError? {
    if !exists { return .unavailable(store: .file, reason: "no vault file: run vault init") }
    return isUnlocked ? nil : .locked(store: .file, reason: "the vault file is locked: run vault unlock")
  }

  public var status: StoreStatus {
    StoreStatus(
      store: .file, state: !exists ? .absent : isUnlocked ? .available : .locked, detail: "fake file",
      entries: items.count, pending: items.values.count { $0.entry.pending })
  }
  public var highestVersion: Version { highest }
  public var recordCount: Int? { items.count }
  public func forget() { isUnlocked = false }

  public func lookUp(_ id: EntryID) -> LookUp {
    if let closed { return .failed(closed) }
    if damaged.contains(id) { return .failed(.damaged(store: .file, reason: "record")) }
    return items[id].map { .found($0) } ?? .missing
  }

  public func sealedToken(_ key: Span<UInt8>, _ account: Span<UInt8>) -> (any SealedToken)? {
    guard let id = EntryID(key: key, account: account), case .found(let token) = lookUp(id),
      !token.entry.hasEnd,
      !token.entry.isPurged
    else { return nil }
    return UnsealedToken(token)
  }

  public func read(_ id: EntryID, _ patience: Patience) async throws(VaultError) -> Token? {
    if let closed { throw closed }
    return items[id]
  }

  public func write(
    _ entry: Entry, _ secret: SharedSecret, _ patience: Patience
  ) async throws(WriteFailure) {
    if let error = closed ?? trouble { throw WriteFailure(error) }
    items[entry.id] = Token(entry: entry, secret: secret)
    damaged.remove(entry.id)
    highest = max(highest, entry.version)
  }

  public func remove(
    _ id: EntryID, version: Version, _ patience: Patience
  ) async throws(WriteFailure) -> Bool {
    if let error = closed ?? trouble { throw WriteFailure(error) }
    highest = max(highest, version)
    damaged.remove(id)
    removals.append(id)
    let removed = items.removeValue(forKey: id) != nil
    await afterRemoval?()
    return removed
  }

  public func list(_ namespace: Namespace?, _ patience: Patience) async throws(VaultError) -> [Entry] {
    if let closed { throw closed }
    return items.values.map(\.entry).filter { namespace == nil || $0.id.key.namespace == namespace }
  }

  public func forEach(
    in namespace: Namespace?, _ patience: Patience, _ body: (Entry) -> Void
  ) async throws(VaultError) {
    for entry in try await list(namespace, patience) { body(entry) }
  }

  public func initialise(_ key: SlotKey) async throws(VaultError) {
    exists = true
    isUnlocked = true
  }

  public func rest() {}

  public func update(_ entry: Entry, _ patience: Patience) async throws(WriteFailure) {
    if let error = closed ?? trouble { throw WriteFailure(error) }
    guard let token = items[entry.id], token.entry.version == entry.version else { return }
    items[entry.id] = Token(entry: entry, secret: entry.isPurged ? emptySecret() : token.secret)
  }

  public func unlock(_ key: SlotKey?, _ patience: Patience) async throws(VaultError) {
    if !exists { throw .unavailable(store: .file, reason: "no vault file") }
    if key == nil { throw .locked(store: .file, reason: "needs a passphrase") }
    isUnlocked = true
  }

  /// The numbers of its slots.
  public var slotNumbers: [Int64] = [1]

  public func slots() throws(VaultError) -> [Slot] {
    slotNumbers.map { Slot(number: $0, kind: .passphrase, detail: "", created: WallTime(seconds: 0)) }
  }
  public func addSlot(_ key: SlotKey) async throws(VaultError) -> Slot {
    throw .denied(reason: "a fake has no slots")
  }
  public func removeSlot(_ number: Int64) async throws(VaultError) {
    guard slotNumbers.count > 1, slotNumbers.contains(number) else {
      throw .invalidArgument(argument: "slot", reason: "is the last one")
    }
    // As on a disk, others have their turn between the judgement and the change.
    await Task.yield()
    slotNumbers.removeAll { $0 == number }
  }
  public func verify() async throws(VaultError) -> Verification {
    Verification(records: items.count, damaged: damaged.count, sound: damaged.isEmpty)
  }
}

/// `state.db` in memory.
@VaultActor
public final class FakeState: State {
  public var all: [EntryID: StateRecord] = [:]
  public var trouble: VaultError?
  /// Why what it holds can't be read.
  public var unreadable: VaultError?
  public var highestVersion: Version = 0
  public var providerAnswered = false

  // What the latest time is read from.
  private let clock: (any Clock)?

  public init(clock: (any Clock)? = nil) {
    self.clock = clock
  }

  public var isEmpty: Bool { all.isEmpty && unreadable == nil }
  public var isBlank: Bool { isEmpty && namespaceRemovals.isEmpty }
  public func record(_ id: EntryID) throws(VaultError) -> StateRecord? {
    if let unreadable { throw unreadable }
    return all[id]
  }
  public func records(_ namespace: Namespace?) throws(VaultError) -> [StateRecord] {
    if let unreadable { throw unreadable }
    return all.values.filter { namespace == nil || $0.id.key.namespace == namespace }
  }
  public var presentCount: Int {
    all.values.count { if case .present = $0.standing { true } else { false } }
  }
  public var removalCount: Int {
    all.values.count { if case .removed = $0.standing { true } else { false } }
  }
  public func keep(_ record: StateRecord) async throws(VaultError) {
    if let trouble { throw trouble }
    all[record.id] = record
    noteNow()
    highestVersion = max(highestVersion, record.version, record.intent?.entry.version ?? 0)
  }
  public func drop(_ id: EntryID, version: Version) async throws(VaultError) {
    if let trouble { throw trouble }
    all[id] = nil
    noteNow()
    highestVersion = max(highestVersion, version)
  }
  public func noteProvider() async throws(VaultError) {
    if let trouble { throw trouble }
    providerAnswered = true
  }

  public var latestTime = WallTime(milliseconds: 0)
  public func noteTime() async throws(VaultError) {
    if let trouble { throw trouble }
    noteNow()
  }
  private func noteNow() {
    if let clock { latestTime = max(latestTime, clock.wall) }
  }

  public var namespaceRemovals: [NamespaceRemoval] = []
  public func keep(_ removal: NamespaceRemoval) async throws(VaultError) {
    if let trouble { throw trouble }
    namespaceRemovals.removeAll { $0.namespace == removal.namespace && $0.account == removal.account }
    namespaceRemovals.append(removal)
    highestVersion = max(highestVersion, removal.version)
    noteNow()
  }
  public func drop(_ removal: NamespaceRemoval) async throws(VaultError) {
    if let trouble { throw trouble }
    namespaceRemovals.removeAll { $0 == removal }
    highestVersion = max(highestVersion, removal.version)
    noteNow()
  }
}

/// A session store without a session.
@VaultActor
public final class FakeSession: SessionKeeper {
  public nonisolated let name = StoreName.session
  public var items: [EntryID: Token] = [:]
  public var isUnlocked = true
  /// What everything fails with: there is no place for it.
  public var trouble: VaultError?
  public var highestVersion: Version = 0

  public init() {}

  private var closed: VaultError? {
    trouble ?? (isUnlocked ? nil : .locked(store: .session, reason: "the session store is locked"))
  }

  public var status: StoreStatus {
    StoreStatus(
      store: .session, state: trouble != nil ? .unavailable : isUnlocked ? .available : .locked,
      detail: "fake session", entries: items.count, pending: 0)
  }
  public var isBlank: Bool { closed == nil && items.isEmpty }
  public func forget() { isUnlocked = false }
  public func unlock() async throws(VaultError) { isUnlocked = true }

  /// The login session ends.
  public func end() { (items, key) = ([:], nil) }

  private var key: SharedSecret?
  /// Whether there is a place for a key.
  public var keepsKey = true
  /// The key is lost, as by a restart of the machine.
  public func loseKey() { key = nil }

  public func fingerprintKey(making: Bool) -> SharedSecret? {
    guard keepsKey else { return nil }
    if key == nil, making, var bytes = try? SecretBytes(zeros: 32) {
      bytes.withMutableBytes { bytes in
        for index in bytes.indices { bytes[index] = .random(in: .min ... .max) }
      }
      key = SharedSecret(bytes)
    }
    return key
  }

  public func lookUp(_ id: EntryID) -> LookUp {
    if let closed { return .failed(closed) }
    return items[id].map { .found($0) } ?? .missing
  }
  public func read(_ id: EntryID, _ patience: Patience) async throws(VaultError) -> Token? {
    if let closed { throw closed }
    return items[id]
  }
  public func write(
    _ entry: Entry, _ secret: SharedSecret, _ patience: Patience
  ) async throws(WriteFailure) {
    if let closed { throw WriteFailure(closed) }
    items[entry.id] = Token(entry: entry, secret: secret)
    highestVersion = max(highestVersion, entry.version)
  }
  public func rest() {}

  public func update(_ entry: Entry, _ patience: Patience) async throws(WriteFailure) {
    if let closed { throw WriteFailure(closed) }
    guard let token = items[entry.id], token.entry.version == entry.version else { return }
    items[entry.id] = Token(entry: entry, secret: entry.isPurged ? emptySecret() : token.secret)
  }
  public func remove(
    _ id: EntryID, version: Version, _ patience: Patience
  ) async throws(WriteFailure) -> Bool {
    if let closed { throw WriteFailure(closed) }
    highestVersion = max(highestVersion, version)
    return items.removeValue(forKey: id) != nil
  }
  public func list(_ namespace: Namespace?, _ patience: Patience) async throws(VaultError) -> [Entry] {
    if let closed { throw closed }
    return items.values.map(\.entry).filter { namespace == nil || $0.id.key.namespace == namespace }
  }
  public func forEach(
    in namespace: Namespace?, _ patience: Patience, _ body: (Entry) -> Void
  ) async throws(VaultError) {
    for entry in try await list(namespace, patience) { body(entry) }
  }
}
