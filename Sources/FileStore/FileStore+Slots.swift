// How the vault file is made, opened and given other slots. Passphrases go through scrypt on a thread of its
// own; the data key comes back from there, and with it the file thread reads what there is. A wrong key, a
// damaged slot and a newer format stay three outcomes.

import Database
import SecretMemory
import VaultCore
import VaultCrypto
import VaultModel

extension FileStore {
  // MARK: Making

  public func initialise(_ key: SlotKey) async throws(VaultError) {
    look()
    switch condition {
    case .absent: break
    case .refused(let error) where error.outcome == .unavailable: throw error
    case .refused, .locked, .unlocked:
      throw .invalidArgument(
        argument: "init", reason: "there is a vault file already: \(path); nothing was changed")
    }
    try place.judge { () throws(FolderFault) in try folder.checkWritable() }

    let (kind, detail, secret, keyFile) = try newSlotKey(key)
    let (place, slot) = (folder, Slot(number: 1, kind: kind, detail: detail, created: clock.wall))
    let made = await slowly.run { _ in
      Result { () throws(VaultError) in try makeFile(.vault, in: place, slot: (slot, secret)) }
    }
    switch made {
    case .failure(let error):
      keyFile?.remove()
      throw error
    case .success(let dataKey):
      condition = Self.examine(blueprint, folder)
      guard case .locked(let file) = condition, let row = file.soundSlots.first else {
        throw .internal(reason: "the vault file that was just made cannot be read")
      }
      try await open(file, dataKey, by: row, era)
    }
  }

  /// Makes the file without a slot, whose data key is kept elsewhere, and opens it.
  func make(_ dataKey: SharedSecret) async throws(VaultError) {
    let (plan, folder, era) = (blueprint, folder, era)
    let made = await slowly.run { _ in
      Result { () throws(VaultError) in _ = try makeFile(plan, in: folder, dataKey) }
    }
    try made.get()
    condition = Self.examine(plan, folder)
    try await open(dataKey, era)
  }

  /// Unlocks the file with the data key itself.
  func open(_ dataKey: SharedSecret) async throws(VaultError) {
    look()
    try await open(dataKey, era)
  }

  private func open(_ dataKey: SharedSecret, _ era: Int) async throws(VaultError) {
    if case .locked(let file) = condition { return try await open(file, dataKey, by: nil, era) }
    _ = try unlocked()
  }

  /// Looks at the file again where it could not be used so far.
  private func look() {
    switch condition {
    case .absent, .refused:
      if folder.tryAgain(at: clock.boot) {
        lacksFolder = false
        condition = Self.examine(blueprint, folder)
      }
    case .locked, .unlocked: break
    }
  }

  /// What a new slot is opened with.
  /// - Returns: its kind and detail, what opens it, and the key file where one was made for it.
  private func newSlotKey(
    _ key: SlotKey
  ) throws(VaultError) -> (Slot.Kind, String, SlotSecret, KeyFile?) {
    switch key {
    case .passphrase(let passphrase):
      guard (1...Limits.passphraseBytes).contains(passphrase.count) else {
        throw .invalidArgument(
          argument: "passphrase", reason: "has 1 to \(Limits.passphraseBytes) bytes, not \(passphrase.count)")
      }
      return (.passphrase, "", try SlotSecret(copying: passphrase), nil)
    case .keyFile(let path):
      let file = try KeyFile(path, outside: folder)
      if file.exists { return (.keyFile, path, try file.read(), nil) }
      try file.make()
      return (.keyFile, path, try file.read(), file)
    case .credential(let name):
      return (.credential, name, try Credential(name).read(in: credentials), nil)
    }
  }

  // MARK: Opening

  public func unlock(_ key: SlotKey?, _ patience: Patience) async throws(VaultError) {
    look()
    let era = era
    let file: OpenedFile
    switch condition {
    case .absent, .refused:
      _ = try unlocked()
      return
    case .unlocked(let unlocked):
      // A key that was given is tried all the same: a wrong one is told.
      if key == nil { return }
      file = unlocked.file
    case .locked(let closed): file = closed
    }
    let (row, dataKey) = try await opened(file, key, patience)
    try await open(file, dataKey, by: row, era)
  }

  /// Unlocks the file with its data key, unless it was locked again since `era`.
  private func open(
    _ file: OpenedFile, _ dataKey: SharedSecret, by row: SlotRow?, _ era: Int
  ) async throws(VaultError) {
    let outcome: Result<Ledger, VaultError>
    do throws(CommitFailure) {
      let ledger = try await file.commits.perform { tables, connection throws(CommitFailure) in
        try tables.load(dataKey, connection)
      }
      outcome = .success(ledger)
    } catch {
      outcome = .failure(error.outcome(in: place))
    }
    switch outcome {
    case .failure(let error):
      if case .locked(let present) = condition, present === file, error.outcome == .damaged {
        condition = .refused(error)
      }
      throw error
    case .success(let ledger):
      guard era == self.era, let keys = ledger.keys else {
        ledger.close()
        throw .lockedMeanwhile(place)
      }
      if let row, !ledger.state.slots.contains(row.mark) {
        if !isUnlocked { ledger.close() }
        throw .damaged(
          store: place,
          reason:
            "slot \(row.slot.number) of \(path) is not one that was added to it; use another, or restore the file"
        )
      }
      condition = .unlocked(UnlockedFile(file, keys, ledger))
      file.commits.cleanUp()
    }
  }

  /// The slot that a key opens, and the data key in it.
  private func opened(
    _ file: OpenedFile, _ key: SlotKey?, _ patience: Patience
  ) async throws(VaultError) -> (SlotRow, SharedSecret) {
    let found: (SlotRow, SharedSecret)?
    switch key {
    case nil: return try await openedByItself(file, patience)
    case .passphrase(let passphrase):
      guard passphrase.count <= Limits.passphraseBytes else { throw .wrongPassphrase }
      found = try await firstSlot(file, .passphrase, opening: SlotSecret(copying: passphrase), patience)
    case .keyFile(let path):
      found = try await firstSlot(file, .keyFile, opening: KeyFile(path, outside: folder).read(), patience)
    case .credential(let name):
      found = try await firstSlot(
        file, .credential, opening: Credential(name).read(in: credentials), patience)
    }
    if let found { return found }
    throw file.hasDamagedSlots ? damagedSlots : .wrongPassphrase
  }

  private var damagedSlots: VaultError {
    .damaged(
      store: place,
      reason: "a slot of \(path) is damaged, and no other opens with this; restore the file from a backup")
  }

  private func firstSlot(
    _ file: OpenedFile, _ kind: Slot.Kind, opening secret: SlotSecret, _ patience: Patience
  ) async throws(VaultError) -> (SlotRow, SharedSecret)? {
    for row in file.soundSlots where row.slot.kind == kind {
      if let dataKey = try await dataKey(in: row, of: file, secret, patience) { return (row, dataKey) }
    }
    return nil
  }

  private func dataKey(
    in row: SlotRow, of file: OpenedFile, _ secret: SlotSecret, _ patience: Patience
  ) async throws(VaultError) -> SharedSecret? {
    let vault = file.header.vault
    if row.slot.kind == .keyFile { return try row.open(with: secret, of: vault) }
    return try await slowTurn.take { () async throws(VaultError) in
      // Who asked may have left, or been answered, while others had their turn.
      guard clock.boot < patience.deadline else {
        throw .unavailable(store: place, reason: "others tried to open \(path) for too long: try again")
      }
      let result = await slowly.run { _ in
        Result { () throws(VaultError) in try row.open(with: secret, of: vault) }
      }
      return try result.get()
    }
  }

  /// Tries the slots that need nobody.
  private func openedByItself(
    _ file: OpenedFile, _ patience: Patience
  ) async throws(VaultError) -> (SlotRow, SharedSecret) {
    var reasons: [String] = []
    for row in file.soundSlots {
      do throws(VaultError) {
        let secret: SlotSecret
        switch row.slot.kind {
        case .passphrase: continue
        case .keyFile: secret = try KeyFile(ofSlot: row.slot.detail).read()
        case .credential: secret = try Credential(row.slot.detail).read(in: credentials)
        }
        if let dataKey = try await dataKey(in: row, of: file, secret, patience) { return (row, dataKey) }
        reasons.append("\(row.slot.detail) does not open slot \(row.slot.number)")
      } catch {
        if case .invalidArgument(_, let reason) = error { reasons.append(reason) } else { throw error }
      }
    }
    let sound = file.soundSlots
    // A passphrase may still open it where there is a slot for one.
    if file.hasDamagedSlots, reasons.count == sound.count { throw damagedSlots }
    let why = reasons.isEmpty ? "" : " (\(reasons.joined(separator: "; ")))"
    throw .locked(store: place, reason: "\(path) is locked\(why): run `vault unlock`")
  }

  // MARK: Slots

  public func slots() throws(VaultError) -> [Slot] {
    switch condition {
    case .locked(let file): file.soundSlots.map(\.slot)
    case .unlocked(let open): open.file.soundSlots.map(\.slot)
    case .absent, .refused: try unlocked().file.soundSlots.map(\.slot)
    }
  }

  public func addSlot(_ key: SlotKey) async throws(VaultError) -> Slot {
    let (file, keys, ledger) = try unlocked().parts
    guard file.slots.count < Limits.slots else {
      throw .invalidArgument(
        argument: "slot", reason: "a vault file has at most \(Limits.slots) slots: remove one")
    }
    try place.judge { () throws(FolderFault) in try folder.checkWritable() }
    let (kind, detail, secret, keyFile) = try newSlotKey(key)
    if kind == .keyFile {
      for row in file.soundSlots where row.slot.kind == .keyFile {
        guard try row.open(with: secret, of: file.header.vault) != nil else { continue }
        throw .invalidArgument(
          argument: "keyFile",
          reason: "\(detail) opens slot \(row.slot.number) already; nothing was changed")
      }
    }
    lastSlot = max(lastSlot, ledger.state.slotsMade) + 1
    let slot = Slot(number: lastSlot, kind: kind, detail: detail, created: clock.wall)
    let vault = file.header.vault
    let made = await slowly.run { _ in
      Result { () throws(VaultError) in try SlotRow(slot, of: vault, key: secret, holding: keys.dataKey) }
    }
    do throws(VaultError) {
      let row = try made.get()
      try await change(file, .addSlot(row))
      return slot
    } catch {
      keyFile?.remove()
      throw error
    }
  }

  public func removeSlot(_ number: Int64) async throws(VaultError) {
    let (file, _, ledger) = try unlocked().parts
    guard ledger.state.slots.contains(where: { $0.number == number }) else {
      throw .invalidArgument(argument: "slot", reason: "there is no slot \(number)")
    }
    let marks = ledger.state.slots
    guard file.soundSlots.contains(where: { $0.slot.number != number && marks.contains($0.mark) }) else {
      throw .invalidArgument(
        argument: "slot",
        reason: "slot \(number) is the last: without it nothing could ever open the file; add one first")
    }
    try await change(file, .removeSlot(number))
  }

  private func change(_ file: OpenedFile, _ change: RecordChange) async throws(VaultError) {
    if let failure = await file.commits.commit(change) { throw failure.outcome(in: place) }
    file.slots = try place.judge { () throws(DatabaseFault) in try file.reader.slots() }
  }

  // MARK: Verifying

  public func verify() async throws(VaultError) -> Verification {
    let file = try unlocked().file
    do throws(CommitFailure) {
      return try await file.commits.perform { tables, _ throws(CommitFailure) in try tables.verify() }
    } catch {
      throw error.outcome(in: place)
    }
  }
}

/// Makes a file with a new name, a data key that is new unless it is given, and a slot unless the key is kept
/// elsewhere.
/// - Returns: the data key.
private func makeFile(
  _ blueprint: Blueprint, in folder: DataFolder, _ key: SharedSecret? = nil, slot: (Slot, SlotSecret)? = nil
) throws(VaultError) -> SharedSecret {
  let (header, dataKey) = try blueprint.place.judge { () throws(CryptoError) in
    let dataKey = if let key { key } else { SharedSecret(try SecretBytes(random: SealingKey.size)) }
    return (Header(vault: try VaultID()), dataKey)
  }
  var state = SetState()
  var row: SlotRow?
  if let (slot, secret) = slot {
    let made = try SlotRow(slot, of: header.vault, key: secret, holding: dataKey)
    row = made
    (state.slotsMade, state.slots) = (slot.number, [made.mark])
  }
  let (checksum, sealed) = try blueprint.place.judge { () throws(CryptoError) in
    (try header.checksum(), try VaultKeys(dataKey, of: header.vault, sealed: 0).seal(state))
  }
  try blueprint.make(in: folder) { connection throws(DatabaseFault) in
    try header.write(connection, checksum: checksum)
    try row?.write(connection)
    try connection.prepare("INSERT INTO state (id, sealed) VALUES (1, ?)").run(.blob(sealed))
  }
  return dataKey
}
