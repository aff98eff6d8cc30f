// Runs a program to its end with an input, and gives what it printed. Everything goes through pipes: a secret that
// a test hands over is in no file. Who goes on beyond the limit is killed, and never waited for.

import Foundation
import Glibc

/// How a program ended and what it printed.
public struct Ended {
  /// Exit status, or 128 and the signal's number.
  public var status: Int32
  /// The signal that ended it, if one did: what a shell returns for its command looks the same in `status`.
  public var signal: Int32?
  /// What it wrote to standard output.
  public var output: Data
  /// What it wrote to standard error.
  public var errors: String

  /// Standard output as text.
  public var text: String { String(decoding: output, as: UTF8.self) }

  /// Standard output as one JSON object.
  public var json: [String: Any] {
    (try? JSONSerialization.jsonObject(with: output)) as? [String: Any] ?? [:]
  }
}

/// Runs `arguments` with `input` on standard input until it has ended and closed what it printed to.
/// - Throws: where it doesn't start, or goes on beyond the limit.
public func run(
  _ arguments: [String], environment: [String: String], input: Data = Data(), folder: String = "/",
  seconds: Double = 40
) throws -> Ended {
  let stdin = try PipeEnds(), stdout = try PipeEnds(), stderr = try PipeEnds()
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
      child.killNow()
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
    if events[1].revents != 0, !stdout.readOnce(into: &output) { stdout.closeReader() }
    if events[2].revents != 0, !stderr.readOnce(into: &errors) { stderr.closeReader() }
  }
  let status = try child.wait()
  return Ended(
    status: status, signal: child.signal, output: output, errors: String(decoding: errors, as: UTF8.self))
}
