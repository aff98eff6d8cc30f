// The folder that the vault file and `state.db` are in: made or tightened to 0700, owned by us, and locked
// for the daemon's life, so that no two daemons write the same files. Both stores are made from the one
// folder. It opens no database, and no file in it is ever open to others, not for a moment. What is wrong
// with the folder is kept and told by every call: without it nobody knows what was cleared, and nothing is served.

import CLinux
import Glibc
import Synchronization
import VaultModel

/// Why a folder or a file in it cannot be used, in words for the user.
public struct FolderFault: Error, Hashable, Sendable {
  /// What is wrong with which path, and what to do.
  public let reason: String
}

extension FolderFault: Fault {
  public func outcome(in place: Place) -> VaultError { .unavailable(store: place, reason: reason) }
}

/// The data folder, locked as long as this object lives.
public final class DataFolder: Sendable {
  /// The folder as it was named.
  public let path: String
  /// The file layer that databases in it are opened through.
  public let layer: FileLayer
  private let held: Mutex<Held>

  /// The name of the lock's file.
  static let lockName = "vault.lock"

  /// What is had of the folder.
  private struct Held {
    var descriptor: Int32 = -1
    var lock: Int32 = -1
    var resolved: String
    var fault: FolderFault?
    /// When it may be tried again.
    var nextTry = BootTime(milliseconds: .min)

    mutating func close() {
      if lock >= 0 { Glibc.close(lock) }
      if descriptor >= 0 { Glibc.close(descriptor) }
      (lock, descriptor) = (-1, -1)
    }

    mutating func open(_ path: String) {
      close()
      do throws(FolderFault) {
        descriptor = try openOwnFolder(path)
        resolved = try resolve(descriptor, path)
        lock = try takeLock(descriptor, path)
        fault = nil
      } catch {
        fault = error
      }
    }
  }

  /// Opens the folder, which is made where it is not there, together with the folders above it.
  public init(_ path: String, layer: FileLayer = .system) {
    self.path = path
    self.layer = layer
    var held = Held(resolved: path)
    held.open(path)
    self.held = Mutex(held)
  }

  deinit {
    held.withLock { $0.close() }
  }

  /// Why nothing in it can be used; `nil` where it can.
  public var fault: FolderFault? { held.withLock { $0.fault } }

  /// The folder itself, opened; -1 where it could not be.
  var descriptor: Int32 { held.withLock { $0.descriptor } }

  /// Tries to get a folder that could not be had, at most once in `Limits.folderMilliseconds`: the other daemon may
  /// be gone.
  /// - Returns: whether it can be used.
  public func tryAgain(at now: BootTime) -> Bool {
    held.withLock { held in
      guard held.fault != nil, now >= held.nextTry else { return held.fault == nil }
      held.nextTry = now.advanced(by: Limits.folderMilliseconds)
      held.open(path)
      return held.fault == nil
    }
  }

  /// Whether something can be written here now.
  public var isWritable: Bool {
    var status = stat()
    guard fault == nil, unsafe fstat(descriptor, &status) == 0 else { return false }
    // The mode too, not only whether the kernel lets us: a folder that its owner made read-only stays as it
    // is, root's not excepted.
    return unsafe status.st_mode & S_IWUSR != 0 && faccessat(descriptor, ".", W_OK, AT_EACCESS) == 0
  }

  /// The path of a file in it, free of symbolic links.
  public func path(of name: String) -> String { held.withLock { $0.resolved } + "/" + name }

  /// Throws what is wrong with the folder, or that it cannot be written now.
  public func checkWritable() throws(FolderFault) {
    if let fault { throw fault }
    guard isWritable else { throw FolderFault(reason: "the data folder \(path) cannot be written") }
  }

  // MARK: Files

  /// Which file a name leads to.
  public struct Identity: Hashable, Sendable {
    let device: UInt
    let inode: UInt
  }

  /// A file of ours.
  public struct File: Hashable, Sendable {
    /// Which one.
    public let identity: Identity
    /// Its size in bytes.
    public let size: Int
  }

  /// Looks at a file and tightens it to 0600 where it is looser.
  /// - Returns: `nil` where there is none.
  /// - Throws: where it is no plain file, or somebody else's.
  public func examine(_ name: String) throws(FolderFault) -> File? {
    if let fault { throw fault }
    guard let status = try status(of: name) else { return nil }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw FolderFault(reason: "\(path)/\(name) is not a plain file: move it away")
    }
    guard status.st_uid == geteuid() else {
      throw FolderFault(reason: "\(path)/\(name) belongs to uid \(status.st_uid), not to you: move it away")
    }
    if status.st_mode & 0o077 != 0, unsafe fchmodat(descriptor, name, status.st_mode & 0o600, 0) != 0 {
      throw FolderFault(
        reason: "\(path)/\(name) is open to others and cannot be closed to them: \(lastError())")
    }
    return File(identity: Identity(status), size: Int(status.st_size))
  }

  /// Which file a name leads to now; `nil` where there is none.
  public func identity(of name: String) -> Identity? {
    var file = clinux_file()
    guard fault == nil, unsafe clinux_look(descriptor, name, &file) == 0 else { return nil }
    return Identity(device: UInt(file.device), inode: UInt(file.inode))
  }

  /// The first bytes of a file, at most `count`. Not while a database connection to it is open in this
  /// process: the system drops a process's locks on a file when any descriptor of it is closed.
  public func head(of name: String, _ count: Int) throws(FolderFault) -> [UInt8] {
    let file = unsafe openat(descriptor, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard file >= 0 else { throw FolderFault(reason: "\(path)/\(name) cannot be read: \(lastError())") }
    defer { close(file) }
    var got = 0
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      got = unsafe pread(file, buffer.baseAddress, count, 0)
      filled = max(0, got)
    }
    guard got >= 0 else { throw FolderFault(reason: "\(path)/\(name) cannot be read: \(lastError())") }
    return bytes
  }

  /// Makes an empty file, 0600 from its first moment on.
  /// - Throws: where there is one already.
  public func create(_ name: String) throws(FolderFault) {
    if let fault { throw fault }
    let file = unsafe openat(descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw FolderFault(reason: "\(path)/\(name) cannot be made: \(lastError())") }
    close(file)
  }

  /// Removes a file; none is fine.
  public func remove(_ name: String) {
    guard fault == nil else { return }
    unsafe unlinkat(descriptor, name, 0)
  }

  /// Gives a file another name that is free, on the disk when this returns.
  public func rename(_ name: String, to other: String) throws(FolderFault) {
    if let fault { throw fault }
    let result = unsafe clinux_rename_without_replacing(descriptor, name, other)
    guard result == 0, fsync(descriptor) == 0 else {
      let reason = result == 0 ? lastError() : errorText(-result)
      throw FolderFault(reason: "\(path)/\(name) cannot be renamed to \(other): \(reason)")
    }
  }

  /// Whether `other`, the resolved path of a folder, is this folder or below it.
  public func holds(folder other: String) -> Bool {
    var mine = stat()
    guard fault == nil, unsafe fstat(descriptor, &mine) == 0 else { return false }
    var above = other[...]
    while true {
      var status = stat()
      if unsafe stat(above.isEmpty ? "/" : String(above), &status) == 0, Identity(status) == Identity(mine) {
        return true
      }
      guard let slash = above.utf8.lastIndex(of: UInt8(ascii: "/")) else { return false }
      above = above[..<slash]
    }
  }

  private func status(of name: String) throws(FolderFault) -> stat? {
    if let fault { throw fault }
    var status = stat()
    if unsafe fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return status }
    if errno == ENOENT { return nil }
    throw FolderFault(reason: "\(path)/\(name) cannot be looked at: \(lastError())")
  }
}

extension DataFolder.Identity {
  fileprivate init(_ status: stat) {
    (device, inode) = (UInt(status.st_dev), UInt(status.st_ino))
  }
}

private func lastError() -> String { errorText(errno) }

/// What an error number means.
func errorText(_ error: Int32) -> String { unsafe String(cString: strerror(error)) }

/// Opens a folder of ours, made or tightened to 0700.
private func openOwnFolder(_ path: String) throws(FolderFault) -> Int32 {
  guard path.utf8.first == UInt8(ascii: "/") else {
    throw FolderFault(reason: "the data folder must be named from / on: \(path)")
  }
  var descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  if descriptor < 0, errno == ENOENT {
    makeFolders(path)
    descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
  }
  guard descriptor >= 0 else {
    throw FolderFault(reason: "the data folder \(path) cannot be opened: \(lastError())")
  }
  do throws(FolderFault) {
    try checkOwner(descriptor, path)
    return descriptor
  } catch {
    close(descriptor)
    throw error
  }
}

/// Makes a folder and those above it that are missing, each 0700. What fails shows when the folder is opened.
private func makeFolders(_ path: String) {
  for end in path.utf8.indices.dropFirst() where path.utf8[end] == UInt8(ascii: "/") {
    unsafe mkdir(String(path[..<end]), 0o700)
  }
  unsafe mkdir(path, 0o700)
}

private func checkOwner(_ descriptor: Int32, _ path: String) throws(FolderFault) {
  var link = stat()
  if unsafe lstat(path, &link) == 0, link.st_mode & S_IFMT == S_IFLNK, link.st_uid != geteuid() {
    throw FolderFault(
      reason: "the data folder \(path) is a symbolic link of uid \(link.st_uid): name the folder")
  }
  var status = stat()
  guard unsafe fstat(descriptor, &status) == 0 else {
    throw FolderFault(reason: "the data folder \(path) cannot be looked at: \(lastError())")
  }
  guard status.st_uid == geteuid() else {
    throw FolderFault(
      reason:
        "the data folder \(path) belongs to uid \(status.st_uid), not to you: name another with --data-dir")
  }
  if status.st_mode & 0o077 != 0, fchmod(descriptor, status.st_mode & 0o700) != 0 {
    throw FolderFault(
      reason: "the data folder \(path) is open to others and cannot be closed to them: \(lastError())")
  }
}

private func resolve(_ descriptor: Int32, _ path: String) throws(FolderFault) -> String {
  guard let resolved = unsafe realpath("/proc/self/fd/\(descriptor)", nil) ?? realpath(path, nil) else {
    throw FolderFault(reason: "the data folder \(path) cannot be resolved: \(lastError())")
  }
  defer { unsafe free(resolved) }
  return unsafe String(cString: resolved)
}

/// Takes the lock that one daemon has.
/// - Returns: the descriptor that holds it, or -1 in a folder that cannot be written and has no lock: nobody
///   writes there.
private func takeLock(_ folder: Int32, _ path: String) throws(FolderFault) -> Int32 {
  let name = DataFolder.lockName
  var lock = unsafe openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
  if lock < 0, errno == EROFS || errno == EACCES {
    lock = unsafe openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    if lock < 0, errno == ENOENT { return -1 }
  }
  guard lock >= 0 else { throw FolderFault(reason: "\(path)/\(name) cannot be opened: \(lastError())") }
  var status = stat()
  guard unsafe fstat(lock, &status) == 0, status.st_uid == geteuid() else {
    close(lock)
    throw FolderFault(reason: "\(path)/\(name) belongs to uid \(status.st_uid), not to you: move it away")
  }
  if status.st_mode & 0o077 != 0 { fchmod(lock, 0o600) }
  guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
    let busy = errno == EWOULDBLOCK
    let reason =
      busy
      ? "another vaultd uses the data folder \(path)" : "\(path)/\(name) cannot be locked: \(lastError())"
    close(lock)
    throw FolderFault(reason: reason)
  }
  return lock
}
