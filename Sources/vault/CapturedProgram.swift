// A program whose output is wanted: `vault renew` runs it. What it prints comes into locked memory; its other
// streams are the caller's. Signals that are meant for it while this process waits are handed on.

import CLinux
import Glibc
import VaultClient

/// What a program printed, and how it ended.
struct CapturedProgram: ~Copyable {
  /// Why it is no longer there.
  enum End: Equatable {
    /// It exited with this status.
    case exited(Int32)
    /// This signal ended it. `wasRelayed`: this process was sent the same.
    case killed(Int32, wasRelayed: Bool)
  }

  private(set) var end = End.exited(0)
  private(set) var output: SecretBuffer
  /// Whether it printed more than a secret may be; then the rest was not waited for.
  private(set) var isTooMuch = false

  private let limit: Int
  private var relayed: Set<Int32> = []

  /// Runs a program to its end. What it leaves running in the background is not waited for.
  /// - Parameters:
  ///   - words: the program, found on PATH, and its arguments.
  ///   - limit: the most bytes that it may print.
  ///   - diesOfPipes: whether SIGPIPE does to it what it does to a new process.
  /// - Returns: what it printed, and how it ended.
  /// - Throws: where it cannot be run: status 127 or 126, as env(1) and the shells have it.
  static func run(_ words: [String], limit: Int, diesOfPipes: Bool) throws(Failure) -> CapturedProgram {
    var program = try CapturedProgram(limit: limit)
    try program.run(words, diesOfPipes: diesOfPipes)
    return program
  }

  private init(limit: Int) throws(Failure) {
    self.limit = limit
    output = try inMemory { () throws(SecretMemoryError) in
      try SecretBuffer(capacity: 4_096, limit: limit + 1)
    }
  }

  private mutating func run(_ words: [String], diesOfPipes: Bool) throws(Failure) {
    let signals = clinux_relay_open()
    guard signals >= 0 else { throw notRun(words, code: -signals) }
    defer { clinux_relay_close(signals) }
    var ends: [Int32] = [-1, -1]
    let code = unsafe clinux_child_pipe(&ends)
    guard code == 0 else { throw notRun(words, code: -code) }
    var pipe = ends[0]
    defer { if pipe >= 0 { close(pipe) } }
    var process = start(words, output: ends[1], diesOfPipes: diesOfPipes)
    // A script that does not name its shell: the shell knows what to do with it, as execvp(3) does.
    if process == -ENOEXEC {
      let line = ["/bin/sh", "-c", #"exec "$0" "$@""#]
      process = start(line + words, output: ends[1], diesOfPipes: diesOfPipes)
    }
    close(ends[1])
    guard process > 0 else { throw notRun(words, code: -process) }
    try attend(process, pipe: &pipe, signals: signals)
    let status = clinux_child_wait(process)
    let number = status - 256
    end = number < 0 ? .exited(max(0, status)) : .killed(number, wasRelayed: relayed.contains(number))
  }

  /// Takes what it prints and hands on signals until it has ended.
  private mutating func attend(_ process: Int32, pipe: inout Int32, signals: Int32) throws(Failure) {
    let processEnd = clinux_child_open(process)
    defer { if processEnd >= 0 { close(processEnd) } }
    // Without a descriptor for its end, the end of what it prints stands for that.
    while processEnd >= 0 || pipe >= 0 {
      var requests = [pipe, signals, processEnd].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      guard unsafe poll(&requests, 3, -1) > 0 else { continue }
      if requests[1].revents != 0 { relay(signals, to: process) }
      if requests[0].revents != 0 { try take(&pipe, from: process) }
      if requests[2].revents != 0 { break }
    }
    // What it printed last is still in the pipe.
    while pipe >= 0, try take(&pipe, from: process) {}
  }

  /// Takes what is in the pipe, at most once.
  /// - Returns: whether there may be more.
  @discardableResult
  private mutating func take(_ pipe: inout Int32, from process: Int32) throws(Failure) -> Bool {
    var code: Int32 = 0
    var count = 0
    do throws(SecretMemoryError) {
      let descriptor = pipe
      count = try output.fill(atLeast: 1) { free in
        let count = unsafe free.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        code = count < 0 ? errno : 0
        return max(0, count)
      }
    } catch {
      kill(process, SIGTERM)
      throw Failure(error)
    }
    if code == EINTR { return true }
    if code == EAGAIN { return false }
    isTooMuch = output.count > limit
    if isTooMuch { kill(process, SIGTERM) }
    guard count > 0, !isTooMuch else {
      close(pipe)
      pipe = -1
      return false
    }
    return true
  }

  /// Hands on the signals that came. The terminal's own came to the program as well.
  private mutating func relay(_ signals: Int32, to process: Int32) {
    while true {
      let signal = clinux_relay_next(signals)
      guard signal.number > 0 else { return }
      relayed.insert(signal.number)
      if !signal.from_terminal { kill(process, signal.number) }
    }
  }

  /// The secret that was printed, less one line end at the very end.
  mutating func takeSecret() throws(Failure) -> SharedSecret {
    output.dropLineEnd()
    return try output.shared()
  }
}

/// - Returns: the process, or the error number as a negative one.
private func start(_ words: [String], output: Int32, diesOfPipes: Bool) -> Int32 {
  unsafe withCStrings(words) { arguments in
    unsafe clinux_child_start(arguments, environ, output, diesOfPipes)
  }
}

private func notRun(_ words: [String], code: Int32) -> Failure {
  let reason = unsafe String(cString: strerror(code))
  return Failure(status: code == ENOENT ? 127 : 126, text: "\(words.first ?? "") cannot be run: \(reason)")
}
