// The file that clients connect to: made by this daemon alone, under a kernel lock that ends with the process. Two
// processes can both bind one path by taking it away from each other; with the lock only one of them tries. Never
// removes what it did not make, and never a socket that somebody serves.

import CLinux
import Glibc
import VaultModel
import VaultWire

/// A socket that listens, with its file, the folder of that and the lock beside it.
struct SocketFile: ~Copyable {
  /// The socket.
  let socket: Descriptor

  /// Whether the folder was too loose and was tightened.
  var folderWasLoose: Bool { folder.wasLoose }

  private let name: String
  private let folder: PrivateFolder
  private let lock: Descriptor
  private let device: dev_t
  private let inode: ino_t

  /// Makes the file at `path` and listens on it.
  /// - Throws: `.served` where another daemon does, `.setting` where the place is not one for a socket of ours.
  static func make(path: String) throws(StartFailure) -> SocketFile {
    guard path.utf8.count <= SocketPath.longest else {
      throw .setting(SocketPathProblem.tooLong(path).description)
    }
    let (folderPath, name) = split(path)
    guard !name.isEmpty, name != ".", name != ".." else {
      throw .setting("\(path) is a folder and no name for a socket")
    }
    let folder = try PrivateFolder.open(path: folderPath)
    let lock = try takeLock(path: path, name: name, in: folder)
    try removeStale(path: path, name: name, in: folder)

    let socket = Descriptor(owning: try check(clinux_stream_socket(true), "the socket cannot be made"))
    try check(unsafe clinux_socket_bind(socket.number, path), "the socket \(path) cannot be made")
    try check(
      clinux_socket_listen(socket.number, Limits.backlog), "the socket \(path) cannot be listened on")
    var status = stat()
    guard unsafe fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      throw .setting("the socket \(path) was taken away at once: \(SystemError.meaning(of: errno))")
    }
    return SocketFile(
      socket: socket, name: name, folder: folder, lock: lock, device: status.st_dev, inode: status.st_ino)
  }

  /// Takes the lock beside a socket that the service manager made, so that no other daemon serves its path.
  static func takeLock(besideSocketAt path: String) throws(StartFailure) -> Descriptor {
    let (folderPath, name) = split(path)
    return try takeLock(path: path, name: name, in: PrivateFolder.open(path: folderPath), probes: false)
  }

  /// Removes the file, if it is still the one that was made.
  func remove() {
    var status = stat()
    guard unsafe fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return }
    guard status.st_dev == device, status.st_ino == inode else { return }
    _ = unsafe unlinkat(folder.number, name, 0)
  }

  private static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
    let folder = String(path[..<slash])
    return (folder.isEmpty ? "/" : folder, String(path[path.utf8.index(after: slash)...]))
  }

  /// Takes the lock. One that is taken belongs to a daemon that serves, and that is an answer, or to one that has
  /// just begun or is about to end, and then it is waited for.
  private static func takeLock(
    path: String, name: String, in folder: borrowing PrivateFolder, probes: Bool = true
  ) throws(StartFailure) -> Descriptor {
    let flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
    let number = unsafe openat(folder.number, name + ".lock", flags, 0o600)
    guard number >= 0 else {
      throw .setting("the lock \(path).lock cannot be made: \(SystemError.meaning(of: errno))")
    }
    let lock = Descriptor(owning: number)
    let end = clinux_boot_milliseconds() + Limits.lockMilliseconds
    while flock(number, LOCK_EX | LOCK_NB) != 0 {
      guard errno == EWOULDBLOCK else {
        throw .setting("the lock \(path).lock cannot be taken: \(SystemError.meaning(of: errno))")
      }
      if probes, try isServed(path) { throw .served(path) }
      if clinux_boot_milliseconds() >= end { throw .served(path) }
      usleep(20_000)
    }
    return lock
  }

  /// Removes what a daemon that was killed left: a socket of ours that refuses connections, and nothing else.
  private static func removeStale(
    path: String, name: String, in folder: borrowing PrivateFolder
  ) throws(StartFailure) {
    var status = stat()
    guard unsafe fstatat(folder.number, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
      if errno == ENOENT { return }
      throw .setting("\(path) cannot be looked at: \(SystemError.meaning(of: errno))")
    }
    guard status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid() else {
      throw .setting("\(path) is there already and is no socket of yours; move it away or name another path")
    }
    if try isServed(path) { throw .served(path) }
    guard unsafe unlinkat(folder.number, name, 0) == 0 || errno == ENOENT else {
      throw .setting("the stale socket \(path) cannot be removed: \(SystemError.meaning(of: errno))")
    }
  }

  /// Whether somebody listens at `path`.
  private static func isServed(_ path: String) throws(StartFailure) -> Bool {
    let probe = Descriptor(owning: try check(clinux_stream_socket(true), "a socket cannot be made"))
    switch -(unsafe clinux_socket_connect(probe.number, path)) {
    // A queue that is full is somebody's who listens.
    case 0, EAGAIN: return true
    case ECONNREFUSED, ENOENT: return false
    case let code: throw .setting("\(path) cannot be connected to: \(SystemError.meaning(of: code))")
    }
  }

  @discardableResult
  private static func check(_ result: Int32, _ failure: String) throws(StartFailure) -> Int32 {
    guard result >= 0 else { throw .setting("\(failure): \(SystemError.meaning(of: -result))") }
    return result
  }
}
