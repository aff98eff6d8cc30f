// The owner of one connection to one database file, with the settings that every connection of ours has. Used
// by one thread: the main thread reads with one, the file thread writes with another. Knows nothing of what
// is in the tables.

import CSQLite

/// A connection; closed at the end of its owner's life, after its statements.
@safe public struct Connection: ~Copyable {
  /// What a connection may do.
  public enum Access: Sendable {
    /// Read, and change nothing.
    case read
    /// Read and write; one such connection to a file at a time.
    case write
  }

  private let handle: OpaquePointer
  // Where C counts; it has one owner, this one.
  private let counts: UnsafeMutablePointer<csqlite_counts>

  /// The database file.
  public let path: String

  /// Opens the file at `path`, which is there: a connection never makes one. The path must be free of
  /// symbolic links.
  /// - Throws: what is wrong with the file, as far as SQLite reads it now.
  public init(_ path: String, _ access: Access, layer: FileLayer) throws(DatabaseFault) {
    let connection = try Connection(opening: path, access, layer)
    try connection.configure(access)
    self = connection
  }

  private init(opening path: String, _ access: Access, _ layer: FileLayer) throws(DatabaseFault) {
    var handle: OpaquePointer?
    let way = access == .write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
    // Its one thread is the lock of a connection.
    let flags = way | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE
    var code = unsafe sqlite3_open_v2(path, &handle, flags, layer.text)
    if code == SQLITE_OK { code = unsafe csqlite_harden(handle) }
    guard code == SQLITE_OK, let opened = unsafe handle else {
      unsafe sqlite3_close_v2(handle)
      throw DatabaseFault(code: code, path: path)
    }
    unsafe self.handle = unsafe opened
    self.path = path
    unsafe counts = .allocate(capacity: 1)
    unsafe counts.initialize(to: csqlite_counts())
    unsafe csqlite_count_log_pages(opened, counts)
  }

  deinit {
    // What is still prepared lives on until it is finalized.
    unsafe sqlite3_close_v2(handle)
    unsafe counts.deallocate()
  }

  /// A number that grows with each transaction on the database, in this process or another, and wraps around; known
  /// without a call of the system. `nil` where it can't be had.
  public var changeCount: UInt32? {
    guard unsafe counts.pointee.changes != nil else { return nil }
    return unsafe csqlite_change_count(counts)
  }

  private func configure(_ access: Access) throws(DatabaseFault) {
    unsafe sqlite3_busy_timeout(handle, access == .write ? 2_000 : 50)
    try execute(
      """
      PRAGMA synchronous = FULL;
      PRAGMA secure_delete = ON;
      PRAGMA temp_store = MEMORY;
      PRAGMA mmap_size = 0;
      PRAGMA max_page_count = 16777215;
      """)
    switch access {
    case .read: try execute("PRAGMA query_only = ON; PRAGMA cache_size = -512;")
    case .write: try execute("PRAGMA cache_size = -2048;")
    }
    // The first statement that reads the file; the log's file is there from then on.
    try execute("SELECT count(*) FROM sqlite_schema;")
    unsafe csqlite_find_changes(handle, counts)
    try check(unsafe csqlite_keep_log(handle))
  }

  /// Runs statements that give no rows that matter.
  public func execute(_ sql: StaticString) throws(DatabaseFault) {
    let text = unsafe UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
    try check(unsafe sqlite3_exec(handle, text, nil, nil, nil))
  }

  /// Runs any statements: for tests that play another program.
  func executeText(_ sql: String) throws(DatabaseFault) {
    try check(unsafe sqlite3_exec(handle, sql, nil, nil, nil))
  }

  /// Prepares one statement.
  public func prepare(_ sql: StaticString) throws(DatabaseFault) -> Statement {
    var statement: OpaquePointer?
    let text = unsafe UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
    let code = unsafe sqlite3_prepare_v3(
      handle, text, Int32(sql.utf8CodeUnitCount), UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let prepared = unsafe statement else { throw fault(code) }
    return unsafe Statement(prepared, of: handle, path: path)
  }

  /// Runs `body` in one transaction: all of it is on the disk when this returns, or nothing.
  public func transaction<Result, Failure: Error>(
    failure: (DatabaseFault) -> Failure, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let statements: CommitStatements
    do { statements = try CommitStatements(self) } catch { throw failure(error) }
    return try transaction(statements, failure: failure, body)
  }

  /// The same with statements that are at hand.
  func transaction<Result, Failure: Error>(
    _ statements: borrowing CommitStatements, failure: (DatabaseFault) -> Failure,
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    do { try statements.begin.run() } catch { throw failure(error) }
    do throws(Failure) {
      let result = try body()
      do { try statements.commit.run() } catch { throw failure(error) }
      return result
    } catch {
      // SQLite has rolled back by itself after some failures.
      if unsafe sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
      throw error
    }
  }

  /// Runs `body`, all of whose reading sees one state of the database.
  public func snapshot<Result, Failure: Error>(
    failure: (DatabaseFault) -> Failure, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    do { try execute("BEGIN") } catch { throw failure(error) }
    defer { try? execute("ROLLBACK") }
    return try body()
  }

  /// Whether the file cannot be written, though it was opened for writing.
  public var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle, "main") != 0 }

  /// How many rows the last statement that was run to its end has changed.
  public var changedRows: Int64 { unsafe sqlite3_changes64(handle) }

  /// How many pages the write-ahead log had after this connection's last commit.
  public var logPages: Int { unsafe Int(counts.pointee.log_pages) }

  /// Copies what is in the log into the database file, as far as readers let it, so that the log's space is
  /// used again.
  public func copyLog() throws(DatabaseFault) {
    try check(unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil))
    unsafe counts.pointee.log_pages = 0
  }

  /// Copies what is in the log into the database file and empties the log.
  /// - Returns: false where a reader still needs the log: try again.
  public func emptyLog() throws(DatabaseFault) -> Bool {
    unsafe sqlite3_busy_timeout(handle, 0)
    defer { unsafe sqlite3_busy_timeout(handle, 2_000) }
    let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
    if code & 0xFF == SQLITE_BUSY { return false }
    try check(code)
    unsafe counts.pointee.log_pages = 0
    return true
  }

  private func check(_ code: Int32) throws(DatabaseFault) {
    guard code == SQLITE_OK else { throw fault(code) }
  }

  private func fault(_ code: Int32) -> DatabaseFault {
    let text = unsafe String(cString: sqlite3_errmsg(handle))
    return DatabaseFault(code: code, text: text, path: path)
  }
}

/// What a writer runs with every commit, prepared once.
struct CommitStatements: ~Copyable {
  let begin: Statement
  let commit: Statement
  private let pageCount: Statement

  init(_ connection: borrowing Connection) throws(DatabaseFault) {
    let begin = try connection.prepare("BEGIN IMMEDIATE")
    let commit = try connection.prepare("COMMIT")
    let pageCount = try connection.prepare("PRAGMA page_count")
    self.begin = begin
    self.commit = commit
    self.pageCount = pageCount
  }

  /// How many pages the database has.
  func pages() throws(DatabaseFault) -> Int {
    defer { pageCount.reset() }
    return try pageCount.step() ? Int(pageCount.integer(0)) : 0
  }
}
