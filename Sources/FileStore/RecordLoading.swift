// Reads the whole vault file on its file thread: when it is unlocked, ids and versions of all records, to
// compare them with the state of the set; for `verify`, every byte. What does not add up is blamed on as few
// records as possible.

import Database
import SecretMemory
import VaultCrypto
import VaultModel

extension RecordTables {
  // MARK: Opening

  /// Reads what there is and judges it; from then on the ledger is what changes are changes of. Where the
  /// file is unlocked already, the ledger that there is.
  /// - Throws: `.damaged` where the state of the set does not open, or is behind the anchor: then no record can be
  ///   believed.
  func load(_ dataKey: SharedSecret, _ connection: borrowing Connection) throws(CommitFailure) -> Ledger {
    if let ledger, ledger.keys != nil { return ledger }
    return try connection.snapshot(failure: CommitFailure.database) { () throws(CommitFailure) in
      // Before anything is read: what somebody else changes from here on shows by it.
      let changeCount = connection.changeCount
      let state = try readState(dataKey, connection)
      let keys: VaultKeys
      do throws(CryptoError) {
        keys = try VaultKeys(dataKey, of: vault, sealed: state.sequence, store: blueprint.store)
      } catch {
        throw .refused(VaultError(error, in: blueprint.place))
      }
      let finding = try compare(state, keys, connection)
      do throws(CryptoError) {
        let ledger = try read(state, keys, finding, changeCount, connection)
        self.ledger = ledger
        if finding != .sequence(state.sequence), folder.isWritable { anchor.write(state.sequence, keys) }
        return ledger
      } catch {
        throw .refused(VaultError(error, in: blueprint.place))
      }
    }
  }

  /// Compares the state with the anchor.
  private func compare(
    _ state: SetState, _ keys: VaultKeys, _ connection: borrowing Connection
  ) throws(CommitFailure) -> Anchor.Finding {
    let finding: Anchor.Finding
    do throws(VaultError) { finding = try anchor.read(keys) } catch { throw .refused(error) }
    guard case .sequence(let acknowledged) = finding, state.sequence < acknowledged else { return finding }
    throw .refused(
      .damaged(
        store: blueprint.place,
        reason:
          "\(connection.path) lacks the last \(acknowledged - state.sequence) of its changes: its log was damaged or "
          + "lost, or an older copy was put back. Restore \(folder.path) from a backup; or, if the older copy is "
          + "wanted, remove \(anchor.path)"))
  }

  private func readState(
    _ dataKey: SharedSecret, _ connection: borrowing Connection
  ) throws(CommitFailure) -> SetState {
    let state: SetState?
    do throws(DatabaseFault) { state = try openState(dataKey, connection) } catch { throw .database(error) }
    if let state { return state }
    throw .refused(
      .damaged(
        store: blueprint.place, reason: "the state of \(connection.path) is damaged; \(blueprint.remedy)"))
  }

  /// The state in the file; `nil` where it does not open.
  private func openState(
    _ dataKey: SharedSecret, _ connection: borrowing Connection
  ) throws(DatabaseFault) -> SetState? {
    let statement = try connection.prepare("SELECT sealed FROM state WHERE id = 1")
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    // The keys' own count of seals is in what they open: these are for that alone.
    return try? VaultKeys(dataKey, of: vault, sealed: 0).openState(statement.blob(0))
  }

  private func read(
    _ state: SetState, _ keys: VaultKeys, _ finding: Anchor.Finding, _ changeCount: UInt32?,
    _ connection: borrowing Connection
  ) throws(CryptoError) -> Ledger {
    var standings: [RecordID: Standing] = [:]
    standings.reserveCapacity(Int(clamping: state.buckets.reduce(0) { $0 + $1.count }))
    var sums = [BucketSums](repeating: BucketSums(), count: RecordID.buckets)
    let (names, wasWhole) = names(connection)
    for (id, standing) in names {
      // Where a missing row means that there is no record, none says so.
      if standing.marks.contains(.tombstone), !state.doubts(id.bucket) { continue }
      sums[id.bucket].change(try keys.multiplier(of: id), from: 0, to: standing.version)
      standings[id] = standing
    }
    var blames: [Int: Blame] = [:]
    for bucket in sums.indices where sums[bucket] != state.buckets[bucket] {
      for id in standings.keys where id.bucket == bucket { standings[id] = nil }
      let (blame, believed) = try judge(bucket, state.buckets[bucket], keys, connection)
      blames[bucket] = blame
      for (id, standing) in believed { standings[id] = standing }
    }
    return Ledger(
      keys: keys, state: state, standings: standings, blames: blames,
      wasDamaged: !wasWhole || !blames.isEmpty, anchorWasDamaged: finding == .damaged,
      changeCount: changeCount)
  }

  /// Ids and standings of all rows that have any, by one pass over the table; where a page of it is damaged,
  /// row by row, as the index tells them.
  private func names(
    _ connection: borrowing Connection
  ) -> (names: [(RecordID, Standing)], wasWhole: Bool) {
    var names: [(RecordID, Standing)] = []
    func take(_ row: borrowing Statement) {
      guard let standing = Standing(version: row.integer(1), marks: row.integer(2)) else { return }
      names.append((RecordID(row: row.integer(0)), standing))
    }
    do throws(DatabaseFault) {
      let all = try connection.prepare("SELECT id, version, marks FROM record")
      while try all.step() { take(all) }
      return (names, true)
    } catch {
      names = []
      guard let ids = try? connection.prepare("SELECT id FROM record INDEXED BY record_namespace"),
        let one = try? connection.prepare("SELECT id, version, marks FROM record WHERE id = ?")
      else { return ([], false) }
      while (try? ids.step()) == true {
        guard (try? one.bind(.integer(ids.integer(0)))) != nil, (try? one.step()) == true else { continue }
        take(one)
        one.reset()
      }
      return (names, false)
    }
  }

  // MARK: Blaming

  /// Finds what is wrong with a bucket that does not add up.
  /// - Returns: what is blamed, and the records of the bucket that are believed.
  private func judge(
    _ bucket: Int, _ stated: BucketSums, _ keys: VaultKeys, _ connection: borrowing Connection
  ) throws(CryptoError) -> (Blame?, [RecordID: Standing]) {
    let (all, authentic) = try found(bucket, keys, connection)
    // Rows that fail by themselves may be part of the set, or what is left of a row whose id or version was
    // changed.
    for candidates in [all, authentic] {
      var sums = BucketSums()
      for one in candidates { sums.change(one.found.multiplier, from: 0, to: one.found.version) }
      let blame = Blame.find(stated - sums, in: candidates.map(\.found))
      if blame == .several { continue }
      var believed: [RecordID: Standing] = [:]
      for one in candidates { believed[one.found.id] = one.standing }
      if case .changed(let id, let version) = blame {
        believed[id] = version == 0 ? nil : Standing(version: version, marks: 0)
      }
      return (blame, believed)
    }
    return (.several, [:])
  }

  private typealias Row = (found: Blame.Found, standing: Standing)

  /// The rows of a bucket, and those of them whose entry opens.
  private func found(
    _ bucket: Int, _ keys: VaultKeys, _ connection: borrowing Connection
  ) throws(CryptoError) -> ([Row], [Row]) {
    var (all, authentic): ([Row], [Row]) = ([], [])
    let range = RecordID.rows(ofBucket: bucket)
    guard
      let rows = try? connection.prepare(
        "SELECT id, version, marks, namespace, entry FROM record WHERE id BETWEEN ? AND ?"),
      (try? rows.bind(.integer(range.lowerBound), .integer(range.upperBound))) != nil
    else { return ([], []) }
    while (try? rows.step()) == true {
      guard let name = RecordName(rows) else { continue }
      let found = Blame.Found(
        id: name.id, version: name.standing.version, multiplier: try keys.multiplier(of: name.id))
      all.append((found, name.standing))
      if (try? rows.withBlob(4) { try keys.open($0, .entry, of: name) }) != nil {
        authentic.append((found, name.standing))
      }
    }
    return (all, authentic)
  }

  // MARK: Verifying

  /// Authenticates every record, every slot and the set, against what is believed and against the keys, as the
  /// files on the disk have them: a daemon that starts after this one was killed would find no other.
  func verify() throws(CommitFailure) -> Verification {
    guard let ledger, let keys = ownKeys(ledger) else { throw .refused(.lockedMeanwhile(blueprint.place)) }
    var left = ledger.standings
    var (records, damaged) = (0, 0)
    var isSound = ledger.blames.isEmpty && ledger.state.doubted == 0 && !ledger.anchorWasDamaged
    do throws(DatabaseFault) {
      let connection = try blueprint.crashView(in: folder)
      // An older state is what is left where the log ends too early.
      if try openState(keys.dataKey, connection) != ledger.state { isSound = false }
      let rows = try connection.prepare("SELECT id, version, marks, namespace, entry, secret FROM record")
      while try rows.step() {
        if ledger.keys == nil { break }
        if let name = RecordName(rows), left.removeValue(forKey: name.id) == name.standing,
          opens(rows, name, keys)
        {
          if !name.standing.marks.contains(.tombstone) { records += 1 }
        } else {
          (records, damaged) = (records + 1, damaged + 1)
        }
      }
      if try !slotsAreOurs(ledger.state, connection) { isSound = false }
      if try !isConsistent(connection) { isSound = false }
    } catch {
      // A file that was moved away cannot be opened.
      guard error.kind == .corrupt || !watch.isInPlace else { throw .database(error) }
      isSound = false
    }
    if ledger.keys == nil { throw .refused(.lockedMeanwhile(blueprint.place)) }
    // What is believed and was not there.
    records += left.count
    damaged += left.count
    for case .missing in ledger.blames.values { (records, damaged) = (records + 1, damaged + 1) }
    return Verification(records: records, damaged: damaged, sound: isSound && damaged == 0)
  }

  /// Keys that the main thread need not wait for.
  private func ownKeys(_ ledger: Ledger) -> VaultKeys? {
    ledger.keys.flatMap { try? VaultKeys($0.dataKey, of: vault, sealed: 0) }
  }

  private func opens(_ row: borrowing Statement, _ name: RecordName, _ keys: VaultKeys) -> Bool {
    let entry = try? row.withBlob(4) { sealed in
      let plain = try keys.open(sealed, .entry, of: name)
      return try plain.withBytes { try EntryForm.entry($0, in: blueprint.store) }
    }
    guard let entry, entry.version == name.standing.version, (try? keys.id(of: entry.id)) == name.id,
      (try? keys.id(of: entry.id.key.namespace)) == name.namespace,
      entry.pending == name.standing.marks.contains(.pending)
    else { return false }
    let size = try? row.withBlob(5) { sealed in try keys.open(sealed, .secret, of: name).count }
    return size == (entry.isPurged ? 0 : entry.size)
  }

  private func slotsAreOurs(_ state: SetState, _ connection: borrowing Connection) throws(DatabaseFault)
    -> Bool
  {
    let slots = try SlotRow.readAll(connection)
    return slots.map { $0?.mark } == state.slots
  }

  private func isConsistent(_ connection: borrowing Connection) throws(DatabaseFault) -> Bool {
    let check = try connection.prepare("PRAGMA integrity_check(1)")
    defer { check.reset() }
    return try check.step() && check.text(0) == "ok"
  }
}
