// Writes `state.db` on its file thread. Keeps the numbers of the whole in step with the rows, in the same
// transaction.

import Database
import VaultCore
import VaultModel

/// What can be done to the state.
enum StateChange: Sendable {
  case keep(StateRecord)
  case drop(EntryID, version: Version)
  case noteProvider
  case noteTime
  case keepRemoval(NamespaceRemoval)
  case dropRemoval(NamespaceRemoval)
}

/// A change, and the wall time at which it was asked for.
struct DatedChange: Sendable {
  let change: StateChange
  let at: WallTime
}

/// The statements that write.
final class StateTables: WrittenTables {
  private let standing: Statement
  private let put: Statement
  private let delete: Statement
  private let whole: Statement
  private let putRemoval: Statement
  private let deleteRemoval: Statement
  private let watch: FileWatch
  private let tally: StateTally
  private var numbers = StateNumbers()

  init(_ connection: borrowing Connection, _ watch: FileWatch, _ tally: StateTally) throws(DatabaseFault) {
    standing = try connection.prepare(
      "SELECT standing FROM record WHERE namespace = ? AND name = ? AND account = ?")
    put = try connection.prepare(
      """
      INSERT INTO record (namespace, name, account, version, standing, removed, entry, intent, fingerprint)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
      ON CONFLICT (namespace, name, account)
      DO UPDATE SET version = ?4, standing = ?5, removed = ?6, entry = ?7, intent = ?8, fingerprint = ?9
      """)
    delete = try connection.prepare("DELETE FROM record WHERE namespace = ? AND name = ? AND account = ?")
    whole = try connection.prepare("UPDATE state SET highest = ?, provider = ?, latest = ? WHERE id = 1")
    putRemoval = try connection.prepare(
      "INSERT INTO namespace_removal (namespace, account, version) VALUES (?, ?, ?)")
    deleteRemoval = try connection.prepare(
      "DELETE FROM namespace_removal WHERE namespace = ? AND account IS ? AND version <= ?")
    self.watch = watch
    self.tally = tally
  }

  func apply(_ changes: [DatedChange], in connection: borrowing Connection) throws(CommitFailure) {
    do throws(VaultError) { try watch.check() } catch { throw .refused(error) }
    let before = tally.committed
    numbers = before
    do throws(DatabaseFault) {
      for dated in changes {
        try apply(dated.change)
        numbers.latest = max(numbers.latest, dated.at)
      }
      if (numbers.highest, numbers.providerAnswered, numbers.latest)
        != (before.highest, before.providerAnswered, before.latest)
      {
        try whole.run(
          .integer(numbers.highest), .integer(numbers.providerAnswered ? 1 : 0),
          .integer(numbers.latest.milliseconds))
      }
    } catch {
      throw .database(error)
    }
  }

  private func apply(_ change: StateChange) throws(DatabaseFault) {
    switch change {
    case .keep(let record):
      try discount(record.id)
      try StateRow.write(record, with: put)
      numbers.records += 1
      switch record.standing {
      case .present: numbers.present += 1
      case .removed: numbers.removals += 1
      case .absent, .superseded, .expired: break
      }
      numbers.highest = max(numbers.highest, record.version, record.intent?.entry.version ?? 0)
    case .drop(let id, let version):
      try discount(id)
      try delete.run(.text(id.key.namespace.text), .text(id.key.name), .text(id.account.text))
      numbers.highest = max(numbers.highest, version)
    case .noteProvider:
      numbers.providerAnswered = true
    case .noteTime:
      break  // every change has its time
    case .keepRemoval(let removal):
      try forget(removal)
      try putRemoval.run(
        .text(removal.namespace.text), removal.account.map { .text($0.text) } ?? .null,
        .integer(removal.version))
      numbers.namespaceRemovals.append(removal)
      numbers.highest = max(numbers.highest, removal.version)
    case .dropRemoval(let removal):
      try forget(removal)
      numbers.highest = max(numbers.highest, removal.version)
    }
  }

  /// Takes out the removals of the same namespace and account that are not newer.
  private func forget(_ removal: NamespaceRemoval) throws(DatabaseFault) {
    try deleteRemoval.run(
      .text(removal.namespace.text), removal.account.map { .text($0.text) } ?? .null,
      .integer(removal.version))
    numbers.namespaceRemovals.removeAll {
      $0.namespace == removal.namespace && $0.account == removal.account && $0.version <= removal.version
    }
  }

  /// Takes the record that is there now out of the numbers.
  private func discount(_ id: EntryID) throws(DatabaseFault) {
    try standing.bind(.text(id.key.namespace.text), .text(id.key.name), .text(id.account.text))
    defer { standing.reset() }
    guard try standing.step() else { return }
    numbers.records -= 1
    switch StateRow.Standing(rawValue: standing.integer(0)) {
    case .present: numbers.present -= 1
    case .removed: numbers.removals -= 1
    case .absent, .superseded, .expired, nil: break
    }
  }

  func settle(committed: Bool) {
    if committed { tally.committed = numbers }
  }

  // Names and numbers, and codes without their key: nothing that has to be gone from the log at once.
  static func leavesTraces(_ change: DatedChange) -> Bool { false }
}
