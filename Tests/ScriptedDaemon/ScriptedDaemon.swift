// A daemon that does what a test says, on a real socket: answers, says nothing, hangs up, talks rubbish. For
// tests of the client and of the command; it keeps no tokens of its own.

import CLinux
import Foundation
import SecretMemory
import Synchronization
import VaultModel
import VaultWire

/// Serves one socket until it is stopped.
public final class ScriptedDaemon: Sendable {
  /// What becomes of a call.
  public enum Answer: Sendable {
    case reply(Reply)
    /// Several replies to one call; all say that more of them follow.
    case replies([Reply])
    /// The same, and then the connection is closed.
    case repliesAndEnd([Reply])
    case error(VaultError)
    case service(ServiceError)
    /// These bytes as they are.
    case bytes([UInt8])
    /// The connection stays open and nothing comes.
    case nothing
    /// The connection is closed, after these bytes.
    case hangUp(after: [UInt8] = [])
  }

  /// Where it listens.
  public let path: String

  private struct State {
    var calls: [Call] = []
    var connections: [Int32] = []
    var accepted = 0
    var bytes = 0
    var isStopped = false
  }

  private let state = Mutex(State())
  private let listener: Int32
  private let answer: @Sendable (Call) -> Answer

  /// Listens on `path`, in place of what was there.
  public init(_ path: String, backlog: Int32 = 16, answer: @escaping @Sendable (Call) -> Answer) throws {
    self.path = path
    self.answer = answer
    unsafe unlink(path)
    listener = clinux_stream_socket(false)
    guard listener >= 0, unsafe clinux_socket_bind(listener, path) == 0,
      clinux_socket_listen(listener, backlog) == 0
    else { throw CocoaError(.fileWriteUnknown) }
    let thread = Thread { [self] in acceptConnections() }
    thread.start()
  }

  /// The calls that came, in their order.
  public var calls: [Call] { state.withLock { $0.calls } }

  /// How many connections were made.
  public var accepted: Int { state.withLock { $0.accepted } }

  /// How many bytes came.
  public var bytes: Int { state.withLock { $0.bytes } }

  /// Closes the socket and every connection, as a daemon does that ends.
  public func stop() {
    let connections = state.withLock { state in
      state.isStopped = true
      defer { state.connections = [] }
      return state.connections
    }
    for connection in connections { shutdown(connection, Int32(SHUT_RDWR)) }
    shutdown(listener, Int32(SHUT_RDWR))
    unsafe unlink(path)
  }

  private func acceptConnections() {
    while true {
      let connection = clinux_socket_accept(listener)
      if connection == -EAGAIN { continue }
      guard connection >= 0 else { break }
      let stopped = state.withLock { state in
        state.accepted += 1
        state.connections.append(connection)
        return state.isStopped
      }
      guard !stopped else {
        close(connection)
        break
      }
      let thread = Thread { [self] in
        serve(connection)
        state.withLock { $0.connections.removeAll { $0 == connection } }
        close(connection)
      }
      thread.start()
    }
    close(listener)
  }

  private func serve(_ connection: Int32) {
    guard var incoming = try? SecretBuffer(capacity: 4_096, limit: Limits.frameBytes) else { return }
    var reader = RequestReader()
    while true {
      guard wait(connection, POLLIN) else { return }
      let added = try? incoming.fill(atLeast: 1) { free in
        max(
          0,
          unsafe free.withUnsafeMutableBytes { unsafe clinux_receive(connection, $0.baseAddress, $0.count) })
      }
      guard let added, added > 0 else { return }
      state.withLock { $0.bytes += added }
      guard let end = incoming.firstIndex(of: 0) else { continue }
      let request = incoming.withMutableBytes(in: 0..<end) { frame in try? reader.read(&frame) }
      incoming.removeFirst(end + 1)
      guard let request else { return }
      state.withLock { $0.calls.append(request.call) }
      guard act(answer(request.call), connection) else { return }
    }
  }

  private func act(_ answer: Answer, _ connection: Int32) -> Bool {
    guard var outgoing = try? SecretBuffer(capacity: 4_096, limit: Limits.replyBytes) else { return false }
    switch answer {
    case .reply(let reply): try? reply.write(into: &outgoing)
    case .replies(let replies), .repliesAndEnd(let replies):
      for reply in replies { try? reply.write(continues: true, into: &outgoing) }
    case .error(let error): try? error.writeReply(into: &outgoing)
    case .service(let error): try? error.writeReply(into: &outgoing)
    case .bytes(let bytes), .hangUp(let bytes): try? outgoing.append(bytes.span)
    case .nothing: return true
    }
    while !outgoing.isEmpty {
      let count = outgoing.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { unsafe clinux_send(connection, $0.baseAddress, $0.count) }
      }
      if count == -Int(EAGAIN) {
        guard wait(connection, POLLOUT) else { return false }
      } else if count < 0 {
        return false
      } else {
        outgoing.removeFirst(count)
      }
    }
    switch answer {
    case .hangUp, .repliesAndEnd: return false
    case .reply, .replies, .error, .service, .bytes, .nothing: return true
    }
  }

  private func wait(_ connection: Int32, _ events: Int32) -> Bool {
    var request = pollfd(fd: connection, events: Int16(events), revents: 0)
    return unsafe poll(&request, 1, -1) > 0
  }
}
