// The file thread: what comes in together is committed together, and each change has its own outcome.

import Dispatch
import Synchronization
import TestSupport
import Testing
import VaultModel

@testable import Database

@Suite struct GroupCommitTests {
  let folder: DataFolder
  let temporary: TemporaryFolder

  init() throws {
    temporary = try TemporaryFolder()
    folder = DataFolder(temporary.path)
    try Numbers.blueprint.make(in: folder) { _ throws(DatabaseFault) in }
  }

  private func writer(_ sizes: BatchSizes) -> GroupCommit<Numbers> {
    let folder = folder
    return GroupCommit(name: "test") { () throws(CommitFailure) in
      do throws(DatabaseFault) {
        let connection = try Connection(
          folder.path(of: Numbers.blueprint.name), .write, layer: folder.layer)
        let numbers = try Numbers(connection, sizes)
        return try GroupCommit<Numbers>.Opened(connection, numbers)
      } catch {
        throw .database(error)
      }
    }
  }

  @Test("changes that come in during a commit share the next one, and all are there afterwards")
  func shared() async throws {
    let sizes = BatchSizes()
    let writer = writer(sizes)
    let failures = await withTaskGroup(of: CommitFailure?.self) { group in
      for number in 1...400 { group.addTask { await writer.commit(number) } }
      return await group.reduce(into: [CommitFailure]()) { failures, one in
        if let one { failures.append(one) }
      }
    }
    #expect(failures.isEmpty)
    let count = try await writer.perform { numbers, _ throws(CommitFailure) in numbers.count }
    #expect(count == 400)
    #expect(sizes.all.withLock { $0.count } < 400)
    #expect(sizes.all.withLock { $0.reduce(0, +) } == 400)
  }

  @Test("changes that wait are committed in as few transactions as their limit allows")
  func full() async throws {
    let sizes = BatchSizes()
    let writer = writer(sizes)
    let (begun, goOn) = (Promise<Void>(), Promise<Void>())
    let count = 2 * Limits.changesInOneCommit + 7
    async let held: Void = writer.perform { _, _ throws(CommitFailure) in
      begun.resume()
      // The thread waits as it does for a disk.
      let semaphore = DispatchSemaphore(value: 0)
      Task {
        await goOn.value()
        semaphore.signal()
      }
      #expect(semaphore.wait(timeout: .now() + 60) == .success)
    }
    await begun.value()
    let outcomes = (1...count).map { number in Task { await writer.commit(number) } }
    try await until("all changes wait") { writer.waitingCount >= count }
    goOn.resume()
    try await held
    for outcome in outcomes { #expect(await outcome.value == nil) }
    let most = Limits.changesInOneCommit
    #expect(sizes.all.withLock { $0 } == [most, most, 7])
  }

  @Test("a change that cannot be made does not take those with it that it came with")
  func oneFails() async throws {
    let writer = writer(BatchSizes())
    _ = await writer.commit(7)
    let outcomes = await withTaskGroup(of: (Int, CommitFailure?).self) { group in
      // 7 is there already, and numbers are unique.
      for number in [5, 6, 7, 8, 9] { group.addTask { (number, await writer.commit(number)) } }
      return await group.reduce(into: [Int: CommitFailure?]()) { $0[$1.0] = $1.1 }
    }
    for (number, failure) in outcomes { #expect((failure == nil) == (number != 7), "\(number)") }
    #expect(try await writer.perform { numbers, _ throws(CommitFailure) in numbers.count } == 5)
  }

  @Test("the log is short when something was removed, and a reader that holds it is waited for")
  func log() async throws {
    let writer = writer(BatchSizes())
    for number in 1...20 { _ = await writer.commit(number) }
    let log = folder.path(of: Numbers.blueprint.name + "-wal")
    #expect(size(of: log) > 0)

    let reader = Mutex<Connection?>(
      try Connection(folder.path(of: Numbers.blueprint.name), .read, layer: folder.layer))
    try reader.withLock { try $0?.execute("BEGIN; SELECT count(*) FROM number") }
    async let removed = writer.commit(-1)
    // Other changes go on meanwhile.
    #expect(await writer.commit(21) == nil)
    reader.withLock { $0 = nil }
    #expect(await removed == nil)
    #expect(size(of: log) == 0)
  }

  @Test("the log does not grow with the number of commits")
  func bounded() async throws {
    let writer = writer(BatchSizes())
    for number in 1...(2 * Limits.logPages.lowerBound) { _ = await writer.commit(number) }
    let log = folder.path(of: Numbers.blueprint.name + "-wal")
    #expect(size(of: log) < (Limits.logPages.lowerBound + 100) * (1_024 + 24))
  }

  private func size(of path: String) -> Int {
    (try? contents(of: path))?.count ?? -1
  }
}

/// How many changes each transaction had.
private final class BatchSizes: Sendable {
  let all = Mutex<[Int]>([])
}

/// A table of numbers: a positive one is added, a negative one removed.
private final class Numbers: WrittenTables {
  static let blueprint = Blueprint(
    name: "numbers.db", place: .file, application: 7, format: 1,
    marks: "PRAGMA application_id = 7; PRAGMA user_version = 1",
    tables: ["CREATE TABLE number (value INTEGER PRIMARY KEY)"])

  private let insert: Statement
  private let delete: Statement
  private let counting: Statement
  private let sizes: BatchSizes
  private var batch = 0

  init(_ connection: borrowing Connection, _ sizes: BatchSizes) throws(DatabaseFault) {
    insert = try connection.prepare("INSERT INTO number (value) VALUES (?)")
    delete = try connection.prepare("DELETE FROM number WHERE value = -?")
    counting = try connection.prepare("SELECT count(*) FROM number")
    self.sizes = sizes
  }

  func apply(_ changes: [Int], in connection: borrowing Connection) throws(CommitFailure) {
    batch = changes.count
    do throws(DatabaseFault) {
      for change in changes {
        if change > 0 {
          try insert.run(.integer(Int64(change)))
        } else {
          try delete.run(.integer(Int64(change)))
        }
      }
    } catch {
      throw .database(error)
    }
  }

  func settle(committed: Bool) {
    if committed { sizes.all.withLock { $0.append(batch) } }
  }

  var count: Int {
    defer { counting.reset() }
    return (try? counting.step()) == true ? Int(counting.integer(0)) : -1
  }

  static func leavesTraces(_ change: Int) -> Bool { change < 0 }
}
