// The answers that one client has not taken. They are written into a buffer that is lent by the server, sent when
// the connection has come to the end of what it can do, and only what the socket has no room for stays. Knows bytes
// and time, and nothing of calls.

import CLinux
import Glibc
import SecretMemory
import VaultCore
import VaultModel
import VaultWire

/// What waits to be sent on one socket.
@VaultActor
final class Outbox {
  /// How sending went.
  enum Progress {
    /// Nothing is left.
    case empty
    /// The socket is full.
    case full
    /// Nobody is at the other end any more; nothing is left.
    case nobody
  }

  private let server: Server
  private let place = BufferPlace()
  // How many bytes must be gone at the deadline.
  private var owed = 0

  /// Whether the socket was full, and nothing said since that it isn't.
  private(set) var isBlocked = false

  /// When what is owed must have been taken; `nil` while the client owes nothing.
  private(set) var deadline: BootTime?

  /// An empty one.
  init(server: Server) {
    self.server = server
  }

  /// Whether nothing waits.
  var isEmpty: Bool { place.isEmpty }

  /// Bytes that wait.
  var count: Int { place.count }

  /// Bytes of memory that it holds.
  var capacity: Int { place.capacity }

  /// Adds the frame that `body` writes, or where it doesn't fit that of an error that says so.
  /// - Returns: false where there was no memory for either, and nothing was added.
  func add(_ body: (inout SecretBuffer) throws(SecretMemoryError) -> Void) -> Bool {
    guard var buffer = place.take() ?? server.lendBuffer() else { return false }
    let before = buffer.count
    var isAdded = true
    do throws(SecretMemoryError) {
      try body(&buffer)
    } catch {
      buffer.removeLast(buffer.count - before)
      isAdded = (try? VaultError(error).writeReply(into: &buffer)) != nil
    }
    place.put(buffer)
    return isAdded
  }

  /// The socket has room again.
  func unblock() {
    isBlocked = false
  }

  /// Sends as much as the socket takes.
  func send(on socket: Int32) -> Progress {
    if isBlocked { return .full }
    guard var buffer = place.take() else { return .empty }
    while !buffer.isEmpty {
      let sent = Self.send(buffer, on: socket)
      if sent == -Int(EAGAIN) {
        isBlocked = true
        // An answer has to be taken in time, and not each of its bytes.
        if owed <= 0 || deadline == nil {
          owed = buffer.count
          deadline = server.deadline(in: Limits.receiveSeconds)
        }
        place.put(rest(of: buffer))
        return .full
      }
      if sent < 0 {
        server.takeBack(buffer)
        clear()
        return .nobody
      }
      buffer.removeFirst(sent)
      owed -= sent
    }
    deadline = nil
    server.takeBack(buffer)
    return .empty
  }

  // Not of the actor: see `Connection.receive`.
  private nonisolated static func send(_ buffer: borrowing SecretBuffer, on socket: Int32) -> Int {
    buffer.withBytes { bytes in
      unsafe bytes.withUnsafeBytes { unsafe clinux_send(socket, $0.baseAddress, $0.count) }
    }
  }

  /// What waits, in no more memory than it needs: a client that is stuck may be so for long.
  private func rest(of buffer: consuming SecretBuffer) -> SecretBuffer {
    guard 2 * buffer.count < buffer.capacity,
      var copy = try? SecretBuffer(capacity: buffer.count, limit: Server.answerLimit),
      (try? buffer.withBytes({ bytes throws(SecretMemoryError) in try copy.append(bytes) })) != nil
    else { return buffer }
    server.takeBack(buffer)
    return copy
  }

  /// Drops everything that waits.
  func clear() {
    place.clear()
    isBlocked = false
    deadline = nil
  }
}
