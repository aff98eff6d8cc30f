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
  private let descriptor: Descriptor
  private var outgoing: SecretBuffer
  private var incoming: SecretBuffer
  private var reader = ReplyReader()

  /// Connects and checks by the kernel (SO_PEERCRED) that the daemon is this user's, before a byte is written.
  static func open(_ path: String, of user: UInt32, by deadline: Deadline) throws(ClientError) -> Connection {
    let opened = clinux_stream_socket(false)
    guard opened >= 0 else { throw .noDaemon(.unreachable(socket: path, code: -opened)) }
    let descriptor = Descriptor(number: opened)
    // The limit holds for the connect alone: what follows waits by `poll`.
    var code = clinux_limit_sending(descriptor.number, deadline.left)
    if code == 0 { code = unsafe clinux_socket_connect(descriptor.number, path) }
    guard code == 0 else { throw noConnection(path, code: -code) }
    var peer = clinux_credentials()
    code = unsafe clinux_socket_peer(descriptor.number, &peer)
    guard code == 0 else { throw .noDaemon(.unreachable(socket: path, code: -code)) }
    guard peer.uid == user else { throw .noDaemon(.foreign(socket: path, user: peer.uid)) }
    do throws(SecretMemoryError) {
      let outgoing = try SecretBuffer(capacity: Limits.replyBufferBytes, limit: Limits.frameBytes)
      let incoming = try SecretBuffer(capacity: Limits.replyBufferBytes, limit: Limits.replyBytes)
      return Connection(descriptor: descriptor, outgoing: outgoing, incoming: incoming)
    } catch {
      throw ClientError(error)
    }
  }

  private static func noConnection(_ path: String, code: Int32) -> ClientError {
    switch code {
    case ENOENT, ECONNREFUSED: .noDaemon(.nobodyListens(socket: path))
    case EAGAIN: .noDaemon(.noAnswer(socket: path, mayTakeEffect: false))
    default: .noDaemon(.unreachable(socket: path, code: code))
    }
  }

  /// Whether the daemon is still there and silent, as it must be between two calls.
  var isQuiet: Bool {
    var request = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&request, 1, 0) == 0
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
  /// - Parameters:
  ///   - call: what to send.
  ///   - deadline: the end of it all.
  ///   - silence: how long the daemon may be silent before `isAlive` is asked, and again after that.
  ///   - isAlive: tells whether the daemon works at all; where it doesn't, the deadline is not waited for.
  /// - Returns: the reply.
  /// - Throws: why there is none, and whether the connection is of any more use.
  mutating func exchange(
    _ call: Call, by deadline: Deadline, silence: Duration, isAlive: () -> Bool
  ) throws(Failure) -> Reply {
    do throws(SecretMemoryError) {
      try call.write(into: &outgoing)
    } catch {
      outgoing.empty(keeping: Limits.replyBufferBytes)
      throw .noMemory(error)
    }
    let delivered = try send(by: deadline)
    while !wait(for: Int16(POLLIN), by: min(Deadline(after: silence), deadline)) {
      guard !deadline.isOver, isAlive() else { throw .lost(.noAnswer, delivered: delivered) }
    }
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
      let count = outgoing.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { unsafe clinux_send(descriptor.number, $0.baseAddress, $0.count) }
      }
      switch Int32(clamping: count) {
      case 0...: outgoing.removeFirst(count)
      case -EAGAIN:
        guard wait(for: Int16(POLLOUT), by: deadline) else { throw .lost(.noAnswer, delivered: false) }
      case -EPIPE, -ECONNRESET: return false
      case let code: throw .lost(.system(-code), delivered: false)
      }
    }
    return true
  }

  /// Fills `incoming` with one frame, without the NUL behind it. The beginning of it is there.
  private mutating func receiveFrame(delivered: Bool, by deadline: Deadline) throws(Failure) {
    repeat {
      let before = incoming.count
      var count = 0
      do throws(SecretMemoryError) {
        _ = try incoming.fill(atLeast: 1) { free in
          count = unsafe free.withUnsafeMutableBytes {
            unsafe clinux_receive(descriptor.number, $0.baseAddress, $0.count)
          }
          return max(0, count)
        }
      } catch {
        throw .noMemory(error)
      }
      switch Int32(clamping: count) {
      case 1...: break
      case 0, -ECONNRESET: throw .lost(before == 0 ? .ended : .broken, delivered: delivered)
      case let code: throw .lost(.system(-code), delivered: delivered)
      }
      if let end = incoming.firstIndex(of: 0, from: before) {
        // One call is on its way, so the frame ends where the bytes do.
        guard end == incoming.count - 1 else { throw .lost(.broken, delivered: delivered) }
        incoming.removeLast(1)
        return
      }
    } while wait(for: Int16(POLLIN), by: deadline)
    throw .lost(.noAnswer, delivered: delivered)
  }

  /// Waits for the socket to be ready.
  /// - Returns: false when the time is over.
  private func wait(for events: Int16, by deadline: Deadline) -> Bool {
    var request = pollfd(fd: descriptor.number, events: events, revents: 0)
    while true {
      let count = unsafe poll(&request, 1, Int32(clamping: deadline.left))
      if count > 0 { return true }
      if count == 0, deadline.left == 0 { return false }
      if count < 0, errno != EINTR { return true }  // The call that follows tells what is wrong.
    }
  }
}

/// Owns a descriptor.
private struct Descriptor: ~Copyable {
  let number: Int32

  deinit { close(number) }
}

// One owner at a time: the reader's memory is reached through the connection alone, which cannot be copied.
extension Connection: @unchecked Sendable {}
