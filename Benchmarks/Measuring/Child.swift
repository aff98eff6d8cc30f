// Programs that the benchmark starts: servers that run until they are ended, by their own process id, and
// tools that run to their end.

import Foundation

/// A server that the benchmark started. Ends when its owner lets go of it, and with the benchmark at the
/// latest.
package final class Child {
  private let process: Process

  /// The process id.
  package var pid: Int32 { process.processIdentifier }

  /// Starts a program, by path or by name, on the workshop's CPU for servers; it becomes the process that `pid`
  /// names. Its environment is what is given here and PATH; it reads `input` from standard input.
  package init(
    _ program: String, _ arguments: [String], in workshop: Workshop, environment: [String: String] = [:],
    input: String? = nil
  ) throws {
    process = Process()
    process.executableURL = URL(fileURLWithPath: try workshop.tool("pinned"))
    process.arguments = [String(workshop.serverCPU), program] + arguments
    process.environment = environment.merging(searchPath) { given, _ in given }
    process.standardOutput = FileHandle.nullDevice
    process.standardError = try Self.log(in: workshop)
    guard let input else {
      process.standardInput = FileHandle.nullDevice
      try process.run()
      return
    }
    let pipe = Pipe()
    process.standardInput = pipe
    try process.run()
    try pipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try pipe.fileHandleForWriting.close()
  }

  deinit { end() }

  /// Ends it in order, and by force where that takes longer than 10 s.
  package func end() {
    guard process.isRunning else { return }
    kill(pid, SIGTERM)
    for _ in 0..<1_000 where process.isRunning { usleep(10_000) }
    if process.isRunning { kill(pid, SIGKILL) }
    process.waitUntilExit()
  }

  /// Its memory in kilobytes.
  package func memory() throws -> Memory {
    let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
    func kilobytes(_ name: String) throws -> Double {
      let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
      guard let words = line?.split(whereSeparator: \.isWhitespace), words.count > 1,
        let kibibytes = Double(words[1])
      else { throw Failure("no \(name) in /proc/\(pid)/status") }
      return kibibytes * 1.024
    }
    return Memory(resident: try kilobytes("VmRSS"), locked: try kilobytes("VmLck"))
  }

  private static func log(in workshop: Workshop) throws -> FileHandle {
    let path = "\(workshop.folder)/log"
    guard
      FileManager.default.fileExists(atPath: path)
        || FileManager.default.createFile(atPath: path, contents: nil)
    else { throw Failure("\(path) can't be made") }
    let log = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    try log.seekToEnd()
    return log
  }
}

/// What a process takes of the machine's memory, in kilobytes.
package struct Memory {
  /// What it has in memory.
  package let resident: Double
  /// What is, or would be once touched, kept from being swapped: what counts against the limit RLIMIT_MEMLOCK.
  package let locked: Double
}

/// Where programs are found: the one thing of the environment that every child gets.
private let searchPath = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]

/// Runs a program to its end.
/// - Throws: what it wrote to standard error, where it doesn't end with 0.
/// - Returns: what it wrote to standard output.
@discardableResult
package func output(
  of program: String, _ arguments: [String], environment: [String: String] = [:], input: String? = nil
) throws -> String {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = [program] + arguments
  process.environment = environment.merging(searchPath) { given, _ in given }
  let (output, errors, standardInput) = (Pipe(), Pipe(), Pipe())
  process.standardInput = standardInput
  process.standardOutput = output
  process.standardError = errors
  try process.run()
  try standardInput.fileHandleForWriting.write(contentsOf: Data((input ?? "").utf8))
  try standardInput.fileHandleForWriting.close()
  // What these tools write fits into a pipe, so that one can be read after the other.
  let text = try output.fileHandleForReading.readToEnd() ?? Data()
  let complaint = try errors.fileHandleForReading.readToEnd() ?? Data()
  process.waitUntilExit()
  guard process.terminationStatus == 0 else {
    throw Failure("\(program): \(String(decoding: complaint, as: UTF8.self).prefix(500))")
  }
  return String(decoding: text, as: UTF8.self)
}

/// The number that a tool writes.
package func nanoseconds(
  _ tool: String, _ arguments: [String], environment: [String: String] = [:]
) throws -> Double {
  let text = try output(of: tool, arguments, environment: environment)
  guard let value = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
    throw Failure("\(tool) wrote \(text.prefix(200))")
  }
  return value
}
