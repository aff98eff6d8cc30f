// A home, a runtime folder and, on request, a session bus with a real gnome-keyring: all a test's own, all gone with
// the test. Nothing in here is this machine's user's.

import CSpawn
import Foundation
import Glibc
import Spawning

/// A session without systemd, for one test.
final class ThrowawaySession {
  /// What answers on the session's bus.
  enum Bus {
    /// There is no bus.
    case none
    /// A bus on which nobody owns the Secret Service.
    case empty
    /// A bus with a gnome-keyring whose default collection is open.
    case keyring
  }

  /// The folder that everything is in.
  let folder: String
  /// The environment of programs that run in the session.
  private(set) var environment: [String: String]

  private var bus: Child?
  private var provider: Child?
  private var daemons: [DaemonUnderTest] = []

  var home: String { folder + "/home" }
  let runtime: String
  var socket: String { runtime + "/vault/vault.sock" }
  var data: String { home + "/.local/share/vault" }

  /// Runs a test in a new session and removes the session. With `runtimeInMemory` its runtime folder is in a tmpfs, as
  /// those of real sessions are.
  static func with(
    _ bus: Bus = .none, runtimeInMemory: Bool = false, _ body: (ThrowawaySession) throws -> Void
  ) throws {
    let session = try ThrowawaySession(runtimeInMemory: runtimeInMemory)
    defer { session.end() }
    if bus != .none { try session.startBus() }
    if bus == .keyring { try session.startKeyring() }
    try body(session)
  }

  private init(runtimeInMemory: Bool) throws {
    // Short: the path of a socket has at most 107 bytes.
    let name = "vault-e2e-" + UUID().uuidString.prefix(8).lowercased()
    folder = "/tmp/" + name
    runtime = runtimeInMemory ? "/dev/shm/" + name : folder + "/run"
    environment = [
      "HOME": folder + "/home", "XDG_RUNTIME_DIR": runtime, "TMPDIR": folder + "/tmp",
      "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "VAULTD_AUTOSTART": "no",
    ]
    for path in [folder, home, runtime, folder + "/tmp"] {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    }
  }

  private func end() {
    daemons.forEach { $0.end() }
    stopKeyring()
    stopBus()
    // A daemon that the command started itself belongs to nobody else.
    for pid in autostarted() { Glibc.kill(pid, SIGKILL) }
    for path in [folder, runtime] { try? FileManager.default.removeItem(atPath: path) }
    endLogin()
  }

  /// Takes the keys of the login session out of the user's keyring, where daemons that no systemd started keep them, as a restart of the machine does.
  func endLogin() {
    for purpose in ["", ":fingerprints"] { unsafe ckeys_drop("vaultd:\(runtime)/vault\(purpose)") }
  }

  /// The processes of daemons that `vault` started in this session.
  func autostarted() -> [pid_t] {
    processes { $0.first?.split(separator: "/").last == "vaultd" }.filter { pid in
      !daemons.contains { $0.pid == pid } && Self.belongs(pid, to: folder)
    }
  }

  private static func belongs(_ pid: pid_t, to folder: String) -> Bool {
    guard Root.isAvailable, let environ = try? Root.run(["cat", "/proc/\(pid)/environ"]) else { return false }
    return environ.text.contains(folder)
  }

  // MARK: The bus and the keyring

  func startBus() throws {
    bus = try start(
      "bus",
      [
        "dbus-daemon", "--config-file=\(Project.support("private-bus.conf"))", "--nofork",
        "--address=unix:path=\(runtime)/bus",
      ])
    environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(runtime)/bus"
    guard becomesTrue({ FileManager.default.fileExists(atPath: runtime + "/bus") }) else {
      throw HarnessFailure("no bus came up: \(log("bus"))")
    }
  }

  func stopBus() {
    bus?.end()
    bus = nil
    try? FileManager.default.removeItem(atPath: runtime + "/bus")
  }

  /// Starts gnome-keyring; in the same session again it opens what the first one left.
  func startKeyring() throws {
    try? FileManager.default.removeItem(atPath: logPath("provider"))
    let provider = try start("provider", [Project.support("secret-service-provider")])
    self.provider = provider
    guard becomesTrue(seconds: 30, { log("provider").contains("READY") || provider.look() != nil }),
      provider.look() == nil
    else { throw HarnessFailure("no gnome-keyring came up: \(log("provider"))") }
  }

  func stopKeyring() {
    provider?.end()
    provider = nil
  }

  /// Locks the keyring's default collection, as its owner does with Seahorse.
  func lockKeyring() throws {
    let ended = try command([
      "gdbus", "call", "--session", "--dest", "org.freedesktop.secrets", "--object-path",
      "/org/freedesktop/secrets", "--method", "org.freedesktop.Secret.Service.Lock",
      "['/org/freedesktop/secrets/collection/login']",
    ])
    guard ended.status == 0 else { throw HarnessFailure("the keyring does not lock: \(ended.errors)") }
    // What a daemon read before is served until the keyring's signal comes.
    let isKnown = try becomesTrue(seconds: 5) {
      let status = try command([Project.vault, "status", "--json"])
      return status.status != 0
        || String(decoding: status.output, as: UTF8.self).contains(
          #""store":"secret_service","state":"locked""#)
    }
    guard isKnown else { throw HarnessFailure("vaultd does not see that the keyring is locked") }
  }

  // MARK: Programs

  /// Starts a program that stays, with a log of its own.
  func start(_ name: String, _ arguments: [String], environment more: [String: String] = [:]) throws -> Child
  {
    let log = unsafe open(logPath(name), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    defer {
      close(log)
      close(null)
    }
    return try Child(
      arguments, environment: environment.merging(more) { $1 }, folder: home, descriptors: (null, log, log))
  }

  private func logPath(_ name: String) -> String { "\(folder)/\(name).log" }

  /// What a program that stays has printed so far.
  func log(_ name: String) -> String {
    (try? Data(contentsOf: URL(filePath: logPath(name)))).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// Runs a program to its end.
  func command(
    _ arguments: [String], input: Data = Data(), environment more: [String: String] = [:]
  ) throws -> Ended {
    try run(arguments, environment: environment.merging(more) { $1 }, input: input, folder: home)
  }

  /// Runs the command under test.
  func vault(
    _ arguments: String..., input: Data = Data(), environment more: [String: String] = [:]
  ) throws -> Ended {
    try command([Project.vault] + arguments, input: input, environment: more)
  }

  /// Starts the daemon under test and waits until it answers.
  func daemon(_ arguments: String..., environment more: [String: String] = [:]) throws -> DaemonUnderTest {
    try daemon(command: [Project.vaultd] + arguments, environment: more)
  }

  /// Starts it by a command that becomes it, and waits until it answers.
  func daemon(command: [String], environment more: [String: String] = [:]) throws -> DaemonUnderTest {
    let child = try start("vaultd", command, environment: more)
    let daemon = DaemonUnderTest(child: child, session: self)
    daemons.append(daemon)
    try daemon.waitUntilItAnswers()
    return daemon
  }

  /// Starts the daemon with the vault file, opened by a key file, and no other store.
  func daemonWithFile(_ arguments: String...) throws -> DaemonUnderTest {
    let daemon = try daemon("--store", "file")
    let made = try vault("init", "--key-file", home + "/vault.key")
    guard made.status == 0 else { throw HarnessFailure("vault init: \(made.status): \(made.errors)") }
    return daemon
  }
}

/// The processes for whose arguments `matches` holds.
private func processes(_ matches: ([String]) -> Bool) -> [pid_t] {
  let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
  return names.compactMap(pid_t.init).filter { pid in
    guard let line = try? Data(contentsOf: URL(filePath: "/proc/\(pid)/cmdline")) else { return false }
    return matches(line.split(separator: 0).map { String(decoding: $0, as: UTF8.self) })
  }
}
