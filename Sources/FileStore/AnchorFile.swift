// The file of the anchor, as the file thread keeps it: read when the vault file is unlocked, overwritten after each
// commit. What fails here fails nobody's change, which is on the disk by then: an anchor that stays behind claims
// less than it could.

import Database
import VaultCrypto
import VaultModel

/// The anchor beside a vault file.
final class AnchorFile {
  /// Its path as the user knows it.
  let path: String
  private let name: String
  private let place: Place
  private let folder: DataFolder
  private var file: FixedFile?

  /// The anchor of the file that `blueprint` plans.
  init(of blueprint: Blueprint, in folder: DataFolder) {
    name = blueprint.anchorName
    place = blueprint.place
    path = "\(folder.path)/\(name)"
    self.folder = folder
  }

  /// What it says.
  func read(_ keys: VaultKeys) throws(VaultError) -> Anchor.Finding {
    let bytes = try place.judge { () throws(FolderFault) in
      try FixedFile.read(name, Anchor.size + 1, in: folder)
    }
    return try place.judge { () throws(CryptoError) in try Anchor.judge(bytes, keys) }
  }

  /// Says that the file has come to `sequence`.
  func write(_ sequence: UInt64, _ keys: VaultKeys) {
    guard let bytes = try? Anchor(vault: keys.vault, sequence: sequence).bytes(keys) else { return }
    if file?.overwrite(bytes.span) == true { return }
    // The first time, or somebody moved it.
    file = try? FixedFile(name, in: folder)
    _ = file?.overwrite(bytes.span)
  }
}
