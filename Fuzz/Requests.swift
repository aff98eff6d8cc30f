// The daemon's side of the socket: bytes from a client, in pieces, through the real loop, connection and dispatch, down
// to a vault in memory. Whatever comes in, the connection ends, every answer is one JSON object, and there are no
// more of them than frames. What could be read is written and read again, and is the same.

import CLinux
import Glibc
import SecretMemory
import TestSupport
import VaultCore
import VaultModel

@testable import VaultDaemon
@testable import VaultWire

/// Serves a client that sends the bytes behind the first one, which says in how large pieces.
func serve(_ input: [UInt8]) {
  guard let first = input.first else { return }
  let frames = Array(input.dropFirst())
  for frame in frames.split(separator: 0, omittingEmptySubsequences: true) { readTwice(frame) }
  onVaultActor { try Client(sends: frames, piece: max(1, Int(first) * 16)).run() }
}

/// Reads a call, writes it and reads it again: both are the same.
private func readTwice(_ frame: ArraySlice<UInt8>) {
  guard let once = rewritten(frame) else { return }
  guard let twice = rewritten(once[...]) else { fatalError("a call that was read cannot be read again") }
  require(once == twice, "a call changes by being read and written")
}

private func rewritten(_ frame: ArraySlice<UInt8>) -> [UInt8]? {
  var reader = RequestReader()
  guard let request = withExactly(frame, { try? reader.read(&$0) }) else { return nil }
  do {
    var buffer = try SecretBuffer(capacity: 64, limit: Limits.frameBytes * 2)
    try request.call.write(oneway: request.oneway, more: request.more, into: &buffer)
    return buffer.withBytes { $0.array.dropLast() }
  } catch {
    fatalError("a call that was read cannot be written: \(error)")
  }
}

/// The other end of one connection, on the loop that serves it.
@VaultActor
private final class Client: Watcher {
  private let loop: EventLoop
  private let server: Server
  private let selfLock: SelfLock
  private let frames: [UInt8]
  private let piece: Int
  private var sent = 0
  private var answers: [UInt8] = []
  private var socket: Descriptor?
  private var watch: EventLoop.Watch?
  private var isImpatient = false
  private var ends = (server: false, client: false)

  init(sends frames: [UInt8], piece: Int) throws {
    let clock = SystemClock()
    loop = try EventLoop(clock: clock)
    let vault = Vault(
      preference: .file, secretService: FakeProvider(), file: FakeFile(), session: FakeSession(),
      state: FakeState(), clock: clock)
    let journal = Journal(
      level: .error, showsPriorities: false, output: -1, clock: clock, alarms: loop.alarms)
    let dispatch = Dispatch(vault: vault) {
      DaemonStatus(
        version: "0", pid: 1, since: WallTime(seconds: 1), preference: .file, stores: vault.storeStatuses,
        protections: [:])
    }
    let selfLock = SelfLock(vault: vault, clock: clock, alarms: loop.alarms, journal: journal)
    server = try Server(
      loop: loop, clock: clock, alarms: loop.alarms, dispatch: dispatch, journal: journal, idle: selfLock.idle
    )
    self.selfLock = selfLock
    self.frames = frames
    self.piece = piece
  }

  /// Sends everything, takes every answer, and sees both ends close.
  func run() throws {
    var ends: [Int32] = [0, 0]
    try check(
      unsafe ends.withUnsafeMutableBufferPointer { unsafe clinux_socket_pair($0.baseAddress) }, "pair")
    socket = Descriptor(owning: ends[1])
    server.onChange = { [unowned self] in
      if server.count == 0 { finish(server: true) }
    }
    server.take(Descriptor(owning: ends[0]))
    watch = try loop.watch(ends[1], for: [.readable, .writable], self)
    try loop.run()
    judge()
  }

  func ready(_ readiness: Readiness) {
    let number = socket?.number ?? -1
    if readiness.contains(.writable) { send(number) }
    if readiness.contains(.readable) || readiness.contains(.hungUp) { receive(number) }
  }

  private func send(_ number: Int32) {
    let some = frames[sent..<min(frames.count, sent + piece)]
    let count = unsafe some.withUnsafeBytes { unsafe clinux_send(number, $0.baseAddress, $0.count) }
    if count > 0 { sent += count }
    // Who was closed by the daemon has nothing more to say.
    if sent == frames.count || (count < 0 && count != -Int(EAGAIN)) {
      shutdown(number, Int32(SHUT_WR))
      if let watch { loop.change(watch, to: .readable) }
      // Who watches, or waits for somebody's lease, would be served for as long as he listens.
      let time = BootTime(milliseconds: clinux_boot_milliseconds()).advanced(by: 5)
      loop.alarms.set(time) { [weak self] in
        self?.isImpatient = true
        self?.leave()
      }
    }
  }

  private func receive(_ number: Int32) {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe clinux_receive(number, $0.baseAddress, $0.count)
    }
    if count > 0 {
      answers += bytes[..<count]
    } else if count != -Int(EAGAIN) {
      leave()
    }
  }

  private func leave() {
    guard let watch else { return }
    loop.forget(watch)
    self.watch = nil
    socket = nil
    finish(client: true)
  }

  private func finish(server: Bool = false, client: Bool = false) {
    ends = (ends.server || server, ends.client || client)
    if ends.server, ends.client { loop.stop() }
  }

  private func judge() {
    require(
      server.buffered == 0 && server.freeLargePlaces == Limits.largeFrames, "the daemon keeps something")
    require(answers.isEmpty || answers.last == 0 || isImpatient, "an answer breaks off")
    let all = answers.split(separator: 0, omittingEmptySubsequences: false).dropLast()
    // A watcher gets as many as there are events.
    let single = all.count { !$0.reversed().starts(with: #"},"continues":true}"#.utf8.reversed()) }
    require(single <= frames.count { $0 == 0 } + 1, "more answers than calls")
    for answer in all {
      var tape = Tape()
      let isObject = withExactly(answer) {
        (try? tape.read(&$0, tokenLimit: Limits.replyTokens) { _ in true }) != nil
      }
      require(isObject, "an answer is no JSON object")
    }
  }
}
