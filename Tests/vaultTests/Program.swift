// Runs the built command as its users do: a process with its own streams and environment, or one at a terminal.

import Foundation
import Glibc

/// What a run of the command left.
struct Run {
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
    try run("/proc/self/exe", words, input: input)
  }

  /// The same, as a shell would start it: threads of a test process block signals, and its descriptors leak.
  func runFromShell(_ words: String...) throws -> Run {
    let script = """
      import os, signal, sys
      signal.pthread_sigmask(signal.SIG_SETMASK, [])
      os.closerange(3, 1024)
      os.execv(sys.argv[1], sys.argv[1:])
      """
    return try run("/usr/bin/python3", ["-c", script, Self.path] + words, input: [])
  }

  /// Runs a line of the shell, in which `$vault` is the program.
  func shell(_ line: String, input: [UInt8] = []) throws -> Run {
    try run("/bin/sh", ["-c", line], input: input)
  }

  private func run(_ program: String, _ words: [String], input: [UInt8]) throws -> Run {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program == "/proc/self/exe" ? Self.path : program)
    process.arguments = words
    process.environment = fullEnvironment
    let (stdin, stdout, stderr) = (Pipe(), Pipe(), Pipe())
    process.standardInput = stdin
    process.standardOutput = stdout
    process.standardError = stderr
    try process.run()
    let feeder = Thread {
      // A program that doesn't read its input closes the pipe.
      signal(SIGPIPE, SIG_IGN)
      try? stdin.fileHandleForWriting.write(contentsOf: Data(input))
      try? stdin.fileHandleForWriting.close()
    }
    feeder.start()
    let output = try stdout.fileHandleForReading.readToEnd() ?? Data()
    let error = try stderr.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Run(
      status: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
      output: Array(output), error: String(decoding: error, as: UTF8.self))
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
  private let process = Process()
  private let terminal: Int32
  private(set) var screen = ""

  init(_ program: Program, _ words: [String]) throws {
    var (master, descriptor): (Int32, Int32) = (-1, -1)
    guard unsafe openpty(&master, &descriptor, nil, nil, nil) == 0 else { throw CocoaError(.fileNoSuchFile) }
    terminal = master
    let slave = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    process.executableURL = URL(fileURLWithPath: Program.path)
    process.arguments = words
    process.environment = program.fullEnvironment
    process.standardInput = slave
    process.standardOutput = slave
    process.standardError = slave
    try process.run()
  }

  deinit { close(terminal) }

  /// Whether the terminal shows what is typed.
  var echoes: Bool {
    var state = termios()
    unsafe tcgetattr(terminal, &state)
    return state.c_lflag & UInt32(ECHO) != 0
  }

  /// Reads until the screen shows `text`, or the session ends.
  @discardableResult
  func wait(for text: String) -> Bool {
    while !screen.contains(text) {
      var bytes = [UInt8](repeating: 0, count: 4_096)
      let count = unsafe read(terminal, &bytes, bytes.count)
      guard count > 0 else { return false }
      screen += String(decoding: bytes[..<count], as: UTF8.self)
    }
    return true
  }

  func type(_ text: String) {
    var text = text
    text.withUTF8 { bytes in _ = unsafe write(terminal, bytes.baseAddress, bytes.count) }
  }

  func signal(_ number: Int32) { kill(process.processIdentifier, number) }

  /// Waits for the end: the exit status, or a signal as a negative number.
  func end() -> Int32 {
    process.waitUntilExit()
    var request = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&request, 1, 0) > 0, request.revents & Int16(POLLIN) != 0 {
      var bytes = [UInt8](repeating: 0, count: 4_096)
      let count = unsafe read(terminal, &bytes, bytes.count)
      guard count > 0 else { break }
      screen += String(decoding: bytes[..<count], as: UTF8.self)
    }
    return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
  }
}
