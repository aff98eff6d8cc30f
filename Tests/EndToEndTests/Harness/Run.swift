// Runs a program to its end with an input, and gives what it printed. Everything goes through pipes: a secret that
// a test hands over is in no file.

import Foundation
import Glibc

/// How a program ended and what it printed.
struct Ended {
  /// Exit status, or 128 and the signal's number.
  var status: Int32
  /// What it wrote to standard output.
  var output: Data
  /// What it wrote to standard error.
  var errors: String

  /// Standard output as text.
  var text: String { String(decoding: output, as: UTF8.self) }

  /// Standard output as one JSON object.
  var json: [String: Any] {
    (try? JSONSerialization.jsonObject(with: output)) as? [String: Any] ?? [:]
  }
}

/// Runs `arguments` with `input` on standard input until it has ended and closed what it printed to.
/// - Throws: where it doesn't start, or goes on beyond the limit.
func run(
  _ arguments: [String], environment: [String: String], input: Data = Data(), folder: String = "/",
  seconds: Double = 40
) throws -> Ended {
  ignoreBrokenPipes
  let stdin = try Pipe(), stdout = try Pipe(), stderr = try Pipe()
  let child = try Child(
    arguments, environment: environment, folder: folder,
    descriptors: (stdin.reader, stdout.writer, stderr.writer))
  stdin.closeReader()
  stdout.closeWriter()
  stderr.closeWriter()

  var rest = input[...]
  if rest.isEmpty { stdin.closeWriter() } else { stdin.writeWithoutWaiting() }
  var output = Data(), errors = Data()
  let end = ContinuousClock.now + .seconds(seconds)
  while stdout.reader >= 0 || stderr.reader >= 0 {
    guard ContinuousClock.now < end else {
      child.kill(SIGKILL)
      _ = child.look()
      throw HarnessFailure(
        "\(arguments) did not end within \(seconds) s; so far: \(String(decoding: errors, as: UTF8.self))")
    }
    var events = [
      pollfd(fd: stdin.writer, events: Int16(POLLOUT), revents: 0),
      pollfd(fd: stdout.reader, events: Int16(POLLIN), revents: 0),
      pollfd(fd: stderr.reader, events: Int16(POLLIN), revents: 0),
    ]
    unsafe poll(&events, 3, 100)
    if events[0].revents != 0 {
      let written = unsafe rest.withUnsafeBytes { unsafe write(stdin.writer, $0.baseAddress, $0.count) }
      if written > 0 { rest = rest.dropFirst(written) }
      if rest.isEmpty || (written < 0 && errno != EAGAIN) { stdin.closeWriter() }
    }
    if events[1].revents != 0, !stdout.read(into: &output) { stdout.closeReader() }
    if events[2].revents != 0, !stderr.read(into: &errors) { stderr.closeReader() }
  }
  return Ended(
    status: try child.wait(), output: output, errors: String(decoding: errors, as: UTF8.self))
}

private let ignoreBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

/// A pipe whose ends are closed with it.
final class Pipe {
  /// The end to read from; -1 once closed.
  private(set) var reader: Int32
  /// The end to write to; -1 once closed.
  private(set) var writer: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw HarnessFailure("no pipe: errno \(errno)") }
    (reader, writer) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  }

  deinit {
    closeReader()
    closeWriter()
  }

  func closeReader() {
    if reader >= 0 { close(reader) }
    reader = -1
  }

  func closeWriter() {
    if writer >= 0 { close(writer) }
    writer = -1
  }

  func writeWithoutWaiting() {
    _ = fcntl(writer, F_SETFL, O_NONBLOCK)
  }

  /// Reads once.
  /// - Returns: whether there may be more.
  func read(into data: inout Data) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe Glibc.read(reader, &buffer, buffer.count)
    if count > 0 { data.append(contentsOf: buffer[..<count]) }
    return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN))
  }
}
