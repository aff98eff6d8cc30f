// Starts the daemon where none listens (commands.md): the `vaultd` beside this program, else the one on PATH,
// detached, with an environment that holds nothing which is only the caller's business. Decides by looking at
// files; runs no other program.

import CLinux
import Glibc
import VaultClient

/// Starting a daemon.
enum Autostart {
  /// Starts one.
  /// - Parameter socket: where it is to listen.
  /// - Throws: what a person can do, where it may not be started or cannot be.
  static func start(socket: String) throws(Failure) {
    let environment = Environment.current
    guard environment["VAULTD_AUTOSTART"] != "no" else {
      throw Failure(.noDaemon, "no vaultd listens on \(socket), and VAULTD_AUTOSTART=no; start vaultd")
    }
    if let unit = enabledUnit(environment) {
      throw Failure(
        .noDaemon,
        "no vaultd listens on \(socket), and systemd is to start it (\(unit)): "
          + "systemctl --user start vaultd.socket")
    }
    try checkRuntimeFolder(environment)
    guard let program = program(environment) else {
      throw Failure(
        .noDaemon,
        "no vaultd listens on \(socket), and there is none beside vault or on PATH; install or start it")
    }
    let code = launch(program, environment: filtered(environment))
    guard code == 0 else {
      let reason = unsafe String(cString: strerror(-code))
      throw Failure(.noDaemon, "\(program) cannot be started: \(reason)")
    }
  }

  /// The unit that starts the daemon when somebody connects: the user's systemd runs, and `vaultd.socket` is
  /// enabled where systemd.unit(5) has the units of users.
  static func enabledUnit(_ environment: Environment) -> String? {
    let runtime = environment["XDG_RUNTIME_DIR"] ?? "/run/user/\(geteuid())"
    guard unsafe access(runtime + "/systemd/private", F_OK) == 0 else { return nil }
    var folders: [String] = []
    if let folder = environment["XDG_CONFIG_HOME"] ?? environment["HOME"].map({ $0 + "/.config" }) {
      folders.append(folder)
    }
    folders += ["/etc", runtime, "/run"]
    if let folder = environment["XDG_DATA_HOME"] ?? environment["HOME"].map({ $0 + "/.local/share" }) {
      folders.append(folder)
    }
    folders += ["/usr/local/lib", "/usr/lib"]
    return folders.lazy.map { $0 + "/systemd/user/sockets.target.wants/vaultd.socket" }
      .first { path in
        var status = stat()
        return unsafe lstat(path, &status) == 0
      }
  }

  /// A daemon could not make its folder where the runtime folder isn't one: say so instead of waiting for it.
  private static func checkRuntimeFolder(_ environment: Environment) throws(Failure) {
    guard environment["VAULTD_SOCKET"] == nil, let folder = environment["XDG_RUNTIME_DIR"] else { return }
    var status = stat()
    guard unsafe stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw Failure(
        .noDaemon, "XDG_RUNTIME_DIR is \(folder), and there is no such folder; no vaultd can run there")
    }
    guard status.st_uid == geteuid() else {
      throw Failure(
        .noDaemon,
        "XDG_RUNTIME_DIR is \(folder), which belongs to the user with uid \(status.st_uid), not to you")
    }
  }

  /// The `vaultd` beside this program, else the first one on PATH. Folders that are not absolute are left out:
  /// what they mean depends on where the caller stands.
  private static func program(_ environment: Environment) -> String? {
    var candidates: [String] = []
    if let own = ownFolder() { candidates.append(own) }
    candidates += (environment["PATH"] ?? "").utf8.split(separator: UInt8(ascii: ":")).map {
      String(Substring($0))
    }
    return candidates.lazy.filter { $0.utf8.first == UInt8(ascii: "/") }.map { $0 + "/vaultd" }.first {
      path in
      var status = stat()
      guard unsafe stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
      return unsafe access(path, X_OK) == 0
    }
  }

  private static func ownFolder() -> String? {
    let capacity = Limits.pathBytes
    let path = unsafe [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
      guard let start = buffer.baseAddress else { return }
      unsafe start.withMemoryRebound(to: CChar.self, capacity: capacity) { link in
        count = unsafe max(0, readlink("/proc/self/exe", link, capacity))
      }
    }
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else { return nil }
    return String(validating: path[..<slash], as: UTF8.self)
  }

  /// What the daemon gets of the caller's environment.
  static func filtered(_ environment: Environment) -> [String] {
    let names = ["HOME", "PATH", "LANG", "DISPLAY", "WAYLAND_DISPLAY"]
    let prefixes = ["XDG_", "DBUS_", "VAULTD_"]
    return environment.variables.filter { variable in
      names.contains(variable.name)
        || (variable.name != "VAULTD_AUTOSTART" && prefixes.contains { variable.name.hasPrefix($0) })
    }.map { variable in
      // The daemon has another working folder.
      let isRelative = variable.name == "VAULTD_SOCKET" && variable.value.utf8.first != UInt8(ascii: "/")
      let value = isRelative ? (try? absolutePath(variable.value, variable.name)) : nil
      return "\(variable.name)=\(value ?? variable.value)"
    }
  }

  /// Starts the program at this path, detached.
  /// - Returns: 0, or the error number as a negative one.
  static func launch(_ program: String, environment: [String]) -> Int32 {
    unsafe withCStrings([program]) { arguments in
      unsafe withCStrings(environment) { environment in
        unsafe clinux_start_detached(program, arguments, environment)
      }
    }
  }
}

/// Hands out a list of C strings that ends with NULL, as execve(2) takes it.
@unsafe func withCStrings<Result>(
  _ texts: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var pointers = unsafe texts.map { unsafe strdup($0) }
  defer { unsafe pointers.forEach { unsafe free($0) } }
  unsafe pointers.append(nil)
  return unsafe pointers.withUnsafeBufferPointer { list in
    guard let base = list.baseAddress else { preconditionFailure("a list with NULL at its end is not empty") }
    return unsafe body(base)
  }
}
