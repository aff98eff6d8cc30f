// Asks a person at the terminal for a secret, without echo. The question goes to standard error. The terminal
// is put back as it was whatever ends the question, signals included. Never called where there is no terminal.

import CLinux
import Glibc
import VaultClient

/// Asks for one line.
/// - Parameters:
///   - question: what is shown, without the colon.
///   - limit: the most bytes that are taken.
///   - oneLineOnly: whether more lines behind the first, as from a paste, are an error. Otherwise they stay for
///     the next question.
/// - Returns: the line, without its end.
/// - Throws: where the input ended without a line, is too long, or has more lines than one.
func ask(_ question: String, limit: Int, oneLineOnly: Bool) throws(Failure) -> SecretBuffer {
  var line: SecretBuffer
  do throws(SecretMemoryError) {
    line = try SecretBuffer(capacity: 1_024, limit: limit)
  } catch {
    throw Failure(error)
  }
  while true {
    let terminal = try SilentTerminal()
    StandardStreams.show(question + ": ")
    let end = readLine(terminal.signals, into: &line)
    let spilled = oneLineOnly && end == .line && terminal.hasMoreInput
    if spilled { tcflush(StandardStreams.input, TCIFLUSH) }
    terminal.restore()
    StandardStreams.show("\n")
    switch end {
    case .line:
      guard !spilled else {
        throw Failure(
          .invalidArgument, "more than one line was entered, and nothing was stored; pipe such a secret in")
      }
      return line
    case .tooLong:
      throw Failure(.tooLarge, "more than \(limit) bytes were entered; nothing was done")
    case .ended:
      throw Failure(.invalidArgument, "the question was not answered; nothing was done")
    case .signal(let number):
      // The terminal is as it was: now the signal does what it would have done.
      clinux_raise(number)
      line.empty(keeping: 1_024)
    }
  }
}

/// How a line ends.
private enum LineEnd: Equatable {
  case line, ended, tooLong
  case signal(Int32)
}

/// Reads one byte at a time, so that what is behind the line stays in the terminal, and does itself what the
/// terminal would: its own lines are cut at 4,095 bytes.
private func readLine(_ signals: Int32, into line: inout SecretBuffer) -> LineEnd {
  while true {
    var requests = [
      pollfd(fd: StandardStreams.input, events: Int16(POLLIN), revents: 0),
      pollfd(fd: signals, events: Int16(POLLIN), revents: 0),
    ]
    guard unsafe poll(&requests, 2, -1) > 0 else {
      if errno == EINTR { continue }
      return .ended
    }
    if requests[1].revents != 0 { return .signal(clinux_take_signal(signals)) }
    var byte: UInt8 = 0
    let count = unsafe read(StandardStreams.input, &byte, 1)
    if count < 0, errno == EINTR || errno == EAGAIN { continue }
    guard count == 1 else { return .ended }
    switch byte {
    case UInt8(ascii: "\n"), UInt8(ascii: "\r"): return .line
    case 0x04:  // ^D
      return line.isEmpty ? .ended : .line
    case 0x08, 0x7F: line.removeLastCharacter()
    case 0x15: line.removeLast(line.count)  // ^U
    default:
      guard (try? line.append(byte)) != nil else { return .tooLong }
    }
  }
}

extension SecretBuffer {
  /// Drops the last scalar of UTF-8: continuation bytes, and the byte in front of them.
  fileprivate mutating func removeLastCharacter() {
    let drop = withBytes { bytes in
      var index = bytes.count - 1
      while index > 0, bytes[index] & 0xC0 == 0x80 { index -= 1 }
      return bytes.count - max(0, index)
    }
    removeLast(drop)
  }
}

extension StandardStreams {
  fileprivate static func show(_ text: String) {
    var text = printable(text, except: "\n")
    text.withUTF8 { bytes in _ = unsafe Glibc.write(error, bytes.baseAddress, bytes.count) }
  }
}

/// The terminal without echo and without lines of its own, and the signals that would leave it so, held back.
private struct SilentTerminal {
  /// Tells of the signals that were held back.
  let signals: Int32
  private let before: termios

  init() throws(Failure) {
    var before = termios()
    guard unsafe tcgetattr(StandardStreams.input, &before) == 0 else { throw Self.notSilent }
    signals = clinux_hold_signals()
    self.before = before
    guard signals >= 0 else { throw Self.notSilent }
    var silent = before
    silent.c_lflag &= ~UInt32(ECHO | ECHONL | ICANON)
    silent.c_lflag |= UInt32(ISIG)
    unsafe tcsetattr(StandardStreams.input, TCSADRAIN, &silent)
  }

  private static var notSilent: Failure {
    Failure(.invalidArgument, "the terminal cannot be made silent; nothing was asked")
  }

  /// Whether something was entered behind the line: what a paste of several lines leaves. ^D doesn't count.
  var hasMoreInput: Bool {
    var request = pollfd(fd: StandardStreams.input, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&request, 1, 20) > 0 {
      var byte: UInt8 = 0
      guard unsafe read(StandardStreams.input, &byte, 1) == 1 else { return false }
      if byte != 0x04 { return true }
    }
    return false
  }

  /// Puts everything back.
  func restore() {
    var before = before
    unsafe tcsetattr(StandardStreams.input, TCSADRAIN, &before)
    clinux_release_signals(signals)
  }
}
