// All connections, and what they share: the receive and the send buffer, the reader, the limits that count over
// all of them. Between the listener, which brings sockets, and each connection. Judges who may connect; knows
// nothing of requests.

import CLinux
import SecretMemory
import VaultCore
import VaultModel
import VaultWire

/// Serves connections.
@VaultActor
final class Server {
  let loop: EventLoop
  let journal: Journal
  let dispatch: Dispatch
  /// Is told of requests that use the vault.
  let idle: IdleWatch

  /// What all connections read into; a connection takes it for the length of one read.
  let received = BufferPlace()
  /// Reads the requests of all connections.
  var reader = RequestReader()

  /// Called once, when the next request is begun.
  var onNextRequest: (@VaultActor () -> Void)?

  /// How many requests were begun.
  private(set) var requests: UInt64 = 0

  /// Called when the first connection comes and when the last one goes.
  var onChange: (@VaultActor () -> Void)?

  // What answers are written into: each is lent to one connection at a time, so that no answer can go to another one.
  // The first `sparesLeft` places have one.
  private let spares = (0..<Limits.answersAtOnce).map { _ in BufferPlace() }
  private var sparesLeft = 0
  private let clock: any Clock
  private let alarms: Alarms
  private var connections: [ObjectIdentifier: Connection] = [:]
  private var callers: UInt64 = 0
  private var largePlaces = 0
  private var waitingForLargePlace: [Connection] = []
  private var sweepTime: BootTime?
  private var onEnd: (@VaultActor () -> Void)?
  private var wasFull = false
  private var saidSwap = false

  /// Serves nobody yet. `clock` and `alarms` tell the time by which connections are judged.
  init(
    loop: EventLoop, clock: any Clock, alarms: Alarms, dispatch: Dispatch, journal: Journal, idle: IdleWatch
  ) throws(SecretMemoryError) {
    self.loop = loop
    self.clock = clock
    self.alarms = alarms
    self.dispatch = dispatch
    self.journal = journal
    self.idle = idle
    received.put(try SecretBuffer(capacity: Limits.smallFrameBytes, limit: Limits.smallFrameBytes))
  }

  /// How many connections there are, those included that are closed and whose request still runs.
  var count: Int { connections.count }

  /// Bytes of memory that connections have for themselves.
  private(set) var buffered = 0

  /// How many connections have memory for themselves.
  var holding: Int { connections.values.count { $0.buffered > 0 } }

  /// How many frames over `Limits.smallFrameBytes` may come in now.
  var freeLargePlaces: Int { Limits.largeFrames - largePlaces }

  // MARK: Connections

  /// Takes a socket that was accepted, if its peer may ask.
  func take(_ socket: consuming Descriptor) {
    do throws(SystemError) {
      // By the kernel, and before a byte is read.
      let peer = try Peer(of: socket.number)
      guard peer.isOurUser else {
        journal.note(.warning, "a connection of uid \(peer.user) was refused (pid \(peer.pid))")
        return
      }
      guard connections.count < Limits.connections else {
        refuse(socket)
        return
      }
      let connection = try Connection(socket, peer: peer, server: self)
      connections[ObjectIdentifier(connection)] = connection
      journal.note(.debug, "process \(peer.pid) connected")
      if connections.count == 1 { onChange?() }
    } catch {
      journal.note(.warning, "a connection was dropped: \(error)")
    }
  }

  /// A name for a new connection.
  func nextCaller() -> CallerID {
    callers += 1
    return CallerID(callers)
  }

  /// Nobody asks at present: gives back memory that only makes it faster.
  func rest() {
    for spare in spares { spare.clear() }
    sparesLeft = 0
    reader.rest()
  }

  /// Counts a request.
  func noteRequest() {
    requests &+= 1
    guard let action = onNextRequest else { return }
    onNextRequest = nil
    action()
  }

  /// Forgets a connection that is closed.
  func remove(_ connection: Connection) {
    connections[ObjectIdentifier(connection)] = nil
    // Said again only after it was not so for a while.
    if connections.count < Limits.connections / 2 { wasFull = false }
    if connections.isEmpty {
      onChange?()
      finishEnd()
    }
  }

  private func refuse(_ socket: borrowing Descriptor) {
    if !wasFull { journal.note(.warning, "connections are refused: \(connections.count) are open") }
    wasFull = true
    let error = VaultError.unavailable(
      store: .vault, reason: "too many connections (\(Limits.connections)); close some and try again")
    // A new socket has room for it; where it hasn't, the end of the connection has to do.
    guard var buffer = lendBuffer() else { return }
    try? error.writeReply(into: &buffer)
    buffer.withBytes { bytes in
      _ = unsafe bytes.withUnsafeBytes { unsafe clinux_send(socket.number, $0.baseAddress, $0.count) }
    }
    takeBack(buffer)
  }

  // MARK: The end

  /// Takes no further request, and calls `then` once every request that runs is answered and its answer taken.
  func end(then: @escaping @VaultActor () -> Void) {
    onEnd = then
    for connection in Array(connections.values) { connection.end() }
    finishEnd()
  }

  /// Closes all connections now.
  func closeAll() {
    for connection in Array(connections.values) { connection.close() }
  }

  private func finishEnd() {
    guard connections.isEmpty, let then = onEnd else { return }
    onEnd = {}
    then()
  }

  // MARK: Time

  /// The point in time so many seconds from now, with a sweep ordered for it.
  func deadline(in seconds: Int) -> BootTime {
    let time = clock.boot.advanced(by: Int64(seconds) * 1_000)
    orderSweep(time)
    return time
  }

  private func orderSweep(_ time: BootTime) {
    if let sweepTime, sweepTime <= time { return }
    sweepTime = time
    alarms.set(time) { [weak self] in self?.sweep(time) }
  }

  /// Looks for connections that have been stuck too long. All deadlines are as long as each other, so there is a
  /// sweep every few seconds at most, and none while nobody is stuck.
  private func sweep(_ time: BootTime) {
    guard sweepTime == time else { return }
    sweepTime = nil
    let now = clock.boot
    for connection in Array(connections.values) { connection.checkDeadline(now) }
    if let next = connections.values.compactMap(\.deadline).min() { orderSweep(next) }
  }

  // MARK: Memory

  /// An empty buffer to write answers into; `nil` where there is no memory.
  func lendBuffer() -> SecretBuffer? {
    if sparesLeft > 0 {
      sparesLeft -= 1
      if let buffer = spares[sparesLeft].take() { return buffer }
    }
    return try? SecretBuffer(capacity: Limits.answerBytes, limit: Self.answerLimit)
  }

  /// What a buffer of answers grows to at most: more than the largest one behind those that wait.
  static let answerLimit = Limits.replyBytes + 2 * Limits.unsentBytes

  /// Wipes a buffer that was lent, and keeps it for the next one unless it is a small one.
  func takeBack(_ buffer: consuming SecretBuffer) {
    if buffer.capacity < Limits.answerBytes || sparesLeft == spares.count { return }
    buffer.empty(keeping: Limits.answerBytes)
    spares[sparesLeft].put(buffer)
    sparesLeft += 1
  }

  /// The memory that connections have for themselves changed. Over the limit, those go that have been stuck longest;
  /// the newest one is not counted, so that an answer may be as large as any, and closing one that holds little
  /// would give little back.
  func bufferedChanged(by bytes: Int) {
    buffered += bytes
    while buffered > Limits.bufferedBytes {
      let holders = connections.values.filter { $0.buffered > 0 }
      guard let newest = holders.max(by: Self.isStuckLonger),
        buffered - newest.buffered > Limits.bufferedBytes
      else { return }
      let others = holders.filter { $0 !== newest }
      let large = others.filter { $0.buffered > Limits.smallFrameBytes }
      guard let victim = (large.isEmpty ? others : large).min(by: Self.isStuckLonger) else { return }
      victim.evict()
    }
  }

  private static func isStuckLonger(_ left: Connection, _ right: Connection) -> Bool {
    let never = BootTime(milliseconds: .max)
    return (left.deadline ?? never) < (right.deadline ?? never)
  }

  /// Says once where the kernel refuses to keep secrets out of swap.
  func checkMemoryLock() {
    if saidSwap || SecretMemory.isLocked { return }
    saidSwap = true
    journal.note(
      .warning, "secrets may be written to swap: the limit of locked memory (ulimit -l) is too small")
  }

  /// Takes a place for a frame over `Limits.smallFrameBytes`, or lets the connection wait for one.
  /// - Returns: whether it has one now.
  func takeLargePlace(_ connection: Connection) -> Bool {
    if freeLargePlaces > 0 {
      largePlaces += 1
      return true
    }
    waitingForLargePlace.append(connection)
    return false
  }

  /// Gives a place back, or stops waiting for one.
  func leaveLargePlace(_ connection: Connection) {
    checkMemoryLock()
    if let index = waitingForLargePlace.firstIndex(where: { $0 === connection }) {
      waitingForLargePlace.remove(at: index)
      return
    }
    largePlaces -= 1
    guard !waitingForLargePlace.isEmpty else { return }
    largePlaces += 1
    waitingForLargePlace.removeFirst().grantLargePlace()
  }
}
