// A program that stays on the tests' bus: it ends when its owner says so, and at the latest with the test process,
// whose end of its standard input it sees closing. Nobody waits for it, or for what it says, without a limit.

import Foundation
import Glibc
import Spawning

/// A running program, spoken to by lines.
final class BusProgram: @unchecked Sendable {
  // Used by one test at a time.
  private let child: Child
  private let input: PipeEnds
  private var said: Lines
  private let isWrapped: Bool

  var isRunning: Bool { child.look() == nil }
  var pid: Int32 { child.pid }

  static func environment(_ folder: String) -> [String: String] {
    [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": folder + "/home",
      "XDG_RUNTIME_DIR": folder + "/run", "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder)/bus",
      "LANG": "C.UTF-8",
    ]
  }

  /// What does not end with its standard input is ended by a program that does: in order, or after 5 s by force with
  /// all that it started.
  private static let wrapper = """
    import os, signal, subprocess, sys, threading
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: sys.exit())
    child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True)
    threading.Thread(target=lambda: os._exit(child.wait() & 0xff), daemon=True).start()
    try:
        while os.read(0, 65536): pass
    finally:
        child.terminate()
        try:
            child.wait(5)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait(5)
    """

  init(_ program: String, _ arguments: [String], _ folder: String) throws {
    isWrapped = !program.hasSuffix("fake-provider")
    let prefix = isWrapped ? ["/usr/bin/python3", "-c", Self.wrapper] : []
    let output = try PipeEnds()
    input = try PipeEnds()
    said = Lines(from: output)
    let null = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(null) }
    child = try Child(
      prefix + [program] + arguments, environment: Self.environment(folder),
      descriptors: (input.reader, output.writer, program == "dbus-daemon" ? null : STDERR_FILENO))
    input.closeReader()
    output.closeWriter()
  }

  /// - Throws: where it has ended, or does not read in time.
  func write(_ data: Data) throws {
    try input.write(data)
  }

  /// The next line of its output, without its end; `nil` where there is none any more.
  /// - Throws: where none comes in time; the program is ended then.
  func readLine(seconds: Double = 20) throws -> String? {
    do {
      return try said.next(seconds: seconds)
    } catch {
      try? stop()
      throw error
    }
  }

  /// Ends it and waits until it has ended.
  func stop() throws {
    if !isWrapped { child.kill(SIGKILL) }
    input.closeWriter()
    // The wrapper takes 10 s at most.
    try child.wait(seconds: 15)
  }
}

/// First come, first served.
final class AsyncTurn: @unchecked Sendable {
  private let lock = NSLock()
  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func take() async {
    await withCheckedContinuation { continuation in
      let free = lock.withLock {
        if isTaken {
          waiting.append(continuation)
          return false
        }
        isTaken = true
        return true
      }
      if free { continuation.resume() }
    }
  }

  func pass() {
    let next = lock.withLock {
      if waiting.isEmpty {
        isTaken = false
        return nil as CheckedContinuation<Void, Never>?
      }
      return waiting.removeFirst()
    }
    next?.resume()
  }
}
