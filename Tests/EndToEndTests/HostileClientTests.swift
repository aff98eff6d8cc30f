// Clients that mean harm, or are broken: the daemon is the same process afterwards, has not grown, and nobody else had
// to wait (cases.md, "Socket, daemon, systemd"). What single bytes do is in BadInputTests; the limits, each with one
// past it, are in VaultDaemonTests/LimitTests.

import Foundation
import Glibc
import Spawning
import Testing

extension EndToEnd {
  @Suite("Hostile clients")
  struct HostileClientTests {
    private static let get = #"{"method":"org.vaultd.Vault.Get","parameters":{"key":"Chat.token"}}"#
    private static let getLarge = #"{"method":"org.vaultd.Vault.Get","parameters":{"key":"Chat.large"}}"#

    @Test("a thousand clients that ask and leave before the answer")
    func leave() throws {
      try withTokens { daemon in
        for number in 0..<1_000 {
          let connection = try daemon.connect()
          connection.sendFrame(number % 10 == 0 ? Self.getLarge : Self.get)
          connection.close()
        }
      }
    }

    @Test("half requests and large answers that nobody reads: another get takes less than 100 ms")
    func stuck() throws {
      try withTokens { daemon in
        var stuck: [RawConnection] = []
        for _ in 0..<100 {
          let connection = try daemon.connect()
          connection.send(Data(Self.get.utf8.dropLast(10)))
          stuck.append(connection)
        }
        for _ in 0..<20 {
          let connection = try daemon.connect()
          connection.sendFrame(Self.getLarge)
          stuck.append(connection)
        }
        // The best of some: the machine may be busy with something else.
        let times = try (0..<9).map { _ in try timeOfGet(daemon) }
        #expect(times.sorted()[0] < .milliseconds(100), "\(times)")
        #expect(stuck.count == 120)
      }
    }

    @Test("six clients that ask for a megabyte at once get it, and a small get comes in between")
    func manyLargeAnswers() throws {
      try withTokens { daemon in
        let readers = try (0..<6).map { _ in try daemon.connect() }
        for reader in readers { reader.sendFrame(Self.getLarge) }
        let time = try timeOfGet(daemon)
        #expect(time < .seconds(1), "\(time)")
        for reader in readers { #expect(try (reader.frame()?.count ?? 0) > 1_048_576) }
      }
    }

    @Test("a gigabyte without the end of a request")
    func endless() throws {
      try withTokens { daemon in
        let chunk = Data(repeating: UInt8(ascii: "["), count: 1 << 20)
        var sent = 0
        while sent < 1 << 30 {
          let connection = try daemon.connect()
          var more = true
          while more, sent < 1 << 30 {
            more = connection.send(chunk)
            sent += chunk.count
          }
        }
      }
    }

    @Test("random bytes, from a thousand clients")
    func random() throws {
      try withTokens { daemon in
        for number in 0..<1_000 {
          let connection = try daemon.connect()
          connection.send(randomBytes(300, seed: UInt64(number) + 7) + [0])
          if number % 3 == 0 { _ = try connection.frame() }
        }
      }
    }

    /// Runs a test on a daemon with two tokens, and sees that it is as it was before.
    private func withTokens(_ body: (DaemonUnderTest) throws -> Void) throws {
      try StoreUnderTest.file.run { session, daemon in
        try session.set("Chat.token", Data("tok".utf8))
        try session.set("Chat.large", Data(repeating: UInt8(ascii: "x"), count: 1_048_576))
        let bystander = try daemon.connect()
        try body(daemon)
        let answer = try bystander.call("org.vaultd.Vault.Status")
        #expect(answer.parameters["pid"] as? Int == Int(daemon.pid))
        #expect(
          try daemon.connect().call("org.vaultd.Vault.Get", ["key": "Chat.token"]).parameters["secret"]
            as? String == "tok")
        #expect(daemon.isRunning)
        let peak = try memory(daemon.pid, "VmHWM")
        #expect(peak < 64 << 20, "\(peak >> 20) MiB")
      }
    }

    private func timeOfGet(_ daemon: DaemonUnderTest) throws -> Duration {
      let connection = try daemon.connect()
      let start = ContinuousClock.now
      let answer = try connection.call("org.vaultd.Vault.Get", ["key": "Chat.token"])
      #expect(answer.parameters["secret"] as? String == "tok")
      return ContinuousClock.now - start
    }
  }
}

/// A number of bytes that /proc/PID/status tells: `VmHWM` is the most that was ever resident.
func memory(_ pid: pid_t, _ field: String) throws -> Int {
  let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
  let line = status.split(separator: "\n").first { $0.hasPrefix(field + ":") }
  guard let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
  else { throw HarnessFailure("process \(pid) has no \(field)") }
  return kibibytes * 1_024
}
