// What a record goes by in the file: a code of its key and account that tells nothing about them without the
// key. It is the number of the row, so that a look-up is one descent of one tree; its first bits choose the
// bucket that it is summed in. Values only.

import VaultCrypto

/// 64 bits of an HMAC. Among 100,000 records the odds that any two share an id are 3 in 10,000,000,000; the
/// older of the two would be damaged then, since a record also says whose it is.
struct RecordID: Hashable, Sendable {
  /// How many parts the set of records is summed in.
  static let buckets = 64

  let bits: UInt64

  /// The first 8 bytes of a code.
  init(_ digest: Digest) {
    bits = digest.withBytes { $0.number(at: 0) }
  }

  /// The id of a row.
  init(row: Int64) {
    bits = UInt64(bitPattern: row)
  }

  /// The number of its row.
  var row: Int64 { Int64(bitPattern: bits) }

  /// The bucket that it is summed in: its first six bits.
  var bucket: Int { Int(bits >> 58) }

  /// The rows of a bucket.
  static func rows(ofBucket bucket: Int) -> ClosedRange<Int64> {
    let first = UInt64(bucket) << 58
    return Int64(bitPattern: first)...Int64(bitPattern: first | (1 << 58 - 1))
  }
}

/// The version and the marks of a record, in one number.
struct Standing: Hashable, Sendable {
  /// The largest version that a record may have: far in the future for a time in milliseconds, and small
  /// enough for arithmetic with marks.
  static let largestVersion: Int64 = 1 << 60

  private let packed: Int64

  /// Marks that a row carries in the clear, authenticated with the rest.
  struct Marks: OptionSet, Hashable, Sendable {
    let rawValue: UInt8
    /// It waits to be moved into the Secret Service.
    static let pending = Marks(rawValue: 1)
    /// It says that the key was cleared, in a bucket where a missing row says nothing.
    static let tombstone = Marks(rawValue: 2)
    static let known: Marks = [.pending, .tombstone]
  }

  /// - Returns: `nil` for a version or marks that no record has.
  init?(version: Int64, marks: Int64) {
    guard (1...Self.largestVersion).contains(version), (0...Int64(Marks.known.rawValue)).contains(marks)
    else {
      return nil
    }
    packed = version << 2 | marks
  }

  var version: Int64 { packed >> 2 }
  var marks: Marks { Marks(rawValue: UInt8(packed & 3)) }
}
