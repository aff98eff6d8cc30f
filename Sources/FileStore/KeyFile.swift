// Key files and credentials: what opens the vault file where nobody is there to type. A key file is ours: 32
// random bytes in hexadecimal and a line end, closed to others, outside the data folder. A credential is
// systemd's: any bytes, in a folder that the unit is told. Read straight into secret memory; never written
// anywhere but where it was asked for.

import Database
import Glibc
import SecretMemory
import VaultCrypto
import VaultModel

/// The key file at a path.
struct KeyFile: Sendable {
  /// How many random bytes it holds.
  static let size = 32

  /// The path as the user named it.
  let path: String

  /// A key file at `path`, which is outside of `folder`.
  /// - Throws: `.invalidArgument` for a path that is not whole, leads into the data folder, or to a folder that is
  ///   missing and cannot be made for us alone.
  init(_ path: String, outside folder: DataFolder) throws(VaultError) {
    func refuse(_ reason: String) -> VaultError { .invalidArgument(argument: "keyFile", reason: reason) }
    guard path.utf8.first == UInt8(ascii: "/"), path.utf8.count < Limits.pathBytes, !path.holdsControl else {
      throw refuse("\(path) is no path from / on")
    }
    // Both where the name is and where it leads, if it is a link.
    for place in [folderOf(path), resolved(path).map(folderOf)].compactMap({ $0 }) {
      guard let place = resolved(place) ?? ownFolder(above: place) else {
        throw refuse("there is no folder \(place), nor one of yours that it can be made in")
      }
      guard !folder.holds(folder: place) else {
        throw refuse("\(path) is in the data folder: whoever copies that would have the key as well")
      }
    }
    self.path = path
  }

  /// A key file that a slot names; what is wrong with it shows when it is read.
  init(ofSlot path: String) {
    self.path = path
  }

  /// Whether there is something at the path.
  var exists: Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0
  }

  /// Makes the file with a new random key, on the disk when this returns.
  /// - Throws: `.unavailable` where there is one already or the place cannot be written.
  func make() throws(VaultError) {
    makeFolders(folderOf(path))
    let key = try randomSecret(Self.size)
    let text = try secret(2 * Self.size + 1) { text in
      key.withBytes { key in
        for index in key.indices {
          text[2 * index] = hexDigit(key[index] >> 4)
          text[2 * index + 1] = hexDigit(key[index] & 15)
        }
      }
      text[2 * Self.size] = UInt8(ascii: "\n")
    }
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure("cannot be made", errno) }
    let written = text.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe write(file, $0.baseAddress, $0.count) }
    }
    let kept = written == text.count && fsync(file) == 0
    let error = errno
    close(file)
    guard kept, syncFolder() else {
      remove()
      throw failure("cannot be written", error)
    }
  }

  private func syncFolder() -> Bool {
    let folder = unsafe open(folderOf(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return false }
    defer { close(folder) }
    return fsync(folder) == 0
  }

  /// Removes a file that `make` made and nobody uses.
  func remove() {
    unsafe unlink(path)
  }

  /// Reads the key.
  /// - Throws: `.invalidArgument` where the file cannot be read, is open to others, or is no key file.
  func read() throws(VaultError) -> SlotSecret {
    let text = try readText()
    var isKey = true
    let key = try secret(Self.size) { key in
      text.withBytes { text in
        let digits =
          text.count == 2 * Self.size || (text.count == 2 * Self.size + 1 && text[text.count - 1] == 0x0A)
        guard digits else { return isKey = false }
        for index in 0..<Self.size {
          guard let high = hexValue(text[2 * index]), let low = hexValue(text[2 * index + 1]) else {
            return isKey = false
          }
          key[index] = high << 4 | low
        }
      }
    }
    guard isKey else { throw refusal("is no key file: 64 hexadecimal digits and a line end") }
    return SlotSecret(key)
  }

  private func readText() throws(VaultError) -> SecretBytes {
    switch try readSecret(path, limit: Limits.keyFileBytes) {
    case .read(let bytes, let status):
      guard status.st_uid == geteuid() else { throw refusal("belongs to uid \(status.st_uid), not to you") }
      guard status.st_mode & 0o077 == 0 else { throw refusal("can be read by others: run `chmod 600` on it") }
      return bytes
    case .failed(let reason): throw refusal(reason)
    }
  }

  private func refusal(_ reason: String) -> VaultError {
    .invalidArgument(argument: "keyFile", reason: "the key file \(path) \(reason)")
  }

  private func failure(_ what: String, _ error: Int32) -> VaultError {
    .unavailable(
      store: .file, reason: "the key file \(path) \(what): \(unsafe String(cString: strerror(error)))")
  }
}

/// The credential of a name.
struct Credential: Sendable {
  /// Its name, as `LoadCredential=` and the like have it.
  let name: String

  /// - Throws: `.invalidArgument` for what is no name of a credential.
  init(_ name: String) throws(VaultError) {
    guard !name.isEmpty, name.utf8.count <= 255, !name.utf8.contains(UInt8(ascii: "/")), name != ".",
      name != "..",
      !name.holdsControl
    else { throw .invalidArgument(argument: "credential", reason: "is no name of a credential") }
    self.name = name
  }

  /// Reads it from the folder that systemd made; `nil` where the daemon has none.
  func read(in folder: String?) throws(VaultError) -> SlotSecret {
    func refuse(_ reason: String) -> VaultError {
      .invalidArgument(argument: "credential", reason: "the credential \(name) \(reason)")
    }
    guard let folder else {
      throw refuse(
        "is not there: vaultd was not started by systemd with credentials (LoadCredentialEncrypted=)")
    }
    switch try readSecret("\(folder)/\(name)", limit: Limits.passphraseBytes) {
    case .read(let bytes, _):
      guard bytes.count > 0 else { throw refuse("is empty") }
      return SlotSecret(bytes)
    case .failed(let reason): throw refuse(reason)
    }
  }
}

private enum Reading: ~Copyable {
  case read(SecretBytes, stat)
  case failed(String)
}

/// Reads a whole file of at most `limit` bytes.
private func readSecret(_ path: String, limit: Int) throws(VaultError) -> Reading {
  func reason(_ error: Int32) -> String { unsafe "cannot be read: \(String(cString: strerror(error)))" }
  let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
  guard file >= 0 else { return .failed(reason(errno)) }
  defer { close(file) }
  var status = stat()
  guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
    return .failed("is not a plain file")
  }
  var got = 0
  var bytes = try secret(limit + 1) { bytes in
    got = unsafe bytes.withUnsafeMutableBytes { unsafe Glibc.read(file, $0.baseAddress, $0.count) }
  }
  guard got >= 0 else { return .failed(reason(errno)) }
  guard got <= limit else { return .failed("has more than \(limit) bytes") }
  bytes.shorten(to: got)
  return .read(bytes, status)
}

private func randomSecret(_ count: Int) throws(VaultError) -> SecretBytes {
  do throws(CryptoError) { return try SecretBytes(random: count) } catch {
    throw VaultError(error, in: .file)
  }
}

private func secret(
  _ count: Int, _ fill: (inout MutableSpan<UInt8>) -> Void
) throws(VaultError) -> SecretBytes {
  var bytes: SecretBytes
  do throws(SecretMemoryError) { bytes = try SecretBytes(zeros: count) } catch { throw VaultError(error) }
  bytes.withMutableBytes { fill(&$0) }
  return bytes
}

private func resolved(_ path: String) -> String? {
  guard let resolved = unsafe realpath(path, nil) else { return nil }
  defer { unsafe free(resolved) }
  return unsafe String(cString: resolved)
}

private func folderOf(_ path: String) -> String {
  guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex else { return "/" }
  return String(path[..<slash])
}

/// The nearest folder above a path that is there, resolved, if a folder can be made in it for us alone: it is ours, and
/// no part of what is missing leads upwards.
private func ownFolder(above path: String) -> String? {
  var above = path
  while resolved(above) == nil {
    let name = above.utf8.lastIndex(of: UInt8(ascii: "/")).map { above[above.index(after: $0)...] } ?? ""
    guard above != "/", name != "..", name != "." else { return nil }
    above = folderOf(above)
  }
  var status = stat()
  guard let place = resolved(above), unsafe stat(place, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
    status.st_uid == geteuid()
  else { return nil }
  return place
}

/// Makes a folder and those above it that are missing, each 0700. What fails shows when the file is made.
private func makeFolders(_ path: String) {
  guard resolved(path) == nil, path != "/" else { return }
  makeFolders(folderOf(path))
  unsafe mkdir(path, 0o700)
}

private func hexDigit(_ value: UInt8) -> UInt8 {
  value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}

private func hexValue(_ digit: UInt8) -> UInt8? {
  switch digit {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
  default: nil
  }
}
