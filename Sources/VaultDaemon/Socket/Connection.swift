// One client's connection: bytes come in, frames are decoded in their order, each is answered before the next is
// looked at. Between the loop, which says that the socket is ready, and `Dispatch`, which carries calls out. What
// a request means is none of its business; that no client can hurt another one is.
//
// Received bytes go through the one buffer that all connections share, and answers leave through one that is lent;
// a connection has memory of its own only for what is incomplete or not taken. While a request waits for a store
// nothing further of this connection is decoded, and all others go on.

import CLinux
import Glibc
import SecretMemory
import VaultCore
import VaultModel
import VaultWire

/// A client that is connected.
@VaultActor
final class Connection: Watcher {
  /// Where the connection stands with one of the places for large frames.
  private enum LargePlace {
    case none, waits, taken
  }

  private enum Arrival {
    case bytes, end, nothing
  }

  private let number: Int32
  private let server: Server
  private let log: RequestLog

  // The socket, until the connection is closed. That it is, and below that it watches, is asked several times a request:
  // of a plain value that costs nothing.
  private var socket: Descriptor?
  private var isClosed = false
  private var watch: EventLoop.Watch?
  private var interest: Readiness = [.readable, .once]
  // Whether there may be more to read though nothing further is reported.
  private var mayHaveMore = false

  // What came in and was not decoded, and how far it was searched for the end of a frame.
  private let held = BufferPlace()
  private var searched = 0
  private var frameDeadline: BootTime?
  private var largePlace = LargePlace.none

  private let outbox: Outbox

  // Whose leases are this connection's, and whether it may have one or wait for one.
  private let caller: CallerID
  private var hasRefreshed = false
  private var waitsForRenewal = false

  // What it is told of, and whether nothing but that is left in the outbox.
  private var watching: Watching? { didSet { isWatching = watching != nil } }
  private var isWatching = false
  private var isStreaming = false

  private var isDecoding = false
  private var isAnswering = false
  private var hasEnded = false
  private var isPeerGone = false
  private var isClosing = false

  /// Bytes of memory that it has for itself.
  private(set) var buffered = 0

  /// A connection over `socket`, whose peer was checked.
  init(_ socket: consuming Descriptor, peer: Peer, server: Server) throws(SystemError) {
    number = socket.number
    self.server = server
    caller = server.nextCaller()
    log = RequestLog(journal: server.journal, peer: peer)
    outbox = Outbox(server: server)
    self.socket = consume socket
    watch = try server.loop.watch(number, for: interest, self)
  }

  /// When it will have been stuck for too long; `nil` while it isn't stuck.
  var deadline: BootTime? {
    guard let frameDeadline, let answerDeadline else { return frameDeadline ?? answerDeadline }
    return min(frameDeadline, answerDeadline)
  }

  /// A watcher may take its time with events: those that wait are bounded, and beyond them it is told `lost`.
  private var answerDeadline: BootTime? { isStreaming ? nil : outbox.deadline }

  // MARK: What happens to it

  func ready(_ readiness: Readiness) {
    if readiness.contains(.writable) {
      outbox.unblock()
      flush()
    }
    // Nobody will read an answer. What was sent before is still carried out.
    if readiness.contains(.hungUp) { losePeer() }
    if readiness.contains(.readable) {
      if wantsInput {
        receive()
        // What was reported once has to be asked for again where there may be more of it.
        if !hasEnded, mayHaveMore || !readiness.isDisjoint(with: [.last, .hungUp]) { askAgain() }
      } else {
        ask(for: interest.subtracting(.readable))
      }
    }
    // What a client does not take counts before others leave as much.
    if outbox.isBlocked { goOn() }
  }

  /// Answers leave one after the other, so that a client which reads many of them is woken up once, and not for each.
  func settle() {
    goOn()
  }

  /// Closes it where it has been stuck until `now`.
  func checkDeadline(_ now: BootTime) {
    if let answerDeadline, answerDeadline <= now {
      log.note(limit: "a client did not take its answer within \(Limits.receiveSeconds) s")
      close()
    } else if let frameDeadline, frameDeadline <= now {
      let reason =
        largePlace == .waits
        ? "too many large requests at once; try again"
        : "the request was not complete within \(Limits.sendSeconds) s"
      fail(.unavailable(store: .vault, reason: reason))
      goOn()
    }
  }

  /// Closes it because all connections together hold too much and this one has been stuck longest.
  func evict() {
    log.note(limit: "a client was stuck while others needed the memory")
    close()
  }

  /// Lets the rest of its large frame come in.
  func grantLargePlace() {
    largePlace = .taken
    ask(for: interest.union(.readable))
  }

  /// Takes no further request; closes it as soon as the one that runs is answered.
  func end() {
    isClosing = true
    if isStreaming {
      // What happened until now; whoever does not take it at once holds up nobody.
      stream()
      close()
      return
    }
    endWatch()
    stopWaiting()
    goOn()
  }

  /// Closes it now, whatever it is doing. A request that runs goes on, counts as a connection until it ends, and
  /// its answer is dropped.
  func close() {
    if isClosed { return }
    if let watch { server.loop.forget(watch) }
    watch = nil
    socket = nil
    isClosed = true
    isClosing = true
    held.clear()
    frameDeadline = nil
    endWatch()
    losePeer()
    account()
    log.writeGathered()
    if !isAnswering { leave() }
  }

  /// Gives back what it has of what all share.
  private func leave() {
    leaveLargePlace()
    if hasRefreshed { server.dispatch.left(caller) }
    server.remove(self)
  }

  // MARK: Requests

  /// Whether the next frame may be decoded.
  private var isDecodable: Bool {
    !isAnswering && !isClosing && !isWatching && (!outbox.isBlocked || outbox.count <= Limits.unsentBytes)
  }

  private var wantsInput: Bool { isDecodable && !hasEnded && largePlace != .waits }

  private func receive() {
    if var own = held.take() {
      switch receive(into: &own) {
      case .bytes: decode(&own)
      case .end: hasEnded = true
      case .nothing: break
      }
      keep(own)
    } else if var shared = server.received.take() {
      switch receive(into: &shared) {
      case .bytes: decode(&shared)
      case .end: hasEnded = true
      case .nothing: break
      }
      if !shared.isEmpty { keepCopy(of: shared) }
      shared.empty(keeping: Limits.smallFrameBytes)
      server.received.put(shared)
    } else {
      mayHaveMore = true
    }
  }

  // Not of the actor: a closure of the actor's that is given to another module asks at each call whether it runs where
  // it should.
  private nonisolated static func receive(
    _ socket: Int32, _ buffer: inout SecretBuffer, _ isFull: inout Bool
  ) throws(SecretMemoryError) -> Int {
    var result = 0
    // The buffer's limit is beyond the longest frame, which is refused before it is reached.
    _ = try buffer.fill(atLeast: Limits.receiveBytes) { free in
      unsafe free.withUnsafeMutableBytes { bytes in
        result = unsafe clinux_receive(socket, bytes.baseAddress, bytes.count)
        isFull = result == bytes.count
      }
      return max(0, result)
    }
    return result
  }

  private func receive(into buffer: inout SecretBuffer) -> Arrival {
    var (result, isFull) = (0, false)
    do throws(SecretMemoryError) {
      result = try Self.receive(number, &buffer, &isFull)
    } catch {
      fail(VaultError(error))
      return .nothing
    }
    mayHaveMore = isFull
    if result > 0 { return .bytes }
    return result == -Int(EAGAIN) ? .nothing : .end
  }

  /// Decodes and begins what is complete in `buffer`, as far as the connection may go on.
  private func decode(_ buffer: inout SecretBuffer) {
    isDecoding = true
    defer { isDecoding = false }
    while isDecodable, !buffer.isEmpty {
      let end = buffer.firstIndex(of: 0, from: searched)
      if end ?? buffer.count > Limits.frameBytes {
        buffer.removeFirst(buffer.count)
        fail(.tooLarge(size: end ?? Limits.frameBytes + 1, limit: Limits.frameBytes))
        return
      }
      guard let end else {
        searched = buffer.count
        return
      }
      if let token = buffer.withBytes({ token(askedBy: $0.extracting(first: end)) }) {
        drop(end, of: &buffer)
        answer(with: token)
        if outbox.count > Limits.unsentBytes { flush() }
        continue
      }
      let request: Request
      do throws(Refusal) {
        request = try buffer.withMutableBytes(in: 0..<end) { frame throws(Refusal) in
          try server.reader.read(&frame)
        }
      } catch {
        drop(end, of: &buffer)
        refuse(error)
        continue
      }
      drop(end, of: &buffer)
      begin(request)
      if outbox.count > Limits.unsentBytes { flush() }
    }
  }

  /// Wipes a frame and the NUL at its end.
  private func drop(_ count: Int, of buffer: inout SecretBuffer) {
    buffer.removeFirst(count + 1)
    searched = 0
    frameDeadline = nil
  }

  /// The token that a frame asks for, where that is all that it asks and the token is at hand; `nil`: read the frame.
  private func token(askedBy frame: Span<UInt8>) -> (any SealedToken)? {
    guard !isPeerGone, let names = PlainCall.names(ofGet: frame) else { return nil }
    server.idle.catchUp()
    return server.dispatch.sealedToken(frame.extracting(names.key), frame.extracting(names.account))
  }

  /// Answers a request for a token that is at hand: what `begin` and `finish` do of one.
  private func answer(with token: any SealedToken) {
    server.noteRequest()
    log.prepare()
    server.idle.note()
    leaveLargePlace()
    log.note(read: token)
    write { buffer throws(SecretMemoryError) in try token.writeReply(into: &buffer) }
  }

  private func begin(_ request: Request) {
    server.noteRequest()
    if isPeerGone, !request.call.changes {
      leaveLargePlace()
      return
    }
    log.prepare()
    if request.call.usesVault { server.idle.begin() }
    switch server.dispatch.begin(request, caller: caller) {
    case .answered(let answer):
      finish(request, answer)
    case .watches(let watching):
      watch(watching, request)
    case .waits(let work):
      isAnswering = true
      if case .refresh = request.call { (hasRefreshed, waitsForRenewal) = (true, true) }
      Task { @VaultActor in
        let answer: Answer
        do throws(VaultError) {
          answer = .reply(try await work())
        } catch {
          answer = .failed(error)
        }
        (isAnswering, waitsForRenewal) = (false, false)
        finish(request, answer)
        goOn()
      }
    }
  }

  private func finish(_ request: Request, _ answer: Answer) {
    if request.call.usesVault { server.idle.end() }
    log.note(request.call, answer)
    if isClosed {
      log.writeGathered()
      leave()
      return
    }
    leaveLargePlace()
    if !request.oneway { write(answer) }
  }

  private func refuse(_ refusal: Refusal) {
    log.prepare()
    log.note(refusal)
    leaveLargePlace()
    if case .malformed = refusal { isClosing = true }
    if refusal.oneway { return }
    write { buffer throws(SecretMemoryError) in try refusal.writeReply(into: &buffer) }
  }

  /// Answers with `error` and takes nothing more.
  private func fail(_ error: VaultError) {
    log.note(limit: "a connection is closed: \(error)")
    held.clear()
    frameDeadline = nil
    leaveLargePlace()
    write(.failed(error))
    isClosing = true
  }

  // MARK: Answers

  private func write(_ answer: Answer) {
    write { buffer throws(SecretMemoryError) in
      switch answer {
      case .reply(let reply): try reply.write(into: &buffer)
      case .failed(let error): try error.writeReply(into: &buffer)
      case .refused(let error): try error.writeReply(into: &buffer)
      }
    }
  }

  private func write(_ body: (inout SecretBuffer) throws(SecretMemoryError) -> Void) {
    if isPeerGone || isClosed { return }
    // Without memory to say so, the client learns it by the end of the connection.
    if !outbox.add(body) { close() }
  }

  private func flush() {
    switch outbox.send(on: number) {
    case .empty, .full: break
    case .nobody: losePeer()
    }
  }

  private func losePeer() {
    isPeerGone = true
    outbox.clear()
    stopWaiting()
  }

  /// Nobody is there any more who could renew, or take what somebody else renews.
  private func stopWaiting() {
    if waitsForRenewal { server.dispatch.left(caller) }
  }

  // MARK: Watching

  /// Says that watching has begun. From here on the connection's replies are events, and no further call of it is
  /// decoded.
  private func watch(_ watching: Watching, _ request: Request) {
    // Not decided by the call: where nobody wants to hear, there is nothing to watch for.
    if request.oneway || isPeerGone { watching.end() } else { self.watching = watching }
    log.note(request.call, .reply(.event(nil)))
    leaveLargePlace()
    guard self.watching != nil else { return }
    write { buffer throws(SecretMemoryError) in
      try Reply.event(nil).write(continues: true, into: &buffer)
    }
    watching.onEvents = { [weak self] in
      guard let self else { return }
      // Not from here: whoever tells of a change is in the middle of it.
      Task { @VaultActor in self.goOn() }
    }
  }

  /// Sends events for as long as the socket takes them. While it is full they stay where they are, bounded.
  private func stream() {
    guard let watching else { return }
    while outbox.isEmpty, !isPeerGone {
      isStreaming = true
      while outbox.count < Limits.eventBytes, let event = watching.next() {
        write { buffer throws(SecretMemoryError) in
          try Reply.event(event).write(continues: true, into: &buffer)
        }
        if isClosed { return }
      }
      if outbox.isEmpty { return }
      flush()
    }
  }

  private func endWatch() {
    watching?.end()
    watching = nil
  }

  // MARK: Going on

  /// Does what is possible after something happened: decodes what was held back, sends, closes, asks the loop for
  /// what it waits for. Every event ends here.
  func goOn() {
    // A request that was answered while its frame was decoded goes on there.
    if isDecoding || isClosed { return }
    if isDecodable, var own = held.take() {
      decode(&own)
      keep(own)
    }
    flush()
    stream()
    // Where nearly every request ends: nothing is left of it, and what the loop was asked for is right.
    if held.isEmpty && outbox.isEmpty && buffered == 0 && interest == [.readable, .once] && !hasEnded
      && !isClosing && !isPeerGone
    {
      return
    }
    if isClosed { return }
    // A watch has no other end than that of its connection.
    if isDecodable && hasEnded || isWatching && isPeerGone { isClosing = true }
    if isClosing && !isAnswering && !outbox.isBlocked {
      close()
      return
    }
    if isDecodable && !held.isEmpty { watchFrame() }
    account()
    var wanted = interest
    if wantsInput { wanted.insert(.readable) }
    if hasEnded || isClosing { wanted.remove(.readable) }
    if outbox.isBlocked { wanted.insert(.writable) } else { wanted.remove(.writable) }
    ask(for: wanted)
  }

  /// What is held is the beginning of a frame: it has a time to end, and a large one needs a place.
  private func watchFrame() {
    if frameDeadline == nil { frameDeadline = server.deadline(in: Limits.sendSeconds) }
    if largePlace == .none, held.count > Limits.smallFrameBytes {
      largePlace = server.takeLargePlace(self) ? .taken : .waits
    }
  }

  private func leaveLargePlace() {
    if largePlace == .none { return }
    largePlace = .none
    server.leaveLargePlace(self)
  }

  private func keep(_ own: consuming SecretBuffer) {
    if own.isEmpty || isClosing { return }
    if own.count <= Limits.smallFrameBytes && own.capacity > 2 * Limits.smallFrameBytes {
      keepCopy(of: own)
    } else {
      held.put(own)
    }
  }

  private func keepCopy(of buffer: borrowing SecretBuffer) {
    if isClosing { return }
    do throws(SecretMemoryError) {
      var copy = try SecretBuffer(
        capacity: buffer.count, limit: Limits.frameBytes + 2 * Limits.smallFrameBytes)
      try buffer.withBytes { bytes throws(SecretMemoryError) in try copy.append(bytes) }
      held.put(copy)
    } catch {
      fail(VaultError(error))
    }
  }

  private func account() {
    let now = held.capacity + outbox.capacity
    let change = now - buffered
    if change == 0 { return }
    buffered = now
    server.bufferedChanged(by: change)
  }

  /// Changes what the loop reports: always once, for states last. With nothing asked for, it still reports that the peer
  /// hung up.
  private func ask(for wanted: Readiness) {
    if wanted == interest { return }
    interest = wanted
    askAgain()
  }

  /// Has the loop report anew what is asked for, where it is so now.
  private func askAgain() {
    guard let watch else { return }
    server.loop.change(watch, to: interest)
  }
}
