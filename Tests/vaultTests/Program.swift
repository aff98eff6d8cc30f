// Runs the built command as its users do: a process with its own streams and environment, or one at a terminal. What
// does not come or end in time fails the test that waits for it, and is killed.

import Foundation
import Glibc
import Spawning

/// What a run of the command left.
struct Run {
  /// Exit status, or the signal's number, negative.
  var status: Int32
  var output: [UInt8]
  var error: String

  var text: String { String(decoding: output, as: UTF8.self) }
}

/// The program, with a runtime folder of its own.
struct Program {
  /// The path of the built command, beside the tests.
  static let path: String = {
    let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    return (own as NSString).deletingLastPathComponent + "/vault"
  }()

  let runtimeFolder: String
  var environment: [String: String] = [:]

  /// Runs it to its end.
  func run(_ words: String..., input: [UInt8] = []) throws -> Run {
    try run([Self.path] + words, input)
  }

  /// Runs a line of the shell, in which `$vault` is the program.
  func shell(_ line: String, input: [UInt8] = []) throws -> Run {
    try run(["/bin/sh", "-c", line], input)
  }

  private func run(_ arguments: [String], _ input: [UInt8]) throws -> Run {
    let ended = try Spawning.run(arguments, environment: fullEnvironment, input: Data(input))
    return Run(
      status: ended.signal.map { -$0 } ?? ended.status, output: Array(ended.output), error: ended.errors)
  }

  var fullEnvironment: [String: String] {
    environment.merging(
      [
        "XDG_RUNTIME_DIR": runtimeFolder, "VAULTD_AUTOSTART": "no", "PATH": "/usr/bin:/bin",
        "HOME": runtimeFolder,
        "vault": Self.path,
      ]
    ) { own, _ in own }
  }
}

/// The command at a terminal of its own: all three streams are the terminal.
final class TerminalSession {
  private let child: Child
  private let terminal: Int32
  private(set) var screen = ""

  init(_ program: Program, _ words: [String]) throws {
    var (master, slave): (Int32, Int32) = (-1, -1)
    guard unsafe openpty(&master, &slave, nil, nil, nil) == 0 else {
      throw HarnessFailure("no terminal: errno \(errno)")
    }
    terminal = master
    defer { close(slave) }
    // What another thread starts at this moment does not hold the terminal open.
    for end in [master, slave] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(master, F_SETFL, O_NONBLOCK)
    child = try Child(
      [Program.path] + words, environment: program.fullEnvironment, descriptors: (slave, slave, slave))
  }

  deinit {
    child.end()
    close(terminal)
  }

  /// Whether the terminal shows what is typed.
  var echoes: Bool {
    var state = termios()
    unsafe tcgetattr(terminal, &state)
    return state.c_lflag & UInt32(ECHO) != 0
  }

  /// Reads until the screen shows `text`.
  /// - Throws: where the session ends before that, or it takes longer than 20 s.
  func wait(for text: String) throws {
    let end = ContinuousClock.now + .seconds(20)
    while !screen.contains(text) {
      guard becomesReady(terminal, for: POLLIN, seconds: (end - ContinuousClock.now) / .seconds(1)) else {
        throw HarnessFailure("the terminal did not show \(text) within 20 s, but \(screen)")
      }
      guard look() else {
        throw HarnessFailure("the session ended; the terminal did not show \(text), but \(screen)")
      }
    }
  }

  /// Reads what there is.
  /// - Returns: whether there may be more, now or later.
  private func look() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe read(terminal, &bytes, bytes.count)
    if count > 0 { screen += String(decoding: bytes[..<count], as: UTF8.self) }
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))
  }

  /// Types `text`.
  /// - Throws: where the session does not take it within 20 s.
  func type(_ text: String) throws {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe write(terminal, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EAGAIN && errno != EINTR || !becomesReady(terminal, for: POLLOUT) {
        throw HarnessFailure("the session does not take the last \(rest.count) bytes of what is typed")
      }
    }
  }

  func signal(_ number: Int32) { child.kill(number) }

  /// Waits for the end: the exit status, or a signal as a negative number.
  func end() throws -> Int32 {
    let status = try child.wait()
    while becomesReady(terminal, for: POLLIN, seconds: 0), look() {}
    return child.signal.map { -$0 } ?? status
  }
}
