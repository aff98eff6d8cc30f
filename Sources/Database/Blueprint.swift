// What one of our database files is, whatever is in it: its name, the number by which `file(1)` and we know
// it, its format and its tables. Makes such a file, all or nothing, and judges one that is there before
// SQLite may write to it: a file that is not ours is never touched.

import VaultModel

/// The plan of a database file.
public struct Blueprint: Sendable {
  /// The file's name in the data folder.
  public let name: String
  /// What outcomes call it.
  public let place: Place
  /// SQLite's `application_id`.
  public let application: Int32
  /// SQLite's `user_version`: the format that this program writes, and the last that it reads.
  public let format: Int32
  /// The statements that make the tables and indexes, as SQLite keeps them.
  public let tables: [StaticString]
  /// Sets `application_id` and `user_version`.
  public let marks: StaticString

  /// A plan of these.
  public init(
    name: String, place: Place, application: Int32, format: Int32, marks: StaticString, tables: [StaticString]
  ) {
    self.name = name
    self.place = place
    self.application = application
    self.format = format
    self.marks = marks
    self.tables = tables
  }

  /// What to do with such a file where it is damaged.
  public var remedy: String { place.remedy }

  /// The names of everything that SQLite may keep of a database called `name`.
  private static func files(of name: String) -> [String] { [name] + sideFiles(of: name) }

  private static func sideFiles(of name: String) -> [String] {
    ["-journal", "-wal", "-shm"].map { name + $0 }
  }

  /// What this process would find if it were killed now and started again: a connection of its own that reads what
  /// is in the files, and nothing of what it remembers of them. Nobody may write meanwhile.
  public func crashView(in folder: DataFolder) throws(DatabaseFault) -> Connection {
    try Connection(folder.path(of: name), .read, layer: .crashView)
  }

  // MARK: Making

  /// Makes the file, filled by `fill`. A process that is killed meanwhile leaves no file of that name.
  /// - Throws: `.unavailable` also where there is one already.
  public func make(
    in folder: DataFolder, _ fill: (borrowing Connection) throws(DatabaseFault) -> Void
  ) throws(VaultError) {
    let unfinished = name + ".new"
    for file in Self.files(of: unfinished) { folder.remove(file) }
    defer { for file in Self.files(of: unfinished) { folder.remove(file) } }
    try place.judge { () throws(FolderFault) in
      try folder.checkWritable()
      try folder.create(unfinished)
    }
    try place.judge { () throws(DatabaseFault) in try write(folder.path(of: unfinished), folder.layer, fill) }
    try place.judge { () throws(FolderFault) in
      guard try folder.examine(name) == nil else {
        throw FolderFault(reason: "there is a \(folder.path)/\(name)")
      }
      // A log that is left of a file that is gone would be taken for this one's.
      for file in Self.sideFiles(of: name) { folder.remove(file) }
      try folder.rename(unfinished, to: name)
    }
  }

  private func write(
    _ path: String, _ layer: FileLayer, _ fill: (borrowing Connection) throws(DatabaseFault) -> Void
  ) throws(DatabaseFault) {
    let connection = try Connection(path, .write, layer: layer)
    // Small pages: what a change costs is the pages that it touches, and a record has a few hundred bytes.
    try connection.execute("PRAGMA page_size = 1024")
    try connection.execute(marks)
    try connection.transaction(failure: { $0 }) { () throws(DatabaseFault) in
      for table in tables { try connection.execute(table) }
      try fill(connection)
    }
    // Last, and in the file itself: a file that has no log yet is whole without one.
    try connection.execute("PRAGMA journal_mode = WAL")
  }

  // MARK: Judging

  /// Looks at the file before SQLite does. Not while a connection to it is open in this process.
  /// - Returns: `nil` where there is none.
  /// - Throws: `.damaged` where it is not a database of this application, `.unavailable` where it cannot be
  ///   read.
  public func examine(in folder: DataFolder) throws(VaultError) -> DataFolder.File? {
    let found = try place.judge { () throws(FolderFault) -> (DataFolder.File, [UInt8])? in
      guard let file = try folder.examine(name) else { return nil }
      // The log holds the same as the file.
      for side in Self.sideFiles(of: name) { _ = try folder.examine(side) }
      return (file, try folder.head(of: name, 100))
    }
    guard let (file, head) = found else { return nil }
    guard isOurs(head) else {
      throw .damaged(
        store: place,
        reason: file.size == 0
          ? "\(folder.path)/\(name) is empty; \(remedy), or move it away"
          : "\(folder.path)/\(name) is not a file of vaultd, or is damaged; \(remedy), or move it away"
      )
    }
    return file
  }

  /// The head of an SQLite database that uses a write-ahead log and carries our number (SQLite's file format,
  /// section 1.3).
  private func isOurs(_ head: [UInt8]) -> Bool {
    let magic = Array("SQLite format 3\0".utf8)
    guard head.count == 100, head.starts(with: magic), head[18] == 2, head[19] == 2 else { return false }
    return head[68..<72].reduce(0) { $0 << 8 | Int32($1) } == application
  }

  /// The format that the file says it has.
  public func format(_ connection: borrowing Connection) throws(DatabaseFault) -> Int64 {
    let statement = try connection.prepare("PRAGMA user_version")
    defer { statement.reset() }
    return try statement.step() ? statement.integer(0) : 0
  }

  /// Whether the file's tables are those of the plan, and nothing beside them.
  public func hasItsTables(_ connection: borrowing Connection) throws(DatabaseFault) -> Bool {
    let statement = try connection.prepare(
      "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")
    defer { statement.reset() }
    for table in tables {
      guard try statement.step(), statement.text(0) == "\(table)" else { return false }
    }
    return try !statement.step()
  }

  /// Renames the file, with what SQLite keeps beside it, to a name that says that it is damaged.
  /// - Returns: the new name.
  public func moveAside(in folder: DataFolder, at time: WallTime) throws(VaultError) -> String {
    let aside = "\(name).damaged-\(time.milliseconds)"
    try place.judge { () throws(FolderFault) in
      try folder.checkWritable()
      for side in ["-wal", "-shm", ""] where folder.identity(of: name + side) != nil {
        try folder.rename(name + side, to: aside + side)
      }
    }
    return aside
  }
}

/// Watches that the files which a writer has open are still the ones that their names lead to, and that it
/// may write to them: what is written to a file that was moved away is lost.
public struct FileWatch: Sendable {
  private let folder: DataFolder
  private let place: Place
  private let seen: [String: DataFolder.Identity]

  /// Watches the file of `blueprint` and its log, both open by now.
  public init(_ blueprint: Blueprint, in folder: DataFolder) {
    self.folder = folder
    place = blueprint.place
    var seen: [String: DataFolder.Identity] = [:]
    for name in [blueprint.name, blueprint.name + "-wal"] { seen[name] = folder.identity(of: name) }
    self.seen = seen
  }

  /// Whether the names lead to the files that are open.
  public var isInPlace: Bool { seen.allSatisfy { folder.identity(of: $0) == $1 } }

  /// Throws where a write would be lost or must not be.
  public func check() throws(VaultError) {
    try place.judge { () throws(FolderFault) in
      try folder.checkWritable()
      for (name, identity) in seen where folder.identity(of: name) != identity {
        throw FolderFault(
          reason: "\(folder.path)/\(name) was moved or replaced while vaultd was running: restart vaultd")
      }
    }
  }
}
