// A file of a few bytes in the data folder that is overwritten in place, by one call of the system and without a
// sync: what was written last survives the end of the process, and is on the disk at some later time. Knows
// nothing of what the bytes mean.

import CLinux
import Glibc
import VaultModel

/// Such a file, open for writing; closed at the end of its owner's life.
public struct FixedFile: ~Copyable {
  private let descriptor: Int32

  /// Opens the file called `name`, or makes it, 0600 from its first moment on.
  public init(_ name: String, in folder: DataFolder) throws(FolderFault) {
    _ = try folder.examine(name)
    let flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC
    let opened = unsafe openat(folder.descriptor, name, flags, 0o600)
    guard opened >= 0 else {
      throw FolderFault(reason: "\(folder.path)/\(name) cannot be written: \(errorText(errno))")
    }
    descriptor = opened
  }

  deinit {
    close(descriptor)
  }

  /// Overwrites it with `bytes`, always as many. A killed process leaves the old bytes or the new.
  /// - Returns: whether they are in the file, and the file is where it can be found.
  public func overwrite(_ bytes: Span<UInt8>) -> Bool {
    var file = clinux_file()
    guard unsafe clinux_look(descriptor, "", &file) == 0, file.links > 0 else { return false }
    let written = unsafe bytes.withUnsafeBytes { bytes in
      unsafe pwrite(descriptor, bytes.baseAddress, bytes.count, 0)
    }
    guard written == bytes.count else { return false }
    return file.size <= UInt64(bytes.count) || ftruncate(descriptor, off_t(bytes.count)) == 0
  }

  /// The bytes of the file called `name`, at most `count` of them; none where there is no file.
  public static func read(_ name: String, _ count: Int, in folder: DataFolder) throws(FolderFault) -> [UInt8]
  {
    guard try folder.examine(name) != nil else { return [] }
    return try folder.head(of: name, count)
  }
}
