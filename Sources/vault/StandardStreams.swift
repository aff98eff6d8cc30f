// Bytes in and out of the process: standard input into locked memory, results to standard output, errors to
// standard error. A write that fails is a failure of the command; nothing here dies by SIGPIPE.

import Glibc
import VaultClient

/// The three streams that a process begins with.
enum StandardStreams {
  static let input: Int32 = 0
  static let output: Int32 = 1
  static let error: Int32 = 2

  /// Makes the streams safe to use. One that the caller closed would be given to the next descriptor that is
  /// opened, which might be the socket: a place is held for it that fails when it is used.
  static func secure() {
    for descriptor in [input, output, error] where fcntl(descriptor, F_GETFD) < 0 {
      _ = unsafe open("/dev/null", descriptor == input ? O_WRONLY : O_RDONLY)
    }
  }

  /// Whether a person is at the other end.
  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// Whether a question can be shown and answered.
  static var canAsk: Bool { isTerminal(input) && isTerminal(error) }

  /// Writes all of `bytes` to standard output.
  static func write(_ bytes: Span<UInt8>) throws(Failure) {
    try write(bytes, to: output)
  }

  /// Writes all of `text` to standard output.
  static func write(_ text: String) throws(Failure) {
    try write(text.utf8.span, to: output)
  }

  /// Writes one line to standard error, as far as that is possible.
  static func tell(_ line: String) {
    let text = "vault: " + printable(line) + "\n"
    try? write(text.utf8.span, to: error)
  }

  private static func write(_ bytes: Span<UInt8>, to descriptor: Int32) throws(Failure) {
    var rest = bytes
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.extracting(count...)
      } else if errno == EAGAIN {
        wait(for: Int16(POLLOUT), on: descriptor)
      } else if errno != EINTR {
        let reason = unsafe String(cString: strerror(errno))
        throw Failure(.unavailable, "standard output cannot be written: \(reason)")
      }
    }
  }
}

/// Reads `descriptor` to its end into locked memory.
/// - Parameters:
///   - descriptor: a file, a pipe or a terminal.
///   - limit: the most bytes that may come.
///   - name: what the descriptor is, for the error.
/// - Returns: the bytes; `nil` where there are more than `limit`.
/// - Throws: where it cannot be read.
func readToEnd(_ descriptor: Int32, limit: Int, name: String) throws(Failure) -> SecretBuffer? {
  var code: Int32 = 0
  do throws(SecretMemoryError) {
    var buffer = try SecretBuffer(capacity: 4_096, limit: limit + 1)
    while code == 0 {
      let count = try buffer.fill(atLeast: 1) { free in
        let count = unsafe free.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        code = count < 0 ? errno : 0
        return max(0, count)
      }
      if code == EINTR || code == EAGAIN {
        if code == EAGAIN { wait(for: Int16(POLLIN), on: descriptor) }
        code = 0
      } else if code == 0 {
        if count == 0 { return buffer }
        if buffer.count > limit { return nil }
      }
    }
  } catch {
    throw Failure(error)
  }
  throw Failure(.invalidArgument, "\(name) cannot be read: \(unsafe String(cString: strerror(code)))")
}

/// Waits until a descriptor that its owner made non-blocking is ready.
private func wait(for events: Int16, on descriptor: Int32) {
  var request = pollfd(fd: descriptor, events: events, revents: 0)
  _ = unsafe poll(&request, 1, -1)
}

extension SecretBuffer {
  /// Drops one line end, LF or CR LF, at the very end.
  mutating func dropLineEnd() {
    let drop = withBytes { bytes in
      guard !bytes.isEmpty, bytes[bytes.count - 1] == UInt8(ascii: "\n") else { return 0 }
      return bytes.count > 1 && bytes[bytes.count - 2] == UInt8(ascii: "\r") ? 2 : 1
    }
    removeLast(drop)
  }

  /// A copy that may be handed on; the buffer is wiped by its owner.
  func shared() throws(Failure) -> SharedSecret {
    do throws(SecretMemoryError) {
      return SharedSecret(
        try withBytes { bytes throws(SecretMemoryError) in try SecretBytes(copying: bytes) })
    } catch {
      throw Failure(error)
    }
  }
}
