// A folder that only its owner can enter: where the socket is. What is done in it is done through the open folder,
// so that it stays the folder that was looked at.

import Glibc

/// An open folder of ours, of mode 0700.
struct PrivateFolder: ~Copyable {
  private let folder: Descriptor

  /// Whether it was looser and was tightened.
  let wasLoose: Bool

  /// The open folder, for the calls that take one.
  var number: Int32 { folder.number }

  /// Opens `path`; makes the folder, but not those above it, where it isn't there.
  /// - Throws: `.setting` where it is somebody else's, no folder, or shared by everyone.
  static func open(path: String) throws(StartFailure) -> PrivateFolder {
    if unsafe mkdir(path, 0o700) != 0, errno != EEXIST {
      throw .setting("the folder \(path) cannot be made: \(SystemError.meaning(of: errno))")
    }
    let number = unsafe Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard number >= 0 else {
      throw .setting("the folder \(path) cannot be opened: \(SystemError.meaning(of: errno))")
    }
    let folder = Descriptor(owning: number)
    let wasLoose = try tighten(folder, path: path)
    return PrivateFolder(folder: folder, wasLoose: wasLoose)
  }

  private static func tighten(
    _ folder: borrowing Descriptor, path: String
  ) throws(StartFailure) -> Bool {
    var status = stat()
    guard unsafe fstat(folder.number, &status) == 0 else {
      throw .setting("the folder \(path) cannot be looked at: \(SystemError.meaning(of: errno))")
    }
    guard status.st_uid == geteuid() else {
      throw .setting(
        "the folder \(path) belongs to uid \(status.st_uid), and the socket needs one of your own; "
          + "name it with VAULTD_SOCKET or --socket")
    }
    if status.st_mode & 0o077 == 0 { return false }
    // /tmp and its like are everyone's: tightening them would take them away from all others.
    guard status.st_mode & S_ISVTX == 0 else {
      throw .setting(
        "the folder \(path) is shared by all users, and the socket needs one of your own; "
          + "name it with VAULTD_SOCKET or --socket")
    }
    guard fchmod(folder.number, 0o700) == 0 else {
      throw .setting("the folder \(path) is too open and stays so: \(SystemError.meaning(of: errno))")
    }
    return true
  }
}
