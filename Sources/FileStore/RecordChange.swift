// What can be done to the vault file, ready to be committed: sealed on the main thread, written by the file
// thread.

import VaultModel

/// One change.
enum RecordChange: Sendable {
  /// A record is put, replaced or removed.
  case place(Placement)
  /// A slot is added.
  case addSlot(SlotRow)
  /// A slot is removed.
  case removeSlot(Int64)
}

/// A record as a change leaves it.
struct Placement: Sendable {
  var id: RecordID
  /// The multiplier of the id in the sums over the set.
  var multiplier: FieldElement
  /// The version of the change.
  var version: Version
  /// The row to be written; `nil` where there is to be none.
  var row: SealedRow?
  /// Whether what was there is to be gone from the log as well before the change is acknowledged.
  var removesSecret = false

  /// The record's standing after the change; `nil` for none.
  var standing: Standing? { row?.name.standing }
}

/// A record as it is in the file.
struct SealedRow: Sendable {
  var name: RecordName
  var entry: [UInt8]
  var secret: [UInt8]
}
