// The owner of one prepared statement: values go in by number from 1, come out by number from 0. Used again
// and again by the thread of its connection. Values that are bound are copied by SQLite; none of ours is a
// secret.

import CSQLite

/// A prepared statement; finalized at the end of its owner's life, which may be after its connection's.
@safe public struct Statement: ~Copyable {
  private let handle: OpaquePointer
  private let connection: OpaquePointer
  private let path: String

  @unsafe init(_ handle: OpaquePointer, of connection: OpaquePointer, path: String) {
    unsafe self.handle = unsafe handle
    unsafe self.connection = unsafe connection
    self.path = path
  }

  deinit {
    unsafe sqlite3_finalize(handle)
  }

  /// A value for one of the statement's parameters.
  public enum Value: Sendable {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case null
  }

  /// Sets the parameters, in order, and begins anew.
  public func bind(_ values: Value...) throws(DatabaseFault) {
    try bind(values)
  }

  /// Runs a statement that gives no rows, with these parameters or those that it was given one by one.
  public func run(_ values: Value...) throws(DatabaseFault) {
    if !values.isEmpty { try bind(values) }
    while try step() {}
  }

  /// Sets the parameters, in order, and begins anew.
  public func bind(_ values: [Value]) throws(DatabaseFault) {
    unsafe sqlite3_reset(handle)
    for (place, value) in zip(Int32(1)..., values) {
      switch value {
      case .integer(let number): try bind(number, at: place)
      case .text(let text): try bind(text, at: place)
      case .blob(let bytes): try bind(bytes.span, at: place)
      case .null: try check(unsafe sqlite3_bind_null(handle, place))
      }
    }
  }

  /// Sets parameter `place` to a blob. The statement must have been reset since its last step, as it is after
  /// `run` and after a `step` that found no row.
  public func bind(_ bytes: Span<UInt8>, at place: Int32) throws(DatabaseFault) {
    let code = unsafe bytes.withUnsafeBytes { bytes in
      unsafe csqlite_bind_blob(handle, place, bytes.baseAddress, Int32(bytes.count))
    }
    try check(code)
  }

  /// Sets parameter `place` to a number.
  public func bind(_ number: Int64, at place: Int32) throws(DatabaseFault) {
    try check(unsafe sqlite3_bind_int64(handle, place, number))
  }

  private func bind(_ text: String, at place: Int32) throws(DatabaseFault) {
    var text = text
    let code = text.withUTF8 { bytes in
      unsafe bytes.withMemoryRebound(to: CChar.self) { bytes in
        unsafe csqlite_bind_text(handle, place, bytes.baseAddress, Int32(bytes.count))
      }
    }
    try check(code)
  }

  /// Goes on to the next row.
  /// - Returns: false where there is none; the statement is reset then.
  public func step() throws(DatabaseFault) -> Bool {
    let code = unsafe sqlite3_step(handle)
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE:
      unsafe sqlite3_reset(handle)
      return false
    default:
      let fault = unsafe DatabaseFault(
        code: code, text: String(cString: sqlite3_errmsg(connection)), path: path)
      unsafe sqlite3_reset(handle)
      throw fault
    }
  }

  /// Lets go of the row and of what it holds in the database. Needed after reading fewer rows than there are.
  public func reset() {
    unsafe sqlite3_reset(handle)
  }

  /// The number in a column of the present row; 0 where there is none.
  public func integer(_ column: Int32) -> Int64 {
    unsafe sqlite3_column_int64(handle, column)
  }

  /// Whether a column of the present row is NULL.
  public func isNull(_ column: Int32) -> Bool {
    unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
  }

  /// The text in a column of the present row; `nil` where it is not UTF-8.
  public func text(_ column: Int32) -> String? {
    withBlob(column) { bytes in
      unsafe bytes.withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    }
  }

  /// A copy of the bytes in a column of the present row.
  public func blob(_ column: Int32) -> [UInt8] {
    withBlob(column) { bytes in unsafe bytes.withUnsafeBytes { unsafe Array($0) } }
  }

  /// Reads the bytes in a column of the present row, in SQLite's own memory; empty where it is NULL.
  public func withBlob<Result: ~Copyable, Failure: Error>(
    _ column: Int32, _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let start = unsafe sqlite3_column_blob(handle, column)
    let count = unsafe Int(sqlite3_column_bytes(handle, column))
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
    return try body(unsafe Span<UInt8>(_unsafeBytes: bytes))
  }

  private func check(_ code: Int32) throws(DatabaseFault) {
    guard code == SQLITE_OK else { throw DatabaseFault(code: code, path: path) }
  }
}
