// A vault file that is ours and of a format that we know, open for reading, with the thread that writes it.
// Whether it is locked or unlocked is the store's to know. Examines the file before SQLite may touch it.

import Database
import VaultCore
import VaultModel

/// An open vault file.
final class OpenedFile {
  /// Which vault it is.
  let header: Header
  /// Reads on the main thread.
  let reader: RecordReader
  /// Writes on the file thread.
  let commits: GroupCommit<RecordTables>
  /// The slots, by number; `nil` for one that is damaged.
  var slots: [SlotRow?]
  /// How many records there are, as far as that is known while the file is locked; `nil` where some were changed.
  var recordCount: Int?

  private var largest: Version?

  /// Opens the file in `folder`.
  /// - Returns: `nil` where there is none.
  /// - Throws: `.damaged` for what is not ours or has a damaged header, `.unsupportedVersion` for a newer
  ///   format.
  static func open(_ blueprint: Blueprint, in folder: DataFolder) throws(VaultError) -> OpenedFile? {
    guard try blueprint.examine(in: folder) != nil else { return nil }
    return try OpenedFile(blueprint, folder)
  }

  private init(_ blueprint: Blueprint, _ folder: DataFolder) throws(VaultError) {
    let path = folder.path(of: blueprint.name)
    let connection = try blueprint.place.judge { () throws(DatabaseFault) in
      try Connection(path, .read, layer: folder.layer)
    }
    header = try Header.read(connection, of: blueprint)
    let hasItsTables = try blueprint.place.judge { () throws(DatabaseFault) in
      try blueprint.hasItsTables(connection)
    }
    guard hasItsTables else {
      throw .damaged(
        store: blueprint.place,
        reason: "the tables of \(path) are not those of a vault file; \(blueprint.remedy)")
    }
    do throws(DatabaseFault) {
      reader = try RecordReader(connection)
      slots = try reader.slots()
      recordCount = try reader.count()
    } catch {
      throw error.outcome(in: blueprint.place)
    }
    let (vault, inForce) = (header.vault, LedgerInForce())
    commits = GroupCommit(name: "vault-file") { () throws(CommitFailure) in
      do throws(DatabaseFault) {
        let access: Connection.Access = folder.isWritable ? .write : .read
        let connection = try Connection(path, access, layer: folder.layer)
        let tables = try RecordTables(connection, of: vault, blueprint, in: folder, inForce)
        return try GroupCommit<RecordTables>.Opened(connection, tables)
      } catch {
        throw .database(error)
      }
    }
  }

  /// The largest version that a record shows, as far as it may be believed while the file is locked: a change made
  /// then must be above what is in it. Asks every page of the file the first time, which a file that is unlocked at once
  /// is spared.
  func largestVersion() throws(DatabaseFault) -> Version {
    if let largest { return largest }
    // Somebody without the key may have written any number: beyond what a record may have it is none of ours.
    let shown = try reader.largestVersion()
    let largest = (0...Standing.largestVersion / 2).contains(shown) ? shown : 0
    self.largest = largest
    return largest
  }

  /// The file is locked again, with records up to this version.
  func lock(at highest: Version, recordCount: Int?) {
    largest = highest
    self.recordCount = recordCount
  }

  /// The slots that are sound.
  var soundSlots: [SlotRow] { slots.compactMap(\.self) }

  /// Whether a slot is damaged, or there is none at all.
  var hasDamagedSlots: Bool { slots.isEmpty || slots.contains(nil) }
}
