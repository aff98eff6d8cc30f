// What systemd says to a service, and what the service says back; and who a peer is.

import CLinux
import Foundation
import TestSupport
import Testing
import VaultCore

@testable import VaultDaemon

@Suite struct ServiceManagerTests {
  /// A datagram socket at `address`, and what came to it.
  private func received(at path: String, abstract: Bool, _ body: (String) -> Void) throws -> String {
    let listening = Descriptor(
      owning: socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { target in
      unsafe target.baseAddress.map { unsafe UnsafeMutableRawPointer($0 + (abstract ? 1 : 0)) }?.copyMemory(
        from: bytes, byteCount: bytes.count)
    }
    let size = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count + 1)
    let bound = unsafe withUnsafePointer(to: &address) {
      unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(listening.number, $0, size) }
    }
    try #require(bound == 0)
    body(abstract ? "@" + path : path)
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe recv(listening.number, &buffer, buffer.count, 0)
    return String(decoding: buffer.prefix(max(0, count)), as: UTF8.self)
  }

  @Test("lines go to the socket of the manager, by path or by abstract name", arguments: [false, true])
  func notify(abstract: Bool) throws {
    let folder = try TemporaryFolder()
    let path = abstract ? "vault-test-\(UUID().uuidString)" : folder.path + "/notify"
    let text = try received(at: path, abstract: abstract) { socket in
      ServiceManager(sockets: 3..<3, journalReadsStandardError: false, notifySocket: socket)
        .notify("READY=1", "STATUS=here")
    }
    #expect(text == "READY=1\nSTATUS=here")
  }

  @Test("a manager that is not there, or has no room, is no failure")
  func nobody() {
    for socket in [nil, "/nowhere/notify", "@vault-test-nobody", String(repeating: "p", count: 200)] {
      ServiceManager(sockets: 3..<3, journalReadsStandardError: false, notifySocket: socket).notify("READY=1")
    }
  }

  @Test("a peer is this process, by the kernel, with its program")
  func peer() async throws {
    _ = try await RealLoop.get()
    try await check()

    @VaultActor func check() throws {
      var peer: Peer?
      let caller = try Caller.pair { peer = try? Peer(of: $0.number) }
      _ = caller
      let found = try #require(peer)
      #expect(found.pid == getpid())
      #expect(found.user == geteuid() && found.isOurUser)
      #expect(
        found.executable == (try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")))
    }
  }

  @Test(
    "the unit is the last service or scope of the control group",
    arguments: [
      (
        "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-chat@7.service\n",
        "app-chat@7.service"
      ),
      ("0::/user.slice/user-1000.slice/session-3.scope\n", "session-3.scope"),
      ("12:pids:/x.service\n1:name=systemd:/system.slice/cron.service\n0::/\n", "cron.service"),
      ("0::/system.slice/a.service/payload\n", "a.service"),
      ("0::/\n", ""), ("", ""), ("nonsense", ""),
    ])
  func unit(text: String, unit: String) async throws {
    _ = try await RealLoop.get()
    #expect(await Peer.unit(in: Array(text.utf8)) == unit)
  }
}
