// The file thread: the one writer of a database. It takes the changes that came in while the last commit was
// on its way to the disk and commits them in one transaction; each is acknowledged after it. Stands behind
// both stores that are files. What a change means is known to the store's tables alone.

import CLinux
import Synchronization
import VaultModel

/// Why a change was not committed.
public enum CommitFailure: Error, Hashable, Sendable {
  /// SQLite failed.
  case database(DatabaseFault)
  /// It was refused before SQLite was asked.
  case refused(VaultError)
  /// It was committed, and the bytes that it removed may still be in the log.
  case tracesLeft(DatabaseFault)
}

extension CommitFailure: Fault {
  public func outcome(in place: Place) -> VaultError {
    switch self {
    case .database(let fault): fault.outcome(in: place)
    case .refused(let error): error
    case .tracesLeft(let fault):
      .unavailable(
        store: place,
        reason:
          "it was removed, but what it was, encrypted, may still be in \(fault.path)-wal (\(fault.text)); "
          + "that is tried again with the next change")
    }
  }

  /// Whether the change may be on the disk all the same.
  public var mayHaveCommitted: Bool {
    switch self {
    case .database(let fault): fault.mayHaveCommitted
    case .refused: false
    case .tracesLeft: true
    }
  }
}

/// The tables of one database as its writer sees them: lives on the file thread.
public protocol WrittenTables: AnyObject, SendableMetatype {
  /// What can be done to them.
  associatedtype Change: Sendable

  /// Writes changes, in their order, inside a transaction that is begun already.
  func apply(_ changes: [Change], in connection: borrowing Connection) throws(CommitFailure)

  /// Says how the transaction of the last `apply` ended, before anybody else hears of it.
  func settle(committed: Bool)

  /// Whether a change removes something whose old bytes must be gone from the log before it is acknowledged.
  static func leavesTraces(_ change: Change) -> Bool
}

/// The writer of one database file, on a thread of its own.
public final class GroupCommit<Tables: WrittenTables>: Sendable {
  /// A connection for writing, and the tables that use it; of the thread that made them.
  public final class Opened {
    let connection: Connection
    let tables: Tables
    fileprivate let statements: CommitStatements

    /// These two.
    public init(_ connection: consuming Connection, _ tables: Tables) throws(DatabaseFault) {
      statements = try CommitStatements(connection)
      self.connection = connection
      self.tables = tables
    }
  }

  private let thread: WorkThread<Desk>
  private let waiting = Mutex(Line())

  /// A writer that opens its file with `open` when it is first needed, and again after that failed or gave a
  /// connection that can only read. The name is the thread's, at most 15 bytes.
  public init(name: StaticString, open: @escaping @Sendable () throws(CommitFailure) -> Opened) {
    thread = WorkThread(name: name) { Desk(open: open) }
  }

  /// Commits a change together with others that are waiting.
  /// - Returns: `nil` once it is on the disk and, where it leaves traces, those are gone from the log.
  nonisolated(nonsending) public func commit(_ change: Tables.Change) async -> CommitFailure? {
    await withPromise { done in
      if waiting.withLock({ $0.add(Waiting(change: change, done: done)) }) { schedule() }
    }
  }

  /// Does something between two commits.
  nonisolated(nonsending) public func perform<Result: Sendable>(
    _ body: @escaping @Sendable (Tables, borrowing Connection) throws(CommitFailure) -> Result
  ) async throws(CommitFailure) -> Result {
    let result = await thread.run { desk in
      do throws(CommitFailure) {
        return Swift.Result<Result, CommitFailure>.success(try desk.withOpened(body))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  /// Has the log emptied between two commits, in case that a process which was killed left in it what it had
  /// removed. Waits for nothing.
  public func cleanUp() {
    thread.enqueue { desk in desk.tendLog() }
  }

  /// Waits until what was given to it is done and its file is closed, complete without its log: what befalls a log
  /// while no daemon runs must not take back what was acknowledged. Nothing may be given to it after that.
  nonisolated(nonsending) public func end() async {
    thread.enqueue { desk in desk.emptyLog() }
    await thread.end()
  }

  /// How many changes wait for the next commit.
  var waitingCount: Int { waiting.withLock { $0.count } }

  private func schedule() {
    thread.enqueue { desk in
      desk.commit(self.waiting.withLock { $0.take(Limits.changesInOneCommit) })
      let more = self.waiting.withLock { $0.goOn(owing: desk.owesTraces) }
      if more { self.schedule() }
    }
  }

  fileprivate struct Waiting: Sendable {
    let change: Tables.Change
    let done: Promise<CommitFailure?>
  }

  /// The changes that wait for their turn.
  private struct Line {
    private var changes: [Waiting] = []
    private var isScheduled = false

    var count: Int { changes.count }

    /// - Returns: whether the thread has to be told.
    mutating func add(_ change: Waiting) -> Bool {
      changes.append(change)
      defer { isScheduled = true }
      return !isScheduled
    }

    mutating func take(_ most: Int) -> [Waiting] {
      let taken = Array(changes.prefix(most))
      changes.removeFirst(taken.count)
      return taken
    }

    /// Whether the thread has to come again.
    mutating func goOn(owing: Bool) -> Bool {
      isScheduled = owing || !changes.isEmpty
      return isScheduled
    }
  }

  /// What the thread works at.
  private struct Desk: ~Copyable {
    private let open: @Sendable () throws(CommitFailure) -> Opened
    private var opened: Opened?
    /// Who waits for old bytes to be gone from the log, and how often that is still tried.
    private var owed: [(done: Promise<CommitFailure?>, tries: Int)] = []
    /// Whether the log may hold such bytes though nobody waits any more.
    private var logHoldsTraces = false

    init(open: @escaping @Sendable () throws(CommitFailure) -> Opened) {
      self.open = open
    }

    var owesTraces: Bool { !owed.isEmpty }

    mutating func withOpened<Result>(
      _ body: (Tables, borrowing Connection) throws(CommitFailure) -> Result
    ) throws(CommitFailure) -> Result {
      let opened = if let opened { opened } else { try reopen() }
      return try body(opened.tables, opened.connection)
    }

    private mutating func reopen() throws(CommitFailure) -> Opened {
      opened = nil
      let fresh = try open()
      opened = fresh
      // A process that was killed between a removal and its end left what it removed in the log.
      logHoldsTraces = !fresh.connection.isReadOnly
      return fresh
    }

    private mutating func openedForWriting() throws(CommitFailure) -> Opened {
      if let opened, !opened.connection.isReadOnly { return opened }
      let opened = try reopen()
      if opened.connection.isReadOnly { throw .database(.readOnly(opened.connection.path)) }
      return opened
    }

    /// Commits changes, all together or, where that fails, each alone; then does what the log needs.
    mutating func commit(_ batch: [Waiting]) {
      if let failure = transact(batch) {
        if batch.count == 1 {
          batch[0].done.resume(returning: failure)
        } else {
          for one in batch { commit([one]) }
        }
      } else {
        for one in batch {
          if Tables.leavesTraces(one.change) {
            owed.append((one.done, Limits.logEmptyingTries))
          } else {
            one.done.resume(returning: nil)
          }
        }
      }
      tendLog()
    }

    private mutating func transact(_ batch: [Waiting]) -> CommitFailure? {
      guard !batch.isEmpty else { return nil }
      do throws(CommitFailure) {
        let opened = try openedForWriting()
        let changes = batch.map { $0.change }
        do throws(CommitFailure) {
          try opened.connection.transaction(opened.statements, failure: CommitFailure.database) {
            () throws(CommitFailure) in
            try opened.tables.apply(changes, in: opened.connection)
          }
        } catch {
          opened.tables.settle(committed: false)
          throw error
        }
        opened.tables.settle(committed: true)
        return nil
      } catch {
        return error
      }
    }

    /// Empties the log where there is one. Where that fails the log stays, and is read at the next start.
    mutating func emptyLog() {
      guard let opened, !opened.connection.isReadOnly else { return }
      _ = try? opened.connection.emptyLog()
    }

    /// Empties the log where it may hold what was removed; else copies it into the file now and then. Whoever
    /// waits for a commit has been told by now.
    mutating func tendLog() {
      guard let opened else { return }
      do throws(DatabaseFault) {
        if owesTraces || logHoldsTraces {
          logHoldsTraces = true
          guard try opened.connection.emptyLog() else { return tryAgainLater() }
          logHoldsTraces = false
          for one in owed { one.done.resume(returning: nil) }
          owed = []
        } else if try isLong(opened) {
          try opened.connection.copyLog()
        }
      } catch {
        // The changes are committed. What could not be done is tried again after the next commit.
        for one in owed { one.done.resume(returning: .tracesLeft(error)) }
        owed = []
      }
    }

    /// A log is copied the less often, the more pages its changes are spread over.
    private func isLong(_ opened: Opened) throws(DatabaseFault) -> Bool {
      let pages = opened.connection.logPages
      guard pages >= Limits.logPages.lowerBound else { return false }
      return try pages >= min(Limits.logPages.upperBound, opened.statements.pages() / 2)
    }

    /// A reader holds the log: another program, or the main thread for a few microseconds.
    private mutating func tryAgainLater() {
      let (path, waiting) = (opened?.connection.path ?? "", owed)
      owed = []
      for one in waiting {
        if one.tries > 1 {
          owed.append((one.done, one.tries - 1))
        } else {
          one.done.resume(returning: .tracesLeft(.logIsRead(path)))
        }
      }
      if owesTraces { clinux_sleep(Limits.logEmptyingPause) }
    }
  }
}
