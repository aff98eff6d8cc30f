// What the process finds around it when it starts: environment, home, working folder, configuration. A value, so
// that a test can put any other in its place; nothing else in this module reads the environment for settings.

import GLibLoop
import Glibc
import VaultWire

/// Where a process was started.
public struct Surroundings: Sendable {
  /// The value of a variable; `nil` where it is not set, is empty, or is no UTF-8.
  let variable: @Sendable (String) -> String?
  /// The user's home folder according to the system's list of users.
  let home: @Sendable () -> String?
  /// The working folder.
  let workingFolder: @Sendable () -> String?
  /// Reads a configuration file.
  let configuration: @Sendable (String) throws(ConfigurationFile.Failure) -> ConfigurationFile
  /// The user.
  let user: UInt32

  /// Those of this process.
  public static var ofThisProcess: Surroundings {
    Surroundings(
      variable: { name in
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(validatingCString: value)
        return text.flatMap { $0.isEmpty ? nil : $0 }
      },
      home: {
        guard let entry = unsafe getpwuid(geteuid()), let path = unsafe entry.pointee.pw_dir else {
          return nil
        }
        return unsafe String(validatingCString: path)
      },
      workingFolder: {
        guard let path = unsafe getcwd(nil, 0) else { return nil }
        defer { unsafe free(path) }
        return unsafe String(validatingCString: path)
      },
      configuration: { path throws(ConfigurationFile.Failure) in try ConfigurationFile(path: path) },
      user: geteuid())
  }

  /// A folder of the XDG Base Directory Specification: what `variable` says, else `relative` to the home folder.
  func folder(of name: String, or relative: String) throws(StartFailure) -> String {
    if let path = variable(name) {
      guard path.hasPrefix("/") else { throw .setting("\(name) is \(path), which is no absolute path") }
      return path
    }
    // Started by a socket before anybody logged in, there may be no HOME.
    guard let home = variable("HOME") ?? home(), home.hasPrefix("/") else {
      throw .setting("neither \(name) nor HOME is set; say where the data are with --data-dir")
    }
    return home + "/" + relative
  }

  /// The user's runtime folder, where there is one: what the variable says, else `/run/user/UID` if that is ours alone.
  public var runtimeFolder: String? {
    if let path = variable("XDG_RUNTIME_DIR") { return path.hasPrefix("/") ? path : nil }
    let fallback = "/run/user/\(user)"
    return Self.isPrivateFolder(fallback) ? fallback : nil
  }

  /// The path as seen from the root.
  func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    return workingFolder().map { "\($0)/\(path)" } ?? path
  }

  /// Where the socket goes, by the rule that both ends share.
  func socketPath(_ explicit: String?) throws(StartFailure) -> String {
    do throws(SocketPathProblem) {
      return try SocketPath.choose(
        explicit: explicit, runtimeFolder: variable("XDG_RUNTIME_DIR"), user: user,
        isPrivateFolder: Self.isPrivateFolder)
    } catch {
      throw .setting(error.description)
    }
  }

  private static func isPrivateFolder(_ path: String) -> Bool {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return false }
    return status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
      && status.st_mode & 0o7777 == 0o700
  }
}
