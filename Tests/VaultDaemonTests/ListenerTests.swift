// The socket's file: made once, never looser, never taken from somebody who serves it, never left behind.

import CLinux
import Foundation
import Synchronization
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import VaultDaemon

@Suite struct ListenerTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/vault/vault.sock" }

  init() throws {
    folder = try TemporaryFolder()
  }

  private func mode(_ path: String) -> UInt32 {
    var status = stat()
    return unsafe lstat(path, &status) == 0 ? status.st_mode & 0o7777 : 0
  }

  /// Whether a connection can be made.
  private func accepts(_ path: String) -> Bool {
    let probe = Descriptor(owning: clinux_stream_socket(true))
    return unsafe clinux_socket_connect(probe.number, path) == 0
  }

  /// Leaves what a daemon that was killed leaves.
  private func leaveStaleSocket() {
    unsafe mkdir(folder.path + "/vault", 0o700)
    let dead = Descriptor(owning: clinux_stream_socket(true))
    _ = unsafe clinux_socket_bind(dead.number, path)
  }

  @Test("folder and socket are made, 0700 and 0600, and the socket accepts")
  func made() async throws {
    _ = try await RealLoop.get()
    let listener = try await Listener(path: path)
    #expect(mode(path) == 0o600)
    #expect(mode(folder.path + "/vault") == 0o700)
    #expect(mode(path + ".lock") == 0o600)
    #expect(accepts(path))
    await listener.close()
    #expect(mode(path) == 0)
  }

  @Test("nobody ever sees the socket or its folder looser than that")
  func neverLooser() async throws {
    _ = try await RealLoop.get()
    let isDone = Atomic(false)
    let seen = Mutex<Set<UInt32>>([])
    let paths = [path, path + ".lock"]
    let watching = Thread {
      while !isDone.load(ordering: .relaxed) {
        for path in paths {
          var status = stat()
          if unsafe lstat(path, &status) == 0 { seen.withLock { _ = $0.insert(status.st_mode & 0o777) } }
        }
      }
    }
    watching.start()
    for _ in 0..<200 { try await Listener(path: path).close() }
    isDone.store(true, ordering: .relaxed)
    #expect(seen.withLock { $0 }.subtracting([0o600]).isEmpty)
  }

  @Test("a second daemon is told that the socket is served, at once")
  func second() async throws {
    _ = try await RealLoop.get()
    let first = try await Listener(path: path)
    let clock = ContinuousClock()
    let began = clock.now
    await #expect(throws: StartFailure.served(path)) { try await Listener(path: path) }
    #expect(clock.now - began < .seconds(2))
    #expect(accepts(path))
    await first.close()
  }

  @Test("a stale socket is replaced")
  func stale() async throws {
    _ = try await RealLoop.get()
    leaveStaleSocket()
    #expect(mode(path) != 0 && !accepts(path))
    let listener = try await Listener(path: path)
    #expect(accepts(path))
    await listener.close()
  }

  @Test("a socket that somebody serves without our lock is left alone")
  func foreignServer() async throws {
    _ = try await RealLoop.get()
    unsafe mkdir(folder.path + "/vault", 0o700)
    let other = Descriptor(owning: clinux_stream_socket(true))
    try #require(
      unsafe clinux_socket_bind(other.number, path) == 0 && clinux_socket_listen(other.number, 1) == 0)
    await #expect(throws: StartFailure.served(path)) { try await Listener(path: path) }
    #expect(accepts(path))
  }

  @Test("what is no socket is left alone, also a link to one")
  func noSocket() async throws {
    _ = try await RealLoop.get()
    unsafe mkdir(folder.path + "/vault", 0o700)
    try "mine".write(toFile: path, atomically: false, encoding: .utf8)
    await #expect(throws: StartFailure.self) { try await Listener(path: path) }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "mine")
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/nowhere")
    await #expect(throws: StartFailure.self) { try await Listener(path: path) }
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "/nowhere")
  }

  @Test("at its end a daemon removes the socket that it made, and no other one")
  func removesItsOwn() async throws {
    _ = try await RealLoop.get()
    let listener = try await Listener(path: path)
    try FileManager.default.removeItem(atPath: path)
    let other = Descriptor(owning: clinux_stream_socket(true))
    try #require(unsafe clinux_socket_bind(other.number, path) == 0)
    await listener.close()
    #expect(mode(path) != 0)
  }

  @Test("a folder of ours that is too loose is tightened, and that is told")
  func looseFolder() async throws {
    _ = try await RealLoop.get()
    unsafe mkdir(folder.path + "/vault", 0o700)
    unsafe chmod(folder.path + "/vault", 0o755)
    let listener = try await Listener(path: path)
    #expect(mode(folder.path + "/vault") == 0o700)
    #expect(await listener.folderWasLoose)
    await listener.close()
  }

  @Test("a folder that everyone shares is refused, and stays as it is")
  func sharedFolder() async throws {
    _ = try await RealLoop.get()
    unsafe mkdir(folder.path + "/vault", 0o700)
    unsafe chmod(folder.path + "/vault", 0o1777)
    await #expect(throws: StartFailure.self) { try await Listener(path: path) }
    #expect(mode(folder.path + "/vault") == 0o1777)
  }

  @Test("a folder of another owner is refused", .enabled(if: geteuid() == 0, "needs root"))
  func foreignFolder() async throws {
    _ = try await RealLoop.get()
    unsafe mkdir(folder.path + "/vault", 0o700)
    unsafe chown(folder.path + "/vault", 65_534, 65_534)
    await #expect(throws: StartFailure.self) { try await Listener(path: path) }
    await #expect(throws: StartFailure.self) {
      try await Listener(path: folder.path + "/missing/vault/vault.sock")
    }
  }

  @Test("a path of 107 bytes is a socket, one of 108 an error, and nothing is cut")
  func length() async throws {
    _ = try await RealLoop.get()
    let prefix = folder.path + "/"
    let fits = prefix + String(repeating: "s", count: 107 - prefix.utf8.count)
    let listener = try await Listener(path: fits)
    #expect(accepts(fits))
    await listener.close()
    await #expect(throws: StartFailure.self) { try await Listener(path: fits + "s") }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path).allSatisfy { $0.hasSuffix(".lock") })
  }

  @Test("a socket that was handed over is served and not removed; its path is locked")
  func handedOver() async throws {
    _ = try await RealLoop.get()
    unsafe mkdir(folder.path + "/vault", 0o700)
    let number = clinux_stream_socket(false)
    try #require(unsafe clinux_socket_bind(number, path) == 0 && clinux_socket_listen(number, 5) == 0)
    do {
      let listener = try await Listener(handedOver: number..<number + 1)
      #expect(await listener.path == path)
      #expect(accepts(path))
      await listener.close()
    }
    #expect(mode(path) == 0o600)
  }

  @Test("what was handed over and is no Unix stream socket that listens is refused")
  func handedOverWrong() async throws {
    _ = try await RealLoop.get()
    let silent = clinux_stream_socket(false)
    await #expect(throws: StartFailure.self) { try await Listener(handedOver: silent..<silent + 1) }
    close(silent)
    let datagrams = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    await #expect(throws: StartFailure.self) { try await Listener(handedOver: datagrams..<datagrams + 1) }
    await #expect(throws: StartFailure.self) { try await Listener(handedOver: datagrams..<datagrams + 2) }
    close(datagrams)
  }
}
