// Where the daemon is and how long a call may take: from the environment, or as a program says.

import CLinux
import Glibc
import VaultModel
import VaultWire

/// The settings of a client.
public struct ClientSettings: Hashable, Sendable {
  /// The path of the daemon's socket, at most 107 bytes.
  public var socket: String

  /// The longest that a call may take, connecting included, where no person is asked.
  public var timeout: Duration

  /// The same for calls that may put a question on the user's screen.
  public var promptTimeout: Duration

  /// Whose daemon it must be: this user's.
  var user = geteuid()

  /// These settings. The times are by default a little longer than the daemon's own, so that its answer, which
  /// says more, comes first.
  /// - Throws: `.invalidArgument` for a path that cannot be a socket's.
  public init(
    socket: String,
    timeout: Duration = .seconds(Limits.timeout + Limits.clientGraceSeconds),
    promptTimeout: Duration = .seconds(Limits.promptTimeout + Limits.clientGraceSeconds)
  ) throws(VaultError) {
    guard !socket.isEmpty, socket.utf8.count <= SocketPath.longest, !socket.utf8.contains(0) else {
      throw .invalidArgument(
        argument: "socket", reason: "must be a path of 1 to \(SocketPath.longest) bytes")
    }
    self.socket = socket
    self.timeout = timeout
    self.promptTimeout = promptTimeout
  }

  /// What `VAULTD_SOCKET` and `XDG_RUNTIME_DIR` say.
  /// - Throws: `.invalidArgument` or `.noDaemon` where they name no place.
  public init() throws(VaultError) {
    let explicit = try variable("VAULTD_SOCKET")
    let runtimeFolder = try variable("XDG_RUNTIME_DIR")
    let path: String
    do throws(SocketPathProblem) {
      path = try SocketPath.choose(
        explicit: explicit, runtimeFolder: runtimeFolder, user: geteuid(), isPrivateFolder: isPrivateFolder)
    } catch {
      switch error {
      case .tooLong: throw .invalidArgument(argument: "VAULTD_SOCKET", reason: "\(error)")
      case .relativeRuntimeFolder, .noRuntimeFolder: throw .noDaemon(.noSocket(reason: error.description))
      }
    }
    try self.init(socket: path)
  }

  /// The longest that a call may take. `Refresh` waits for another caller first, and then perhaps for a person.
  func patience(for call: Call) -> Duration {
    if case .refresh(_, _, let wait) = call {
      return promptTimeout + .seconds(wait ?? Int64(Limits.refreshWaitSeconds))
    }
    return call.mayTakeLong ? promptTimeout : timeout
  }
}

/// A variable of the environment; `nil` where it is not set.
private func variable(_ name: String) throws(VaultError) -> String? {
  guard let value = unsafe getenv(name) else { return nil }
  guard let text = unsafe String(validatingCString: value) else {
    throw .invalidArgument(argument: name, reason: "is not UTF-8")
  }
  return text
}

/// Whether `path` is a folder, no symbolic link, of this user, with mode 0700.
private func isPrivateFolder(_ path: String) -> Bool {
  var status = stat()
  guard unsafe lstat(path, &status) == 0 else { return false }
  return status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid() && status.st_mode & 0o7777 == 0o700
}
