// Where connections come in: the socket that this daemon made, or the one that the service manager handed over.
// Accepts and passes on; judges nobody.

import CLinux
import Glibc
import VaultCore
import VaultModel

/// The socket that clients connect to.
@VaultActor
final class Listener: Watcher {
  /// The path that clients connect to; empty for an abstract name.
  let path: String

  /// Whether the service manager owns the socket.
  let isHandedOver: Bool

  /// Whether the socket's folder was too loose and was tightened.
  let folderWasLoose: Bool

  private let number: Int32
  // One of the two: what this daemon made, or what it was given, with the lock beside it.
  private let made: SocketFile?
  private let given: Descriptor?
  private let lock: Descriptor?
  private var loop: EventLoop?
  private var clock: (any Clock)?
  private var watch: EventLoop.Watch?
  private var accept: (@VaultActor (consuming Descriptor) -> Void)?

  // Given up when there are no descriptors left, to take a connection and close it: a client that is turned away
  // is better than a loop that is told for ever that somebody waits.
  private var reserve: Descriptor?

  /// Connections taken in one turn of the loop, before those that are there get theirs.
  private static let batch = 64

  /// Makes the socket at `path`.
  init(path: String) throws(StartFailure) {
    let file = try SocketFile.make(path: path)
    number = file.socket.number
    folderWasLoose = file.folderWasLoose
    made = consume file
    given = nil
    lock = nil
    self.path = path
    isHandedOver = false
  }

  /// Takes over the one socket that the service manager handed over.
  init(handedOver sockets: Range<Int32>) throws(StartFailure) {
    guard let first = sockets.first, sockets.count == 1 else {
      throw .setting("the service manager handed over \(sockets.count) sockets; vaultd serves one")
    }
    guard clinux_socket_listens(first) else {
      throw .setting("what the service manager handed over is no Unix stream socket that listens")
    }
    let adopted = Descriptor(owning: first)
    number = first
    _ = clinux_socket_adopt(first)
    var bytes = [CChar](repeating: 0, count: Int(CLINUX_SOCKET_PATH_MAX) + 1)
    _ = unsafe bytes.withUnsafeMutableBufferPointer { unsafe clinux_socket_path(first, $0.baseAddress) }
    let path = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    self.path = path
    isHandedOver = true
    folderWasLoose = false
    if path.isEmpty { lock = nil } else { lock = try SocketFile.takeLock(besideSocketAt: path) }
    made = nil
    given = consume adopted
  }

  /// Passes every connection to `accept` from now on.
  func start(
    loop: EventLoop, clock: any Clock, accept: @escaping @VaultActor (consuming Descriptor) -> Void
  ) throws(SystemError) {
    self.loop = loop
    self.clock = clock
    self.accept = accept
    reserve = Self.openReserve()
    watch = try loop.watch(number, for: .readable, self)
  }

  /// Accepts no more, and removes the socket if this daemon made it. Socket and lock stay until the process ends: a
  /// new daemon must not begin while this one still has its data.
  func close() {
    if let watch { loop?.forget(watch) }
    watch = nil
    accept = nil
    reserve = nil
    made?.remove()
  }

  func ready(_ readiness: Readiness) {
    for _ in 0..<Self.batch {
      let accepted = clinux_socket_accept(number)
      if accepted >= 0 {
        accept?(Descriptor(owning: accepted))
        continue
      }
      switch -accepted {
      case EMFILE, ENFILE:
        if !turnOneAway() { return rest() }
      case ENOBUFS, ENOMEM:
        return rest()
      case ECONNABORTED:
        continue
      default:
        return
      }
    }
  }

  /// Closes the next connection for want of descriptors.
  private func turnOneAway() -> Bool {
    guard let given = reserve.take() else { return false }
    _ = consume given
    let accepted = clinux_socket_accept(number)
    if accepted >= 0 { _ = Descriptor(owning: accepted) }
    reserve = Self.openReserve()
    return reserve != nil
  }

  /// Looks away for a moment: the system has nothing left for a connection, and would say so again at once.
  private func rest() {
    guard let loop, let clock, let watch else { return }
    loop.change(watch, to: .once)
    loop.alarms.set(clock.boot.advanced(by: Limits.acceptRestMilliseconds)) { [weak self] in
      guard let self, let watch = self.watch else { return }
      if self.reserve == nil { self.reserve = Self.openReserve() }
      loop.change(watch, to: .readable)
    }
  }

  private static func openReserve() -> Descriptor? {
    let number = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    return number >= 0 ? Descriptor(owning: number) : nil
  }
}
