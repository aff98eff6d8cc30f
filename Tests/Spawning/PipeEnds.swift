// A pipe to a program that a test started, or from one. Whoever reads or writes it waits so long and no longer.

import Foundation
import Glibc

/// A pipe whose ends are closed with it.
public final class PipeEnds {
  /// The end to read from; -1 once closed.
  public private(set) var reader: Int32
  /// The end to write to; -1 once closed.
  public private(set) var writer: Int32

  public init() throws {
    ignoreBrokenPipes
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw HarnessFailure("no pipe: errno \(errno)") }
    (reader, writer) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  }

  deinit {
    closeReader()
    closeWriter()
  }

  public func closeReader() {
    if reader >= 0 { close(reader) }
    reader = -1
  }

  public func closeWriter() {
    if writer >= 0 { close(writer) }
    writer = -1
  }

  /// Writes `data`.
  /// - Throws: where nobody reads any more, or nobody reads within the limit.
  public func write(_ data: Data, seconds: Double = 20) throws {
    writeWithoutWaiting()
    var rest = data[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(writer, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno != EAGAIN && errno != EINTR {
        throw HarnessFailure("nobody reads from the pipe: \(unsafe String(cString: strerror(errno)))")
      } else if !becomesReady(writer, for: POLLOUT, seconds: seconds) {
        throw HarnessFailure("of \(data.count) bytes nobody read the last \(rest.count) within \(seconds) s")
      }
    }
  }

  /// Waits for bytes and reads them.
  /// - Returns: whether there may be more.
  /// - Throws: where neither bytes nor the end come within the limit.
  public func read(into data: inout Data, seconds: Double = 20) throws -> Bool {
    guard becomesReady(reader, for: POLLIN, seconds: seconds) else {
      throw HarnessFailure("nothing came through the pipe within \(seconds) s")
    }
    return readOnce(into: &data)
  }

  /// From now on a write gives up what the pipe does not take at once.
  func writeWithoutWaiting() {
    _ = fcntl(writer, F_SETFL, O_NONBLOCK)
  }

  /// Reads once what is known to be there.
  /// - Returns: whether there may be more.
  func readOnce(into data: inout Data) -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe Glibc.read(reader, &buffer, buffer.count)
    if count > 0 { data.append(contentsOf: buffer[..<count]) }
    return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN))
  }
}

/// What a program prints, line by line.
public struct Lines {
  private let pipe: PipeEnds
  private var received = Data()

  public init(from pipe: PipeEnds) {
    self.pipe = pipe
  }

  /// The next line, without its end; `nil` where none comes any more.
  /// - Throws: where it does not come within the limit.
  public mutating func next(seconds: Double = 20) throws -> String? {
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
      if let end = received.firstIndex(of: 0x0A) {
        let line = String(decoding: received[..<end], as: UTF8.self)
        received = Data(received[(end + 1)...])
        return line
      }
      let rest = (end - ContinuousClock.now) / .seconds(1)
      guard becomesReady(pipe.reader, for: POLLIN, seconds: rest) else {
        throw HarnessFailure("no line came within \(seconds) s")
      }
      guard pipe.readOnce(into: &received) else { return nil }
    }
  }
}

/// Waits until `descriptor` is ready for `events` of poll(2), or never will be again.
/// - Returns: whether it came to that in time.
public func becomesReady(_ descriptor: Int32, for events: Int32, seconds: Double = 20) -> Bool {
  let end = ContinuousClock.now + .seconds(seconds)
  while true {
    var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    let rest = max(0, (end - ContinuousClock.now) / .milliseconds(1))
    // A signal may interrupt it.
    if unsafe poll(&request, 1, Int32(rest.rounded(.up))) > 0 { return true }
    if rest == 0 { return false }
  }
}

private let ignoreBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()
