// A real login-like session of an unprivileged user: `systemd --user`, its bus, the journal and a gnome-keyring, with
// the units of this project installed as they are shipped. Needs root (Tests/Support/user-session says how it works).

import Foundation
import Glibc
import Spawning

/// A session with systemd, for one test.
final class UserSession {
  /// Whether the machine can have one.
  static let isAvailable = Root.isAvailable && FileManager.default.fileExists(atPath: "/lib/systemd/systemd")
  /// What is printed where a test is left out for want of it.
  static let wanted = "a session with systemd " + Root.wanted + ", and systemd installed"

  /// The environment of the user's programs.
  let environment: [String: String]

  /// When it began: the journal may hold what an earlier session of the same user printed.
  private let began = Int(Date.now.timeIntervalSince1970)
  private let holder: Child
  private let input: PipeEnds
  private let install: String

  var home: String { environment["HOME"] ?? "" }
  var runtime: String { environment["XDG_RUNTIME_DIR"] ?? "" }
  var socket: String { runtime + "/vault/vault.sock" }
  var data: String { home + "/.local/share/vault" }
  /// The folder that the programs were installed to.
  var programs: String { install + "/bin" }
  /// The user's number.
  let uid: uid_t

  /// Runs a test in a new session and ends the session.
  static func with(keyring: String, _ body: (UserSession) throws -> Void) throws {
    let session = try UserSession(keyring: keyring)
    defer { session.end() }
    try session.installUnits()
    try body(session)
  }

  private init(keyring: String) throws {
    // The session lives as long as the program in it, and that one as long as its standard input.
    input = try PipeEnds()
    let output = try PipeEnds(), errors = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(errors) }
    holder = try Child(
      Root.prefix + [
        Project.support("user-session"), "--keyring", keyring, "--", "sh", "-c", "env; echo READY; cat",
      ],
      environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"],
      descriptors: (input.reader, output.writer, errors))
    input.closeReader()
    output.closeWriter()
    var said = Data()
    while !String(decoding: said, as: UTF8.self).contains("READY\n") {
      guard (try? output.read(into: &said, seconds: 60)) == true else {
        holder.end()
        throw HarnessFailure("the user's session did not come up")
      }
    }
    var environment: [String: String] = [:]
    for line in String(decoding: said, as: UTF8.self).split(separator: "\n") {
      let halves = line.split(separator: "=", maxSplits: 1).map(String.init)
      if halves.count == 2 { environment[halves[0]] = halves[1] }
    }
    self.environment = environment
    let runtime = environment["XDG_RUNTIME_DIR"] ?? ""
    uid = uid_t(runtime.split(separator: "/").last ?? "") ?? 0
    install = "/tmp/vault-e2e-" + UUID().uuidString.prefix(8).lowercased()
  }

  private func end() {
    _ = try? command(["systemctl", "--user", "stop", "vaultd.socket", "vaultd.service"])
    input.closeWriter()
    _ = try? holder.wait(seconds: 30)
    _ = try? Root.run(["rm", "-rf", install])
  }

  /// Puts the programs where the user can run them, and the units where the user's manager finds them.
  private func installUnits() throws {
    let script = """
      set -eu
      install -d -m 0755 \(install) \(programs)
      install -m 0755 "$1/vaultd" "$1/vault" \(programs)
      install -d -o \(uid) \(runtime)/systemd/user
      "$2/scripts/unit" "$2/systemd/vaultd.service" \(programs)/vaultd >\(runtime)/systemd/user/vaultd.service
      install -m 0644 "$2/systemd/vaultd.socket" \(runtime)/systemd/user
      chown \(uid) \(runtime)/systemd/user/*
      """
    let ended = try Root.run(["sh", "-c", script, "sh", Project.binaries, Project.root])
    guard ended.status == 0 else { throw HarnessFailure("the units are not installed: \(ended.errors)") }
    try systemctl("daemon-reload")
  }

  /// Runs a program as the user.
  func command(_ arguments: [String], input: Data = Data(), environment more: [String: String] = [:]) throws
    -> Ended
  {
    let all = environment.merging(more) { $1 }.map { "\($0)=\($1)" }
    return try Root.run(
      [
        "setpriv", "--reuid", String(uid), "--regid", String(uid), "--clear-groups", "--", "env", "-i", "-C",
        home,
      ]
        + all + arguments, input: input)
  }

  /// Runs the command under test as the user.
  func vault(_ arguments: String..., input: Data = Data()) throws -> Ended {
    try command([programs + "/vault"] + arguments, input: input)
  }

  /// Runs `systemctl --user` and gives what it prints.
  @discardableResult
  func systemctl(_ arguments: String...) throws -> String {
    let ended = try command(["systemctl", "--user"] + arguments)
    guard ended.status == 0 else {
      throw HarnessFailure("systemctl \(arguments): \(ended.status): \(ended.errors)\n\(try journal())")
    }
    return ended.text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  /// A property of the service.
  func service(_ property: String) throws -> String {
    try systemctl("show", "--property=\(property)", "--value", "vaultd.service")
  }

  /// The daemon's process; 0 where none runs.
  func daemonPID() throws -> pid_t { pid_t(try service("MainPID")) ?? 0 }

  /// What the user's units have logged.
  func journal() throws -> String {
    _ = try Root.run(["journalctl", "--sync"])
    return try Root.run(["journalctl", "--no-pager", "--output=cat", "--since=@\(began)", "_UID=\(uid)"]).text
  }
}
