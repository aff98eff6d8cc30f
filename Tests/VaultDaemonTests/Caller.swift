// The other end of a connection, as a test plays it: plain bytes in, plain frames out, with a limit on every wait so
// that a test fails and doesn't hang.

import CLinux
import Foundation
import VaultCore

@testable import VaultDaemon

/// A client that a test writes byte by byte.
final class Caller: Sendable {
  let number: Int32

  init(_ number: Int32) {
    self.number = number
  }

  deinit {
    Glibc.close(number)
  }

  /// Two ends: the one returned for the test, and one that `take` gets for the daemon.
  @VaultActor
  static func pair(_ take: @VaultActor (consuming Descriptor) -> Void) throws -> Caller {
    var ends: [Int32] = [0, 0]
    try check(
      unsafe ends.withUnsafeMutableBufferPointer { unsafe clinux_socket_pair($0.baseAddress) }, "pair")
    take(Descriptor(owning: ends[0]))
    return Caller(ends[1])
  }

  /// Sends all of `bytes`; what the other end does not take within the time stays.
  /// - Returns: how many bytes went.
  @discardableResult
  func send(bytes: [UInt8], milliseconds: Int32 = 2_000) -> Int {
    var sent = 0
    while sent < bytes.count {
      let result = unsafe bytes.withUnsafeBytes {
        unsafe clinux_send(number, $0.baseAddress.map { unsafe $0 + sent }, bytes.count - sent)
      }
      if result > 0 {
        sent += Int(result)
      } else if result != -Int(EAGAIN) || !wait(for: Int16(POLLOUT), milliseconds: milliseconds) {
        break
      }
    }
    return sent
  }

  /// Sends frames.
  func send(_ frames: String...) {
    send(bytes: frames.flatMap { Array($0.utf8) + [0] })
  }

  /// Sends no more, and goes on reading.
  func shutSending() {
    shutdown(number, Int32(SHUT_WR))
  }

  /// The next bytes; empty at the end of the connection, `nil` where nothing comes within the time.
  func receive(milliseconds: Int32 = 5_000) -> [UInt8]? {
    guard wait(for: Int16(POLLIN), milliseconds: milliseconds) else { return nil }
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe clinux_receive(number, $0.baseAddress, $0.count)
    }
    return Array(bytes.prefix(max(0, Int(count))))
  }

  /// The next `count` frames, or as many as come before the connection ends or nothing comes any more.
  func frames(_ count: Int) -> [String] {
    var bytes: [UInt8] = []
    var ends = 0
    while ends < count, let more = receive(), !more.isEmpty {
      bytes += more
      for byte in more where byte == 0 { ends += 1 }
    }
    return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// Whether the daemon has closed the connection, or does within the time.
  func isClosed(milliseconds: Int32 = 5_000) -> Bool {
    while let bytes = receive(milliseconds: milliseconds) {
      if bytes.isEmpty { return true }
    }
    return false
  }

  /// Whether nothing comes for a moment: for what must not happen.
  func isSilent() -> Bool { receive(milliseconds: 50) == nil }

  private func wait(for events: Int16, milliseconds: Int32) -> Bool {
    var ready = pollfd(fd: number, events: events, revents: 0)
    return unsafe poll(&ready, 1, milliseconds) == 1
  }
}
