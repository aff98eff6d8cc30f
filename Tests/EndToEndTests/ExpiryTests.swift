// Tokens that end, with the real daemon and the real clock, as far as nobody has to wait: what is over stays over through
// a restart, and no value of a time brings the daemon down. What clocks do is tested on one that can be set.

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("Expiry")
  struct ExpiryTests {
    private let key = "Chat.token"

    @Test(
      "a token that is over is never handed out again, also after a restart, and every command says so",
      arguments: StoreUnderTest.allCases)
    func over(store: StoreUnderTest) throws {
      try store.run { session, daemon in
        expectSuccess(try session.vault("set", key, "--expires-in", "1s", input: Data("M4RK3R".utf8)))
        expectSuccess(try session.vault("set", "Chat.other", "--expires-in", "1h", input: Data("tok".utf8)))
        #expect(try becomesTrue { try session.vault("get", key).status == 3 })
        func look() throws {
          for command in [["get", key], ["touch", key], ["get", key, "--min-validity", "1s"]] {
            expectFailure(try session.command([Project.vault] + command), 3)
          }
          let entries = try session.vault("list", "--json").json["entries"] as? [[String: Any]]
          #expect(entries?.map { $0["key"] as? String } == ["Chat.other"])
          #expect(try session.get("Chat.other") == Data("tok".utf8))
          #expect(try session.vault("get", "Chat.other", "--min-validity", "2h").status == 3)
          let lease = try RawConnection(session.socket).call("org.vaultd.Vault.Refresh", ["key": key])
          #expect(lease.parameters["lease"] != nil && lease.parameters["secret"] == nil)
        }
        try look()
        try daemon.stop()
        _ = try session.daemon("--store", store == .file ? "file" : "secret-service")
        try look()
        expectSuccess(try session.vault("set", key, input: Data("new".utf8)))
        #expect(try session.get(key) == Data("new".utf8))
      }
    }

    @Test("no time that a call names brings the daemon down or makes a token that never ends by mistake")
    func values() throws {
      try StoreUnderTest.file.run { session, daemon in
        var connection = try daemon.connect()
        func set(_ member: String, _ value: String) throws -> Answer? {
          let parameters = #"{"key":"Chat.token","secret":"s","\#(member)":\#(value)}"#
          connection.sendFrame(#"{"method":"org.vaultd.Vault.Set","parameters":\#(parameters)}"#)
          return try connection.answer()
        }
        for member in ["expiresIn", "idle", "expires"] {
          let outside = [
            "0", "-1", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
            "253402300800000",
          ]
          for value in outside {
            let answer = try set(member, value)
            #expect(answer?.error == "org.vaultd.Vault.InvalidArgument", "\(member) \(value)")
            #expect(answer?.parameters["argument"] as? String == member)
          }
          for value in ["1.0", "1.5", "1e3", "\"10\"", "\"10 \"", "true", "[]"] {
            #expect(
              try set(member, value)?.error == "org.varlink.service.InvalidParameter", "\(member) \(value)")
          }
          // What is no number in JSON is no call.
          for value in ["NaN", "Infinity", "1_000", "+1", "0x10", "01"] {
            #expect(try set(member, value)?.error == "org.vaultd.Vault.InvalidArgument", "\(member) \(value)")
            #expect(try connection.answer() == nil)
            connection = try daemon.connect()
          }
        }
        #expect(try set("expires", "1")?.error == "org.vaultd.Vault.InvalidArgument")
        #expect(try session.get(key) == nil)

        // The longest that there are.
        let longest = [
          ("expiresIn", "31556952000"), ("idle", "31556952000"), ("expires", "253402300799"),
        ]
        for (member, value) in longest {
          #expect(try set(member, value)?.error == nil, "\(member) \(value)")
          #expect(try session.get(key) == Data("s".utf8))
        }
        #expect(try set("expires", "253402300800")?.error == "org.vaultd.Vault.InvalidArgument")
        #expect(try set("expiresIn", "31556952001")?.error == "org.vaultd.Vault.InvalidArgument")
        #expect(daemon.isRunning)
      }
    }

    @Test("the loser of two changes does not undo the winner's", arguments: StoreUnderTest.allCases)
    func versions(store: StoreUnderTest) throws {
      try store.run { session, daemon in
        let connection = try daemon.connect()
        func set(_ secret: String, _ version: Int) throws -> Answer {
          try connection.call(
            "org.vaultd.Vault.Set", ["key": key, "secret": secret, "ifVersion": version])
        }
        func version(_ answer: Answer) throws -> Int {
          try #require((answer.parameters["entry"] as? [String: Any])?["version"] as? Int)
        }
        let first = try version(try set("1", 0))
        #expect(try set("again", 0).error == "org.vaultd.Vault.Conflict")
        let second = try version(try set("2", first))
        #expect(second > first)
        for answer in [
          try set("3", first),
          try connection.call("org.vaultd.Vault.Clear", ["key": key, "ifVersion": first]),
        ] {
          #expect(answer.error == "org.vaultd.Vault.Conflict")
          #expect(answer.parameters["version"] as? Int == second)
        }
        #expect(try session.get(key) == Data("2".utf8))
        let cleared = try connection.call("org.vaultd.Vault.Clear", ["key": key, "ifVersion": second])
        #expect(cleared.error == nil)
        #expect(try version(try set("4", 0)) > second)
      }
    }
  }
}
