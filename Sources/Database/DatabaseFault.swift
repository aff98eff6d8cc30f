// What SQLite refused, with its code, and the one place where that becomes an outcome. Carries the path and
// SQLite's own words; never a value that was bound or read.

import CSQLite
import VaultModel

/// A call of SQLite that failed.
public struct DatabaseFault: Error, Hashable, Sendable {
  /// SQLite's extended result code.
  public let code: Int32
  /// What SQLite says of it.
  public let text: String
  /// The database file.
  public let path: String

  /// A fault with these fields.
  public init(code: Int32, text: String, path: String) {
    self.code = code
    self.text = text
    self.path = path
  }

  init(code: Int32, path: String) {
    self.init(code: code, text: unsafe String(cString: sqlite3_errstr(code)), path: path)
  }

  static func readOnly(_ path: String) -> DatabaseFault { DatabaseFault(code: SQLITE_READONLY, path: path) }
  static func logIsRead(_ path: String) -> DatabaseFault { DatabaseFault(code: SQLITE_BUSY, path: path) }

  /// What kind of trouble a code is.
  public enum Kind: Sendable {
    /// The disk is full, or a quota or RLIMIT_FSIZE is reached.
    case full
    /// The file or its folder cannot be written.
    case readOnly
    /// Another process holds a lock for longer than we wait.
    case busy
    /// The file's contents are not what SQLite would have written.
    case corrupt
    /// The file cannot be opened.
    case cannotOpen
    /// The system failed to read or write.
    case io
    /// No memory.
    case memory
    /// Anything else: a call of ours that makes no sense.
    case misuse
  }

  /// What kind of trouble this is.
  public var kind: Kind {
    switch code & 0xFF {
    case SQLITE_FULL: .full
    case SQLITE_READONLY, SQLITE_PERM: .readOnly
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: .corrupt
    // Our statements are constant and fit the tables: what SQLite finds wrong with one of them is in the file.
    case SQLITE_ERROR, SQLITE_SCHEMA, SQLITE_CONSTRAINT, SQLITE_MISMATCH: .corrupt
    case SQLITE_CANTOPEN: .cannotOpen
    case SQLITE_IOERR: .io
    case SQLITE_NOMEM: .memory
    default: .misuse
    }
  }

  /// Whether what was to be committed may be on the disk all the same: it was written, and the system could
  /// not say that it will stay.
  public var mayHaveCommitted: Bool {
    code == SQLITE_IOERR | (4 << 8)  // SQLITE_IOERR_FSYNC, a macro that Swift cannot read
  }
}

/// A fault of this module that has an outcome, once it is known what was being used.
public protocol Fault: Error {
  /// The outcome where this happened to `place`.
  func outcome(in place: Place) -> VaultError
}

extension Place {
  /// What to do with a file of the place that is damaged.
  var remedy: String { self == .session ? "remove it" : "restore it from a backup" }

  /// Runs `body`, whose fault happens to this place.
  public func judge<Result: ~Copyable, Failure: Fault>(
    _ body: () throws(Failure) -> Result
  ) throws(VaultError) -> Result {
    do { return try body() } catch { throw error.outcome(in: self) }
  }
}

extension DatabaseFault: Fault {
  public func outcome(in place: Place) -> VaultError {
    let detail = "\(text), SQLite's code \(code)"
    switch kind {
    case .full:
      return .unavailable(store: place, reason: "no space left for \(path); make some and try again")
    case .readOnly:
      return .unavailable(
        store: place, reason: "\(path) cannot be written (\(detail)); restart vaultd once it can")
    case .busy:
      return .unavailable(store: place, reason: "another program holds \(path); try again when it is done")
    case .corrupt:
      return .damaged(store: place, reason: "\(path) is damaged (\(detail)); \(place.remedy)")
    case .cannotOpen:
      return .unavailable(store: place, reason: "\(path) cannot be opened (\(detail))")
    case .io:
      let doubt = mayHaveCommitted ? "; the change may still take effect" : ""
      return .unavailable(store: place, reason: "the disk failed under \(path) (\(detail))\(doubt)")
    case .memory:
      return .unavailable(
        store: place, reason: "no memory to read \(path); try again when the machine has some")
    case .misuse:
      return .internal(reason: "SQLite refused a call on \(path) (\(detail))")
    }
  }
}
