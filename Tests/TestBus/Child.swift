// A process that a test started: it ends when its owner says so, and at the latest with the test process,
// whose end of its standard input it sees closing.

import Foundation

/// A running program, spoken to by lines.
final class Child: @unchecked Sendable {
  // Used by one test at a time.
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var buffer = Data()
  private let isWrapped: Bool

  var isRunning: Bool { process.isRunning }
  var pid: Int32 { process.processIdentifier }

  static func environment(_ folder: String) -> [String: String] {
    [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": folder + "/home",
      "XDG_RUNTIME_DIR": folder + "/run", "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder)/bus",
      "LANG": "C.UTF-8",
    ]
  }

  init(_ program: String, _ arguments: [String], _ folder: String) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    isWrapped = !program.hasSuffix("fake-provider")
    if !isWrapped {
      process.arguments = [program] + arguments
    } else {
      // What does not end with its standard input is ended by a program that does. The threads of tests
      // have their signals blocked, which programs inherit.
      let script = """
        import os, signal, subprocess, sys, threading
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
        threading.Thread(target=lambda: os._exit(child.wait()), daemon=True).start()
        while os.read(0, 65536): pass
        child.terminate(); child.wait()
        """
      process.arguments = ["/usr/bin/python3", "-c", script, program] + arguments
    }
    process.environment = Self.environment(folder)
    process.standardInput = input
    process.standardOutput = output
    if program == "dbus-daemon" { process.standardError = FileHandle.nullDevice }
    // Else what is started later holds the pipe open, and its end is not seen.
    _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(output.fileHandleForReading.fileDescriptor, F_SETFD, FD_CLOEXEC)
    try process.run()
  }

  func write(_ data: Data) {
    try? input.fileHandleForWriting.write(contentsOf: data)
  }

  /// The next line of its output, without its end; `nil` where there is none any more.
  func readLine() -> String? {
    while true {
      if let end = buffer.firstIndex(of: 0x0A) {
        let line = String(decoding: buffer[buffer.startIndex..<end], as: UTF8.self)
        buffer = Data(buffer[(end + 1)...])
        return line
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      buffer.append(more)
    }
  }

  /// Ends it and waits until it has ended.
  func stop() {
    guard process.isRunning else { return }
    try? input.fileHandleForWriting.close()
    if !isWrapped { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
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
