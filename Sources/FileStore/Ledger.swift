// What is believed of the records while the file is unlocked: the version of each, kept in memory, since
// another process can change the file. The main thread asks it before and after it reads a row; the file
// thread tells it what it is about to commit and how that ended. Nothing is served that is not in here. No
// I/O, no secret but the keys, which it drops when it is closed.

import Synchronization
import VaultCrypto
import VaultModel

/// The versions of all records, and the state of the set.
final class Ledger: Sendable {
  /// What is believed of one id.
  struct Belief: Sendable {
    /// Grows with everything that could change a belief.
    var generation: UInt64
    /// The record as it was last committed; `nil` where there is none.
    var committed: Standing?
    /// The record as a transaction that is under way leaves it; `nil` where none changes it.
    var underway: Standing??
    /// Whether a record that is not there may have been removed by somebody else.
    var isDoubted: Bool
    /// What a record that is missing is known by.
    var missing: FieldElement?

    /// Whether a row with this standing is what we wrote.
    func allows(_ standing: Standing) -> Bool {
      if committed == standing { return true }
      if case .some(.some(standing)) = underway { return true }
      return false
    }

    /// Whether it is right that there is no row.
    var allowsNone: Bool {
      if case .some(.none) = underway { return true }
      return committed == nil
    }
  }

  /// A transaction that is under way.
  fileprivate struct Draft {
    var state: SetState
    var standings: [RecordID: Standing?] = [:]
    var settledBuckets: Set<Int> = []
  }

  fileprivate struct Contents {
    var keys: VaultKeys?
    var state: SetState
    var standings: [RecordID: Standing]
    var blames: [Int: Blame]
    var draft: Draft?
    var generation: UInt64 = 0
    var numbers: Numbers
    var wasDamaged: Bool
  }

  /// Who has changed the file, in one word.
  fileprivate struct Touches: RawRepresentable, AtomicRepresentable {
    var rawValue: UInt64

    init(rawValue: UInt64) {
      self.rawValue = rawValue
    }

    /// How often somebody else was found to have changed it, and the count of transactions as our last one left it.
    init(others: UInt32, count: UInt32?) {
      rawValue = UInt64(others) << 33 | (count.map { 1 << 32 | UInt64($0) } ?? 0)
    }

    var others: UInt32 { UInt32(rawValue >> 33) }
    var count: UInt32? { rawValue >> 32 & 1 == 1 ? UInt32(truncatingIfNeeded: rawValue) : nil }
  }

  /// How many records there are of which kind.
  struct Numbers: Hashable, Sendable {
    var tokens = 0
    var pending = 0

    mutating func add(_ standing: Standing, _ count: Int) {
      if !standing.marks.contains(.tombstone) { tokens += count }
      if standing.marks.contains(.pending) { pending += count }
    }
  }

  /// Whether the anchor was not one, when the file was opened.
  let anchorWasDamaged: Bool
  private let contents: Mutex<Contents>
  private let touches: Atomic<Touches>

  /// A ledger of what was found in the file.
  /// - Parameters:
  ///   - keys: what it seals with until it is closed.
  ///   - state: the state of the set as the file has it.
  ///   - standings: the records that are believed.
  ///   - blames: what is wrong with buckets that did not add up.
  ///   - wasDamaged: whether anything was wrong with the file.
  ///   - anchorWasDamaged: whether the anchor was not one.
  ///   - changeCount: the count of transactions when it was read.
  init(
    keys: VaultKeys, state: SetState, standings: [RecordID: Standing], blames: [Int: Blame], wasDamaged: Bool,
    anchorWasDamaged: Bool, changeCount: UInt32?
  ) {
    self.anchorWasDamaged = anchorWasDamaged
    touches = Atomic(Touches(others: 0, count: changeCount))
    var numbers = Numbers()
    for standing in standings.values { numbers.add(standing, 1) }
    contents = Mutex(
      Contents(
        keys: keys, state: state, standings: standings, blames: blames, numbers: numbers,
        wasDamaged: wasDamaged))
  }

  // MARK: The main thread

  /// What is believed of an id now.
  func belief(_ id: RecordID) -> Belief {
    contents.withLock { contents in
      var (doubted, missing) = (contents.state.doubts(id.bucket), FieldElement?.none)
      switch contents.blames[id.bucket] {
      case .several: doubted = true
      case .missing(let multiplier, _): missing = multiplier
      case .changed, nil: break
      }
      return Belief(
        generation: contents.generation, committed: contents.standings[id],
        underway: contents.draft?.standings[id],
        isDoubted: doubted, missing: missing)
    }
  }

  /// Tells whether only we have changed the file.
  /// - Parameter count: the count of transactions as it is now.
  /// - Returns: how often somebody else was found to have changed it before; `nil` where somebody has, and it was not
  ///   found yet, or while a transaction of ours ends.
  func othersUntilNow(_ count: UInt32?) -> UInt32? {
    let touches = touches.load(ordering: .acquiring)
    return count != nil && touches.count == count ? touches.others : nil
  }

  /// Grows with everything that could change a belief.
  var generation: UInt64 { contents.withLock { $0.generation } }

  /// The largest version ever given.
  var highest: Version { contents.withLock { $0.state.highest } }

  /// How many records there are.
  var numbers: Numbers { contents.withLock { $0.numbers } }

  /// How many tokens there are; `nil` where records were found changed: one that is gone is not counted and is not
  /// missing either.
  var recordCount: Int? {
    contents.withLock { contents in
      contents.blames.isEmpty && contents.state.doubted == 0 ? contents.numbers.tokens : nil
    }
  }

  /// The state of the set as it was last committed.
  var state: SetState { contents.withLock { $0.state } }

  /// What was wrong when the file was opened and was not set right since.
  var blames: [Int: Blame] { contents.withLock { $0.blames } }

  /// All records that are believed.
  var standings: [RecordID: Standing] { contents.withLock { $0.standings } }

  /// Whether anything was found wrong with the file since it was opened.
  var wasDamaged: Bool { contents.withLock { $0.wasDamaged } }

  /// Remembers that something is wrong with the file.
  func noteDamage() {
    contents.withLock { $0.wasDamaged = true }
  }

  /// The keys; `nil` once it was closed.
  var keys: VaultKeys? { contents.withLock { $0.keys } }

  /// Drops the keys. Changes that are not under way yet fail from now on.
  func close() {
    contents.withLock { $0.keys = nil }
  }

  // MARK: The file thread

  /// What a transaction has to write beside its changes.
  struct Prepared: Sendable {
    /// The keys to seal the state with.
    let keys: VaultKeys
    /// The state as it is with the changes.
    let state: SetState
    /// Buckets whose records are not to be believed any more: their rows are set aside.
    let setAside: [Int]
  }

  /// Works out the state with `changes`, and believes in them as under way until `settle`. `changeCount` is the count
  /// of transactions, which is nobody else's to change now.
  /// - Returns: `nil` where the file was locked meanwhile.
  func prepare(_ changes: [RecordChange], _ changeCount: UInt32?) -> Prepared? {
    let before = touches.load(ordering: .acquiring)
    if changeCount == nil || before.count != changeCount {
      let now = Touches(others: (before.others + 1) & (.max >> 1), count: changeCount)
      touches.store(now, ordering: .releasing)
    }
    return contents.withLock { contents in
      guard let keys = contents.keys else { return nil }
      var draft = Draft(state: contents.state)
      var setAside: [Int] = []
      for change in changes {
        draft.state.sequence += 1
        switch change {
        case .place(let placement):
          let bucket = placement.id.bucket
          if contents.blames[bucket] == .several, draft.settledBuckets.insert(bucket).inserted {
            setAside.append(bucket)
            draft.state.buckets[bucket] = BucketSums()
            draft.state.doubt(bucket)
          }
          let old = contents.version(before: placement, &draft)
          draft.state.buckets[bucket].change(
            placement.multiplier, from: old, to: placement.standing?.version ?? 0)
          draft.state.highest = max(draft.state.highest, placement.version)
          draft.standings[placement.id] = .some(placement.standing)
        case .addSlot(let row):
          draft.state.slots.append(row.mark)
          draft.state.slotsMade = max(draft.state.slotsMade, row.slot.number)
        case .removeSlot(let number):
          draft.state.slots.removeAll { $0.number == number }
        }
      }
      let state = draft.state
      contents.draft = draft
      contents.generation += 1
      return Prepared(keys: keys, state: state, setAside: setAside)
    }
  }

  /// Says how the transaction ended.
  func settle(committed: Bool) {
    if committed {
      let before = touches.load(ordering: .acquiring)
      let now = Touches(others: before.others, count: before.count.map { $0 &+ 1 })
      touches.store(now, ordering: .releasing)
    }
    contents.withLock { contents in
      guard let draft = contents.draft else { return }
      contents.draft = nil
      contents.generation += 1
      guard committed else { return }
      contents.state = draft.state
      for bucket in draft.settledBuckets { contents.blames[bucket] = nil }
      for (id, standing) in draft.standings {
        if let old = contents.standings[id] { contents.numbers.add(old, -1) }
        if let standing { contents.numbers.add(standing, 1) }
        contents.standings[id] = standing
      }
    }
  }
}

extension Ledger.Contents {
  /// The version that an id has before a change, 0 for none. What was blamed on it is settled by the change.
  fileprivate func version(before placement: Placement, _ draft: inout Ledger.Draft) -> Version {
    let bucket = placement.id.bucket
    if let standing = draft.standings[placement.id] { return standing?.version ?? 0 }
    if draft.settledBuckets.contains(bucket), blames[bucket] == .several { return 0 }
    switch blames[bucket] {
    case .missing(placement.multiplier, let version):
      draft.settledBuckets.insert(bucket)
      return version
    case .changed(placement.id, _):
      draft.settledBuckets.insert(bucket)
    case .missing, .changed, .several, nil: break
    }
    return standings[placement.id]?.version ?? 0
  }
}
