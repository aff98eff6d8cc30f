// One connection to the daemon: connect, check who listens, write a call, read the reply. Every wait ends by
// the deadline. Calls and replies pass through locked memory and are wiped when they were read. Knows frames
// (a NUL behind each) and nothing of what is in them.

import CLinux
import Glibc
import SecretMemory
import VaultModel
import VaultWire

/// A connected socket with its buffers; closed at the end of its owner's life.
struct Connection: ~Copyable {
  private let descriptor: Int32
  private let socket: String
  private var outgoing: SecretBuffer
  private var incoming: SecretBuffer
  private var reader = ReplyReader()

  /// Connects and checks by the kernel (SO_PEERCRED) that the daemon is this user's, before a byte is written.
  init(to socket: String, by deadline: Deadline) throws(ClientError) {
    let result = unsafe clinux_connect(socket, max(1, deadline.left))
    guard result >= 0 else { throw Self.noConnection(socket, code: -result) }
    do throws(SecretMemoryError) {
      outgoing = try SecretBuffer(capacity: Limits.replyBufferBytes, limit: Limits.frameBytes)
      incoming = try SecretBuffer(capacity: Limits.replyBufferBytes, limit: Limits.replyBytes)
    } catch {
      close(result)
      throw ClientError(error)
    }
    descriptor = result
    self.socket = socket
    let user = clinux_peer_user(result)
    guard user == Int64(geteuid()) else {
      throw user < 0
        ? .noDaemon(.unreachable(socket: socket, code: Int32(clamping: -user)))
        : .noDaemon(.foreign(socket: socket, user: UInt32(clamping: user)))
    }
  }

  deinit { close(descriptor) }

  private static func noConnection(_ socket: String, code: Int32) -> ClientError {
    switch code {
    case ENOENT, ECONNREFUSED: .noDaemon(.nobodyListens(socket: socket))
    case EAGAIN: .noDaemon(.noAnswer(socket: socket, mayTakeEffect: false))
    default: .noDaemon(.unreachable(socket: socket, code: code))
    }
  }

  /// Whether the daemon is still there and silent, as it must be between two calls.
  var isQuiet: Bool {
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, Int32(MSG_PEEK.rawValue | MSG_DONTWAIT.rawValue)) < 0
      && (errno == EAGAIN || errno == EWOULDBLOCK)
  }

  /// Why an exchange has no reply.
  enum Failure: Error {
    /// An answer, and the connection is as good as before.
    case answered(ClientError)
    /// The connection is of no more use. `delivered`: the daemon has the whole call.
    case lost(NoDaemonCause, delivered: Bool)
    /// There was no memory.
    case noMemory(SecretMemoryError)
  }

  /// How a connection is lost.
  enum NoDaemonCause {
    case noAnswer, ended, broken
    case system(Int32)
  }

  /// Sends `call` and reads the one reply to it.
  mutating func exchange(_ call: Call, by deadline: Deadline) throws(Failure) -> Reply {
    do throws(SecretMemoryError) {
      try call.write(into: &outgoing)
    } catch {
      outgoing.empty(keeping: Limits.replyBufferBytes)
      throw .noMemory(error)
    }
    let delivered = try send(by: deadline)
    try receiveFrame(delivered: delivered, by: deadline)
    defer { incoming.empty(keeping: Limits.replyBufferBytes) }
    let result = incoming.withMutableBytes { frame in
      Result { () throws(ReplyFailure) in try reader.read(&frame, to: call) }
    }
    switch result {
    case .success((let reply, continues: false)): return reply
    case .success((_, continues: true)): throw .lost(.broken, delivered: delivered)
    case .failure(.vault(let error)): throw .answered(ClientError(error))
    case .failure(.service(let error)): throw .answered(ClientError(error))
    case .failure(.malformed): throw .lost(.broken, delivered: delivered)
    }
  }

  /// Sends what is in `outgoing`, and wipes it.
  /// - Returns: whether all of it went. A daemon that refuses a call may close before it has read it all; then
  ///   its answer is still to be read.
  private mutating func send(by deadline: Deadline) throws(Failure) -> Bool {
    defer { outgoing.empty(keeping: Limits.replyBufferBytes) }
    while !outgoing.isEmpty {
      let flags = Int32(MSG_NOSIGNAL.rawValue | MSG_DONTWAIT.rawValue)
      let count = outgoing.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { unsafe Glibc.send(descriptor, $0.baseAddress, $0.count, flags) }
      }
      if count >= 0 {
        outgoing.removeFirst(count)
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN:
        guard wait(for: Int16(POLLOUT), by: deadline) else { throw .lost(.noAnswer, delivered: false) }
      case EPIPE, ECONNRESET: return false
      default: throw .lost(.system(errno), delivered: false)
      }
    }
    return true
  }

  /// Fills `incoming` with one frame, without the NUL behind it.
  private mutating func receiveFrame(delivered: Bool, by deadline: Deadline) throws(Failure) {
    while true {
      guard wait(for: Int16(POLLIN), by: deadline) else { throw .lost(.noAnswer, delivered: delivered) }
      let before = incoming.count
      var code: Int32 = 0
      var ended = false
      do throws(SecretMemoryError) {
        _ = try incoming.fill(atLeast: 1) { free in
          let count = unsafe free.withUnsafeMutableBytes {
            unsafe recv(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT.rawValue))
          }
          if count < 0 { code = errno }
          ended = count == 0
          return max(0, count)
        }
      } catch {
        throw .noMemory(error)
      }
      switch code {
      case 0: break
      case EINTR, EAGAIN: continue
      case ECONNRESET: ended = true
      default: throw .lost(.system(code), delivered: delivered)
      }
      if ended { throw .lost(before == 0 ? .ended : .broken, delivered: delivered) }
      if let end = incoming.withBytes({ bytes in bytes.firstNUL(from: before) }) {
        // One call is on its way, so the frame ends where the bytes do.
        guard end == incoming.count - 1 else { throw .lost(.broken, delivered: delivered) }
        incoming.removeLast(1)
        return
      }
    }
  }

  /// Waits for the socket to be ready.
  /// - Returns: false when the time is over.
  private func wait(for events: Int16, by deadline: Deadline) -> Bool {
    var request = pollfd(fd: descriptor, events: events, revents: 0)
    while true {
      let count = unsafe poll(&request, 1, Int32(clamping: deadline.left))
      if count > 0 { return true }
      if count == 0, deadline.left == 0 { return false }
      if count < 0, errno != EINTR { return true }  // The call that follows tells what is wrong.
    }
  }
}

extension Span<UInt8> {
  /// The place of the first NUL from `start` on.
  fileprivate func firstNUL(from start: Int) -> Int? {
    unsafe extracting(start..<count).withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress, let found = unsafe memchr(base, 0, bytes.count) else { return nil }
      return start + unsafe (UnsafeRawPointer(found) - base)
    }
  }
}
