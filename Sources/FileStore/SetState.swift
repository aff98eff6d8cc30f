// What authenticates the set of records as a whole: one row, sealed, rewritten by every transaction. Any
// change of which records there are, or of their versions, made by somebody without the key, shows when the
// file is opened; and where one record was changed, it shows which.
//
// The set is a function from ids to versions, 0 for an id that has no record. For each of 64 buckets the row
// keeps the number of records and two sums, modulo 2^127 − 1, with a secret multiplier m(id) = HMAC(key, id)
// for each id:
//
//     presence = Σ m(id) over the ids that are there        versions = Σ version · m(id)
//
// Whoever changes some versions by Δ must hit Σ Δ(id) · m(id) = 0 with multipliers that nobody knows and sums
// that nobody sees: the odds are 1 in 2^127 a try (a linear universal hash; the sums are sealed, so they
// never help). A sum is kept up in constant time by each write. And unlike a sum of codes it can be solved:
// `Blame` finds the one record that explains a difference.

import SecretMemory
import VaultModel

/// The sums over one part of the set.
struct BucketSums: Hashable, Sendable {
  var count: Int64 = 0
  var presence = FieldElement.zero
  var versions = FieldElement.zero

  /// Changes the version of one id; 0 is none.
  mutating func change(_ multiplier: FieldElement, from old: Version, to new: Version) {
    if old == 0, new != 0 { (count, presence) = (count + 1, presence + multiplier) }
    if old != 0, new == 0 { (count, presence) = (count - 1, presence - multiplier) }
    versions += FieldElement(new - old) * multiplier
  }

  static func - (left: Self, right: Self) -> Self {
    BucketSums(
      count: left.count - right.count, presence: left.presence - right.presence,
      versions: left.versions - right.versions)
  }
}

/// A slot that was added by somebody with the key.
struct SlotMark: Hashable, Sendable {
  var number: Int64
  /// The slot's checksum.
  var checksum: [UInt8]
}

/// The content of the sealed row.
struct SetState: Hashable, Sendable {
  /// How many changes there were: an upper bound of what each key has sealed.
  var sequence: UInt64 = 0
  /// The largest version ever given.
  var highest: Version = 0
  /// The buckets, one bit each from the lowest, in which records were found changed and could not be told:
  /// there a record that is not there may have been removed by somebody else.
  var doubted: UInt64 = 0
  /// How many slots were ever added: the last number given.
  var slotsMade: Int64 = 0
  /// The slots.
  var slots: [SlotMark] = []
  /// The sums.
  var buckets = [BucketSums](repeating: BucketSums(), count: RecordID.buckets)

  private static let form: UInt64 = 1
  // What the numbers of a bucket take.
  private static let bucketSize = 40

  /// As bytes, to be sealed.
  var bytes: [UInt8] {
    let slotSize = 8 + Checksum.size
    var bytes = [UInt8](
      repeating: 0, count: 48 + slotSize * slots.count + Self.bucketSize * buckets.count)
    // Hundreds of numbers, and written with every change: into room for all of them.
    var room = bytes.mutableSpan
    room.write(Self.form, at: 0)
    room.write(sequence, at: 8)
    room.write(UInt64(bitPattern: highest), at: 16)
    room.write(doubted, at: 24)
    room.write(UInt64(bitPattern: slotsMade), at: 32)
    room.write(UInt64(slots.count), at: 40)
    var place = 48
    for slot in slots {
      room.write(UInt64(bitPattern: slot.number), at: place)
      room.write(slot.checksum.span, at: place + 8)
      place += slotSize
    }
    for bucket in buckets {
      room.write(UInt64(bitPattern: bucket.count), at: place)
      room.write(bucket.presence.value, at: place + 8)
      room.write(bucket.versions.value, at: place + 24)
      place += Self.bucketSize
    }
    return bytes
  }

  init() {}

  /// The state that `bytes`, which were opened under the key, are; `nil` where they are none.
  init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard reader.number() == Self.form, let sequence = reader.number(), let highest = reader.number(),
      let doubted = reader.number(), let slotsMade = reader.number(), let count = reader.number(),
      highest <= UInt64(Standing.largestVersion), slotsMade < UInt64(Int64.max), count <= UInt64(Limits.slots)
    else { return nil }
    (self.sequence, self.highest) = (sequence, Int64(highest))
    (self.doubted, self.slotsMade) = (doubted, Int64(slotsMade))
    for _ in 0..<count {
      guard let number = reader.number(), let checksum = reader.run(Checksum.size) else { return nil }
      slots.append(SlotMark(number: Int64(bitPattern: number), checksum: checksum))
    }
    for bucket in buckets.indices {
      guard let count = reader.number(), count <= UInt64(UInt32.max), let presence = reader.wideNumber(),
        let versions = reader.wideNumber()
      else { return nil }
      buckets[bucket] = BucketSums(
        count: Int64(count), presence: FieldElement(reducing: presence),
        versions: FieldElement(reducing: versions))
    }
    guard reader.isAtEnd else { return nil }
  }

  /// Whether a bucket is doubted.
  func doubts(_ bucket: Int) -> Bool { doubted >> UInt64(bucket) & 1 == 1 }

  /// Doubts a bucket from now on.
  mutating func doubt(_ bucket: Int) { doubted |= 1 << UInt64(bucket) }
}
