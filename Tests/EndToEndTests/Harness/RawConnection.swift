// The other end of the socket, written from the protocol's description alone: a test sends any bytes that it likes,
// and reads frames as they come. Shares nothing with the client library.

import Foundation
import Glibc
import Spawning

/// An answer on the socket.
struct Answer {
  /// The whole object.
  var object: [String: Any]
  /// The error's full name; `nil` for success.
  var error: String? { object["error"] as? String }
  /// The reply's or the error's parameters.
  var parameters: [String: Any] { object["parameters"] as? [String: Any] ?? [:] }
}

/// A connection to a Unix socket.
final class RawConnection {
  private var descriptor: Int32
  private var received = Data()

  /// Connects.
  init(_ path: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    let code = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard code == 0 else {
      let reason = errno
      close()
      throw HarnessFailure("\(path) cannot be connected to: errno \(reason)")
    }
  }

  deinit { close() }

  /// Closes it.
  func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }

  /// Says that nothing more is sent.
  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Sends bytes as they are.
  /// - Returns: whether the other end took all of them within the limit.
  @discardableResult
  func send(_ bytes: Data, seconds: Double = 20) -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    var rest = bytes[...]
    while !rest.isEmpty {
      guard ContinuousClock.now < end else { return false }
      let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
      let sent = unsafe rest.withUnsafeBytes {
        unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, flags)
      }
      if sent > 0 {
        rest = rest.dropFirst(sent)
      } else if errno == EAGAIN {
        var event = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        unsafe poll(&event, 1, 50)
      } else {
        return false
      }
    }
    return true
  }

  /// Sends text and the NUL that ends a frame.
  @discardableResult
  func sendFrame(_ text: String) -> Bool { send(Data(text.utf8) + [0]) }

  /// The next frame, without its NUL; `nil` where the other end closed.
  /// - Throws: where nothing came in time.
  func frame(seconds: Double = 20) throws -> Data? {
    let end = ContinuousClock.now + .seconds(seconds)
    while true {
      if let zero = received.firstIndex(of: 0) {
        let frame = Data(received[..<zero])
        received = Data(received[(zero + 1)...])
        return frame
      }
      var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      unsafe poll(&event, 1, 50)
      if event.revents != 0 {
        var buffer = [UInt8](repeating: 0, count: 262_144)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        if count <= 0 { return nil }
        received.append(contentsOf: buffer[..<count])
      } else if ContinuousClock.now >= end {
        throw HarnessFailure("no answer within \(seconds) s")
      }
    }
  }

  /// The next answer; `nil` where the other end closed.
  func answer(seconds: Double = 20) throws -> Answer? {
    guard let frame = try frame(seconds: seconds) else { return nil }
    guard let object = try JSONSerialization.jsonObject(with: frame) as? [String: Any] else {
      throw HarnessFailure("an answer that is no object")
    }
    return Answer(object: object)
  }

  /// Waits until answers begin to come, or until `end`.
  /// - Returns: the places of the connections that they come on.
  static func answering(_ connections: [RawConnection], until end: ContinuousClock.Instant) -> [Int] {
    let buffered = connections.indices.filter { connections[$0].received.contains(0) }
    if !buffered.isEmpty { return buffered }
    var events = connections.map { pollfd(fd: $0.descriptor, events: Int16(POLLIN), revents: 0) }
    var ready: Int32 = 0
    repeat {
      let left = (end - ContinuousClock.now) / .milliseconds(1)
      ready = unsafe poll(&events, nfds_t(events.count), Int32(max(0, min(left, 60_000)).rounded(.up)))
    } while ready <= 0 && ContinuousClock.now < end
    return events.indices.filter { events[$0].revents != 0 }
  }

  /// Sends a call and waits for nothing.
  func send(_ method: String, _ parameters: [String: Any]) throws {
    let call: [String: Any] = ["method": method, "parameters": parameters]
    send(try JSONSerialization.data(withJSONObject: call) + [0])
  }

  /// Calls a method and takes its answer.
  func call(_ method: String, _ parameters: [String: Any] = [:]) throws -> Answer {
    try send(method, parameters)
    guard let answer = try answer() else { throw HarnessFailure("closed in place of an answer to \(method)") }
    return answer
  }
}
