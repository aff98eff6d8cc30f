// What a record goes by in the file: a code of its key and account that tells nothing about them without the key. The
// id is the row's name, its first bits choose the bucket that it is summed in. Values only.

import VaultCrypto

/// 16 bytes of an HMAC.
struct RecordID: Hashable, Sendable {
  static let size = 16
  /// How many parts the set of records is summed in.
  static let buckets = 64

  let high: UInt64
  let low: UInt64

  /// The first 16 bytes of a code.
  init(_ digest: Digest) {
    (high, low) = digest.withBytes { bytes in (bytes.number(at: 0), bytes.number(at: 8)) }
  }

  /// The id that these bytes are; `nil` for any other number of them.
  init?(_ bytes: Span<UInt8>) {
    guard bytes.count == Self.size else { return nil }
    (high, low) = (bytes.number(at: 0), bytes.number(at: 8))
  }

  var bytes: InlineArray<16, UInt8> {
    InlineArray { place in UInt8(truncatingIfNeeded: (place < 8 ? high : low) >> UInt64(56 - 8 * (place & 7))) }
  }

  /// The bucket that it is summed in: its first six bits.
  var bucket: Int { Int(high >> 58) }

  /// The ids of a bucket as the file orders them: from the first, up to and without the second.
  static func range(ofBucket bucket: Int) -> ([UInt8], [UInt8]) {
    let first = [UInt8(bucket << 2)] + [UInt8](repeating: 0, count: size - 1)
    let next =
      bucket + 1 < buckets
      ? [UInt8((bucket + 1) << 2)] + [UInt8](repeating: 0, count: size - 1)
      // Longer than any id that begins with the same bytes, so behind them all.
      : [UInt8](repeating: 0xFF, count: size + 1)
    return (first, next)
  }

  static func == (left: Self, right: Self) -> Bool { left.high == right.high && left.low == right.low }

  func hash(into hasher: inout Hasher) {
    // Any part of an HMAC is as good a hash as all of it.
    hasher.combine(low)
  }
}

/// The version and the marks of a record, in one number.
struct Standing: Hashable, Sendable {
  /// The largest version that a record may have: far in the future for a time in milliseconds, and small enough for
  /// arithmetic with marks.
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
    guard (1...Self.largestVersion).contains(version), (0...Int64(Marks.known.rawValue)).contains(marks) else {
      return nil
    }
    packed = version << 2 | marks
  }

  var version: Int64 { packed >> 2 }
  var marks: Marks { Marks(rawValue: UInt8(packed & 3)) }
}
