// Watching with the real daemon: what the command and other programs change is seen at once, by as many as look, and
// those who read nothing hurt nobody.

import Foundation
import Glibc
import Spawning
import Testing

extension EndToEnd {
  @Suite("Watching")
  struct WatchTests {
    /// A connection that watches.
    private func watcher(_ daemon: DaemonUnderTest, _ parameters: String = "{}") throws -> RawConnection {
      let connection = try daemon.connect()
      connection.sendFrame(
        #"{"method":"org.vaultd.Vault.Watch","more":true,"parameters":\#(parameters)}"#)
      let first = try connection.answer()
      #expect(first?.error == nil && first?.parameters.isEmpty == true)
      #expect(first?.object["continues"] as? Bool == true)
      return connection
    }

    private func expectEvent(
      _ connection: RawConnection, _ event: String, _ key: String? = nil,
      at location: SourceLocation = #_sourceLocation
    ) throws {
      var answer = try connection.answer()
      // The keyring may be found only after the watch has begun.
      while answer?.parameters["event"] as? String == "available" { answer = try connection.answer() }
      #expect(answer?.parameters["event"] as? String == event, sourceLocation: location)
      #expect(answer?.parameters["key"] as? String == key, sourceLocation: location)
      #expect(answer?.object["continues"] as? Bool == true, sourceLocation: location)
    }

    @Test(
      "twenty watchers see every change that the command makes, in order", arguments: StoreUnderTest.allCases)
    func changes(store: StoreUnderTest) throws {
      try store.run { session, daemon in
        let watchers = try (0..<20).map { _ in try watcher(daemon) }
        let narrow = try watcher(daemon, #"{"key":"Chat.other"}"#)
        try session.set("Chat.token", Data("1".utf8))
        try session.set("Chat.token", Data("2".utf8))
        try session.set("Chat.other", Data("3".utf8))
        expectSuccess(try session.vault("clear", "Chat.token"))
        expectSuccess(try session.vault("logout", "Chat"))
        expectSuccess(try session.vault("lock"))
        expectSuccess(try session.vault("unlock"))
        for watcher in watchers {
          try expectEvent(watcher, "set", "Chat.token")
          try expectEvent(watcher, "set", "Chat.token")
          try expectEvent(watcher, "set", "Chat.other")
          try expectEvent(watcher, "cleared", "Chat.token")
          try expectEvent(watcher, "cleared", "Chat.other")
          try expectEvent(watcher, "locked")
          try expectEvent(watcher, "unlocked")
        }
        try expectEvent(narrow, "set", "Chat.other")
        try expectEvent(narrow, "cleared", "Chat.other")
        try expectEvent(narrow, "locked")
      }
    }

    @Test("what another program does in the keyring is seen within 50 ms of its end")
    func otherPrograms() throws {
      try StoreUnderTest.secretService.run { session, daemon in
        let watcher = try watcher(daemon)
        var times: [Duration] = []
        func within(_ event: String, _ name: String, _ arguments: [String], input: Data = Data()) throws {
          expectSuccess(
            try session.command(
              ["secret-tool"] + arguments + ["namespace", "Chat", "name", name], input: input))
          let end = ContinuousClock.now
          try expectEvent(watcher, event, "Chat.\(name)")
          times.append(ContinuousClock.now - end)
        }
        for round in 0..<5 {
          try within("set", "made\(round)", ["store", "--label=by hand"], input: Data("tok".utf8))
        }
        for round in 0..<5 { try within("cleared", "made\(round)", ["clear"]) }
        // The machine may be busy with something else now and then; the median is not.
        #expect(times.sorted()[times.count / 2] < .milliseconds(50), "\(times)")
      }
    }

    @Test("a keyring that is locked, ends and comes back is told, and the watch goes on")
    func keyring() throws {
      try StoreUnderTest.secretService.run { session, daemon in
        try session.set("Chat.token", Data("tok".utf8))
        let watcher = try watcher(daemon, #"{"namespace":"Chat"}"#)
        func next(_ wanted: Set<String>) throws {
          let answer = try watcher.answer()
          #expect(wanted.contains(answer?.parameters["event"] as? String ?? ""), "\(answer?.object ?? [:])")
          #expect(answer?.parameters["store"] as? String == "secret_service")
        }
        try session.lockKeyring()
        try next(["locked"])
        session.stopKeyring()
        try next(["unavailable"])
        try session.startKeyring()
        try next(["available", "unlocked"])
        #expect(daemon.isRunning)
      }
    }

    @Test("the command prints each change at once, ends with 0 when interrupted, with 8 at the daemon's end")
    func command() throws {
      try StoreUnderTest.file.run { session, daemon in
        let lines = try session.start("watch", [Project.vault, "watch", "--json"])
        let interrupted = try session.start("other", [Project.vault, "watch", "Chat"])
        #expect(becomesTrue { daemon.log.components(separatedBy: "watch ").count == 3 })
        try session.set("Chat.token", Data("M4RK3R".utf8), account: "alice")
        #expect(
          becomesTrue {
            session.log("watch").contains(#""event":"set","key":"Chat.token","account":"alice""#)
          })
        #expect(becomesTrue { session.log("other").contains("Chat.token") })
        interrupted.kill(SIGINT)
        #expect(try interrupted.wait() == 0)
        #expect(try daemon.stop() == 0)
        #expect(try lines.wait() == 8)
        for log in ["watch", "other", "vaultd"] { #expect(!session.log(log).contains("M4RK3R"), "\(log)") }
      }
    }

    @Test("watchers that are killed or read nothing slow nobody down, and the daemon stays small")
    func stuck() throws {
      try StoreUnderTest.file.run { session, daemon in
        let silent = try (0..<50).map { _ in try watcher(daemon) }
        let killed = try (0..<5).map { try session.start("killed\($0)", [Project.vault, "watch"]) }
        #expect(becomesTrue { daemon.log.components(separatedBy: "watch ").count == 56 })
        for child in killed { child.kill(SIGKILL) }
        let before = try memory(daemon)
        let connection = try daemon.connect()
        // More than the sockets and the queues of all of them take.
        let set = #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"Chat.token","secret":"tok"}}"#
        let batch = Data(String(repeating: set + "\0", count: 100).utf8)
        for _ in 0..<40 {
          connection.send(batch)
          for _ in 0..<100 { #expect(try connection.answer()?.error == nil) }
        }
        let begin = ContinuousClock.now
        #expect(try session.get("Chat.token") == Data("tok".utf8))
        #expect(ContinuousClock.now - begin < .seconds(1))
        #expect(try memory(daemon) - before < 32_768)
        // One of them begins to read, and comes to the present.
        try session.set("Chat.last", Data("tok".utf8))
        var seen: [String] = []
        while seen.last != "Chat.last", let answer = try silent[0].answer() {
          seen.append(answer.parameters["key"] as? String ?? answer.parameters["event"] as? String ?? "")
        }
        #expect(seen.last == "Chat.last")
        #expect(seen.count < 4_001 && seen.contains("lost") || seen.count == 4_001)
        #expect(try daemon.stop() == 0)
      }
    }

    /// Its resident memory, in KiB.
    private func memory(_ daemon: DaemonUnderTest) throws -> Int {
      let status = try String(contentsOfFile: "/proc/\(daemon.pid)/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
      return Int(line.split(whereSeparator: \.isWhitespace).dropFirst().first ?? "") ?? 0
    }
  }
}
