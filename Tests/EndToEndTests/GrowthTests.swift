// The size of the daemon over many requests and many connections, as the kernel counts it: what a request or a
// connection took is given back when it is done. The same at length, and in numbers: docs/performance.md.

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("Memory over many requests")
  struct GrowthTests {
    @Test(
      "thousands of sets, reads and clears leave the daemon as large as the first ones did",
      arguments: StoreUnderTest.allCases)
    func requests(store: StoreUnderTest) throws {
      try store.run { _, daemon in
        let connections = try (0..<20).map { _ in try daemon.connect() }
        // A keyring is asked over the bus, and takes some milliseconds for each.
        let rounds = store == .file ? 300 : 10
        try use(connections, rounds: rounds)
        let before = try Size(of: daemon.pid)
        try use(connections, rounds: rounds)
        let after = try Size(of: daemon.pid)
        // Fewer than 30 bytes for each request to the file.
        #expect(after.own <= before.own + 512, "KiB: \(before), then \(after)")
        #expect(after.locked <= before.locked, "KiB: \(before), then \(after)")
      }
    }

    @Test("what 900 connections took is given back once they are closed and nobody asks")
    func connections() throws {
      try StoreUnderTest.file.run { _, daemon in
        let before = try Size(of: daemon.pid)
        try crowd(daemon, 900) {
          let crowded = try Size(of: daemon.pid)
          #expect(crowded.own > before.own + 2_000, "KiB: \(before), with them \(crowded)")
        }
        let after = try Size.settled(of: daemon.pid, seconds: 30) { $0.own <= before.own + 512 }
        #expect(after.own <= before.own + 512, "KiB: \(before), then \(after)")
        #expect(after.locked <= before.locked, "KiB: \(before), then \(after)")
      }
    }

    @Test("a daemon that has served the keyring takes no more than 12 MB when nobody asks")
    func idle() throws {
      try StoreUnderTest.secretService.run { _, daemon in
        let connection = try daemon.connect()
        for (method, parameters) in [
          ("Set", ["key": "Chat.token", "secret": "x"]), ("Get", ["key": "Chat.token"]),
        ] {
          #expect(try connection.call("org.vaultd.Vault.\(method)", parameters).error == nil)
        }
        let idle = try Size.settled(of: daemon.pid, seconds: 30) { $0.resident <= 11_718 }
        #expect(idle.resident <= 11_718, "KiB: \(idle)")
      }
    }

    /// Over each connection, in every round: set, read and clear.
    private func use(_ connections: [RawConnection], rounds: Int) throws {
      for round in 0..<rounds {
        for (number, connection) in connections.enumerated() {
          let key = "Grow\(number).k\(round % 7)"
          try connection.send("org.vaultd.Vault.Set", ["key": key, "secret": "token \(number) \(round)"])
          try connection.send("org.vaultd.Vault.Get", ["key": key])
          try connection.send("org.vaultd.Vault.Clear", ["key": key])
        }
        for connection in connections {
          for _ in 0..<3 { #expect(try connection.answer()?.error == nil) }
        }
      }
    }

    /// So many connections at once, each answered and then left in the middle of a request.
    private func crowd(_ daemon: DaemonUnderTest, _ count: Int, _ look: () throws -> Void) throws {
      let half = Data(#"{"method":"org.vaultd.Vault.Set","parameters":{"key":"Chat.half","secret":""#.utf8)
      let connections = try (0..<count).map { _ in try daemon.connect() }
      for connection in connections {
        connection.send(half + Data(repeating: UInt8(ascii: "x"), count: 2_000))
      }
      // Read behind all of them.
      _ = try daemon.connect().call("org.varlink.service.GetInfo")
      try look()
      for connection in connections { connection.close() }
    }
  }
}

/// How large a process is, in kibibytes.
private struct Size: CustomStringConvertible {
  /// All that it has in memory, code and files included.
  let resident: Int
  /// Of that, what is in no file.
  let own: Int
  /// What is locked, or will be once it is touched.
  let locked: Int

  var description: String { "\(resident) resident, \(own) own, \(locked) locked" }

  init(of pid: pid_t) throws {
    let lines = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8).split(separator: "\n")
    func number(_ field: String) throws -> Int {
      let words = lines.first { $0.hasPrefix(field + ":") }?.split(whereSeparator: \.isWhitespace) ?? []
      guard words.count > 1, let number = Int(words[1]) else { throw HarnessFailure("no \(field) of \(pid)") }
      return number
    }
    (resident, own, locked) = (try number("VmRSS"), try number("RssAnon"), try number("VmLck"))
  }

  /// Its size once that is as small as `wanted` says, or else when the time is over.
  static func settled(of pid: pid_t, seconds: Double, wanted: (Size) -> Bool) throws -> Size {
    var size = try Size(of: pid)
    _ = try becomesTrue(seconds: seconds) {
      size = try Size(of: pid)
      return wanted(size)
    }
    return size
  }
}
