// Where the socket is: one rule for both ends, so that they cannot choose different places (commands.md,
// "Where things are"). Judges what it is given; reads no environment and touches no file.

/// The rule for the path of the socket.
public enum SocketPath {
  /// The longest path that fits `sockaddr_un` with the NUL behind it (unix(7)).
  public static let longest = 107

  /// The folder of ours in the runtime folder; the daemon makes it, 0700.
  public static let folder = "vault"

  /// The path of the socket.
  /// - Parameters:
  ///   - explicit: the flag `--socket`, else the variable `VAULTD_SOCKET`; empty is the same as not given.
  ///   - runtimeFolder: the variable `XDG_RUNTIME_DIR`; empty is the same as not given.
  ///   - user: the caller's uid.
  ///   - isPrivateFolder: tells of a path whether it is a folder, no symbolic link, owned by the caller and
  ///     of mode 0700. Asked only where no variable names a folder.
  /// - Throws: where no such path can be told; nothing was touched.
  /// - Returns: a path of at most `longest` bytes. A relative one only where `explicit` is relative.
  public static func choose(
    explicit: String?, runtimeFolder: String?, user: UInt32, isPrivateFolder: (String) -> Bool
  ) throws(SocketPathProblem) -> String {
    if let explicit, !explicit.isEmpty { return try checked(explicit) }
    if let runtimeFolder, !runtimeFolder.isEmpty {
      // The XDG Base Directory Specification has relative paths ignored; two programs with different working
      // directories could not meet there.
      guard runtimeFolder.utf8.first == UInt8(ascii: "/") else {
        throw .relativeRuntimeFolder(runtimeFolder)
      }
      return try checked(joined(runtimeFolder))
    }
    let fallback = "/run/user/\(user)"
    guard isPrivateFolder(fallback) else { throw .noRuntimeFolder(fallback) }
    return try checked(joined(fallback))
  }

  private static func joined(_ runtimeFolder: String) -> String {
    runtimeFolder + (runtimeFolder.utf8.last == UInt8(ascii: "/") ? "" : "/") + folder + "/vault.sock"
  }

  private static func checked(_ path: String) throws(SocketPathProblem) -> String {
    guard path.utf8.count <= longest else { throw .tooLong(path) }
    return path
  }
}

/// Why there is no path for the socket.
public enum SocketPathProblem: Error, Hashable, Sendable {
  /// Over `SocketPath.longest` bytes; never cut.
  case tooLong(String)
  /// `XDG_RUNTIME_DIR` is no absolute path.
  case relativeRuntimeFolder(String)
  /// `XDG_RUNTIME_DIR` is not set, and this folder, which would stand in, is not the caller's alone.
  case noRuntimeFolder(String)
}

extension SocketPathProblem: CustomStringConvertible {
  /// One line for a person: what is wrong and what to do.
  public var description: String {
    switch self {
    case .tooLong(let path):
      "the path of the socket has \(path.utf8.count) bytes, \(SocketPath.longest) are possible: \(path); "
        + "set VAULTD_SOCKET to a shorter one"
    case .relativeRuntimeFolder(let path):
      "XDG_RUNTIME_DIR is \(path), which is no absolute path; set it to one"
    case .noRuntimeFolder(let path):
      "XDG_RUNTIME_DIR is not set, and \(path) is not a folder of yours with mode 0700; "
        + "set XDG_RUNTIME_DIR or VAULTD_SOCKET"
    }
  }
}
