// One connection to the daemon: connect, check who listens, write a call, read replies. Nothing here waits: each
// step does what can be done now and says what it waits for. Calls and replies pass through locked memory and are
// wiped when they were read. Knows frames (a NUL behind each) and nothing of what is in them.

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
  /// How much of `incoming` holds no end of a frame.
  private var searched = 0

  /// Whether the daemon has the whole call that was written last.
  private(set) var hasDelivered = false

  /// Connects and checks by the kernel (SO_PEERCRED) that the daemon is this user's, before a byte is written.
  /// - Returns: `nil` where the listener's queue is full: try again soon.
  static func open(_ path: String, of user: UInt32) throws(VaultError) -> Connection? {
    let opened = clinux_stream_socket(true)
    guard opened >= 0 else { throw .noDaemon(.unreachable(socket: path, code: -opened)) }
    let descriptor = Descriptor(number: opened)
    var code = unsafe clinux_socket_connect(descriptor.number, path)
    switch code {
    case 0: break
    case -EAGAIN: return nil
    case -ENOENT, -ECONNREFUSED: throw .noDaemon(.nobodyListens(socket: path))
    default: throw .noDaemon(.unreachable(socket: path, code: -code))
    }
    var peer = clinux_credentials()
    code = unsafe clinux_socket_peer(descriptor.number, &peer)
    guard code == 0 else { throw .noDaemon(.unreachable(socket: path, code: -code)) }
    guard peer.uid == user else { throw .noDaemon(.foreign(socket: path, user: peer.uid)) }
    do throws(SecretMemoryError) {
      let outgoing = try SecretBuffer(capacity: Limits.replyBufferBytes, limit: Limits.frameBytes)
      let incoming = try SecretBuffer(capacity: Limits.replyBufferBytes, limit: Limits.replyBytes)
      return Connection(descriptor: descriptor, outgoing: outgoing, incoming: incoming)
    } catch {
      throw VaultError(error)
    }
  }

  /// What to poll for: the socket, to write while something is unsent, else to read.
  var wanted: pollfd {
    pollfd(
      fd: descriptor.number, events: Int16(outgoing.isEmpty ? POLLIN : POLLOUT), revents: 0)
  }

  /// Whether the daemon is still there and silent, as it must be between two calls.
  var isQuiet: Bool {
    var request = wanted
    return unsafe poll(&request, 1, 0) == 0
  }

  /// Why there is no reply.
  enum Failure: Error {
    /// An answer, and the connection is as good as before.
    case answered(VaultError)
    /// The connection is of no more use.
    case lost(Loss)
    /// There was no memory.
    case noMemory(SecretMemoryError)
  }

  /// How a connection is lost.
  enum Loss {
    /// The daemon closed it; what came is no answer; none came in time.
    case ended, broken, silent
    /// An error number.
    case system(Int32)
  }

  /// What became of a step.
  enum Progress {
    /// Nothing more can be done until the socket is as `wanted`.
    case waits
    case reply(Reply, continues: Bool)
  }

  /// Writes a call, to be sent by `advance`.
  mutating func prepare(_ call: Call, oneway: Bool = false, more: Bool = false) throws(Failure) {
    hasDelivered = false
    do throws(SecretMemoryError) {
      try call.write(oneway: oneway, more: more, into: &outgoing)
    } catch {
      outgoing.empty(keeping: Limits.replyBufferBytes)
      throw .noMemory(error)
    }
  }

  /// Sends what is unsent.
  /// - Returns: false where the socket takes no more now.
  mutating func send() throws(Failure) -> Bool {
    while !outgoing.isEmpty {
      let count = outgoing.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { unsafe clinux_send(descriptor.number, $0.baseAddress, $0.count) }
      }
      switch Int32(clamping: count) {
      case 0...: outgoing.removeFirst(count)
      case -EAGAIN: return false
      case -EPIPE, -ECONNRESET:
        // A daemon that refuses a call may close before it has read it all; its answer is still to be read.
        outgoing.empty(keeping: Limits.replyBufferBytes)
        return true
      case let code: throw .lost(.system(-code))
      }
      hasDelivered = outgoing.isEmpty
    }
    outgoing.empty(keeping: Limits.replyBufferBytes)
    return true
  }

  /// Sends what is unsent, then reads the next reply to `call`.
  mutating func advance(_ call: Call) throws(Failure) -> Progress {
    guard try send() else { return .waits }
    while true {
      if let end = incoming.firstIndex(of: 0, from: searched) { return try readFrame(end, call) }
      searched = incoming.count
      guard try receive() else { return .waits }
    }
  }

  /// Takes what has come.
  /// - Returns: false where nothing has.
  private mutating func receive() throws(Failure) -> Bool {
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
    case 1...: return true
    case -EAGAIN: return false
    case 0, -ECONNRESET: throw .lost(incoming.isEmpty ? .ended : .broken)
    case let code: throw .lost(.system(-code))
    }
  }

  /// Reads the frame in front of the NUL at `end`.
  private mutating func readFrame(_ end: Int, _ call: Call) throws(Failure) -> Progress {
    defer { searched = 0 }
    let result = incoming.withMutableBytes(in: 0..<end) { frame in
      Result { () throws(ReplyFailure) in try reader.read(&frame, to: call) }
    }
    incoming.removeFirst(end + 1)
    let isLast = incoming.isEmpty
    if isLast { incoming.empty(keeping: Limits.replyBufferBytes) }
    switch result {
    case .success((let reply, continues: let continues)):
      // Behind the last reply nothing may come: one call is on its way.
      guard continues || isLast else { throw .lost(.broken) }
      return .reply(reply, continues: continues)
    case .failure(.vault(let error)):
      guard isLast else { throw .lost(.broken) }
      throw .answered(error)
    case .failure(.service(let error)):
      guard isLast else { throw .lost(.broken) }
      throw .answered(VaultError(error))
    case .failure(.malformed): throw .lost(.broken)
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
