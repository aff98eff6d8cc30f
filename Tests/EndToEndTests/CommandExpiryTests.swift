// Ends of tokens and versions, as somebody meets them at the command line: exit statuses 3 and 6, what list shows, and
// that nothing is changed where it must not be.

import Foundation
import Glibc
import Spawning
import Testing

extension EndToEnd {
  @Suite("Expiry and versions at the command line")
  struct CommandExpiryTests {
    @Test("3: a token whose time is over is nobody's any more, and standard output is empty")
    func expired() throws {
      try StoreUnderTest.file.run { session, _ in
        expectSuccess(
          try session.vault("set", "Chat.token", "--expires-in", "1s", input: Data("M4RK3R".utf8)))
        let isOver = try becomesTrue { try session.vault("get", "Chat.token").status == 3 }
        #expect(isOver)
        expectFailure(try session.vault("get", "Chat.token"), 3)
        expectFailure(try session.vault("get", "Chat.token", "--json"), 3)
        expectFailure(try session.vault("touch", "Chat.token"), 3)
        expectFailure(
          try session.vault("run", "--env", "T=Chat.token", "--", "touch", session.home + "/started"), 3)
        #expect(!FileManager.default.fileExists(atPath: session.home + "/started"))
        #expect(!(try session.vault("list", "--json").text.contains("M4RK3R")))
        // Setting it anew makes it good again; clearing it makes it nothing.
        try session.set("Chat.token", Data("new".utf8))
        #expect(try session.get("Chat.token") == Data("new".utf8))
        expectSuccess(try session.vault("clear", "Chat.token"))
        expectFailure(try session.vault("get", "Chat.token"), 1)
      }
    }

    @Test("--min-validity is as if the token were over where less is left of it")
    func minValidity() throws {
      try StoreUnderTest.file.run { session, _ in
        expectSuccess(try session.vault("set", "Chat.token", "--expires-in", "1h", input: Data("token".utf8)))
        #expect(try session.vault("get", "Chat.token", "--min-validity", "59m").text == "token")
        expectFailure(try session.vault("get", "Chat.token", "--min-validity", "61m"), 3)
        #expect(try session.vault("get", "Chat.token").text == "token")
        try session.set("Chat.forever", Data("token".utf8))
        #expect(try session.vault("get", "Chat.forever", "--min-validity", "52w").text == "token")
      }
    }

    @Test("every way to say when a token is over is what list shows")
    func ways() throws {
      try StoreUnderTest.file.run { session, _ in
        func set(_ key: String, _ flags: String..., input: String = "token") throws -> [String: Any] {
          let ended = try session.command(
            [Project.vault, "set", key, "--json"] + flags, input: Data(input.utf8))
          expectSuccess(ended)
          return ended.json
        }
        let now = Int(Date.now.timeIntervalSince1970)
        let jwt = "eyJhbGciOiJub25lIn0.eyJleHAiOjQxMDI0NDQ4MDB9."
        #expect(try set("Chat.a", "--expires-at", "2100-01-01T00:00:00Z")["expires"] as? Int == 4_102_444_800)
        #expect(try set("Chat.b", "--expires-at", "@4102444800")["expires"] as? Int == 4_102_444_800)
        #expect(try set("Chat.c", "--expires-from-jwt", input: jwt)["expires"] as? Int == 4_102_444_800)
        let soon = try #require(try set("Chat.d", "--expires-in", "2h")["expires"] as? Int)
        #expect((now + 7_199...now + 7_230).contains(soon))
        #expect(try set("Chat.e", "--idle", "30m")["idle"] as? Int == 1_800)
        #expect(try set("Chat.f")["expires"] == nil)

        let rows = try session.vault("list").text.split(separator: "\n").map {
          $0.split(separator: " ", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let shown = Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
        #expect(shown["Chat.d"]?.hasPrefix("in 2 h") == true, "\(rows)")
        #expect(shown["Chat.e"]?.hasPrefix("30 min after use") == true, "\(rows)")
        #expect(shown["Chat.f"]?.hasPrefix("never") == true, "\(rows)")
        let listed = try session.vault("list", "Chat", "--json").json["entries"] as? [[String: Any]] ?? []
        #expect(listed.first { $0["key"] as? String == "Chat.c" }?["expires"] as? Int == 4_102_444_800)

        for flags in [
          ["--expires-at", "@1"], ["--expires-at", "2020-01-01T00:00:00Z"],
          ["--expires-in", "1h", "--expires-at", "@4102444800"],
        ] {
          expectFailure(
            try session.command([Project.vault, "set", "Chat.f"] + flags, input: Data("other".utf8)), 2)
        }
        #expect(try session.get("Chat.f") == Data("token".utf8))
      }
    }

    @Test("touch starts the idle time anew and reads nothing")
    func touch() throws {
      try StoreUnderTest.file.run { session, _ in
        expectSuccess(try session.vault("set", "Chat.token", "--idle", "1h", input: Data("M4RK3R".utf8)))
        let silent = try session.vault("touch", "Chat.token")
        #expect(silent.status == 0 && silent.output.isEmpty && silent.errors.isEmpty)
        let touched = try session.vault("touch", "Chat.token", "--json")
        #expect(touched.json["idle"] as? Int == 3_600 && touched.json["key"] as? String == "Chat.token")
        #expect(!touched.text.contains("M4RK3R"))
        expectFailure(try session.vault("touch", "Chat.none"), 1)
      }
    }

    @Test("6: a version that is not the present one changes nothing, whether it is to be set or cleared")
    func conflict() throws {
      try StoreUnderTest.file.run { session, _ in
        func set(_ value: String, _ version: Int) throws -> Ended {
          try session.vault(
            "set", "Chat.token", "--json", "--if-version", String(version), input: Data(value.utf8))
        }
        let first = try #require(try set("one", 0).json["version"] as? Int)
        expectFailure(try set("zero", 0), 6)
        let second = try #require(try set("two", first).json["version"] as? Int)
        #expect(second > first)
        expectFailure(try set("late", first), 6)
        let refused = try session.vault("clear", "Chat.token", "--if-version", String(first))
        expectFailure(refused, 6)
        #expect(refused.errors.contains(String(second)))
        #expect(try session.get("Chat.token") == Data("two".utf8))
        expectSuccess(try session.vault("clear", "Chat.token", "--if-version", String(second)))
        let third = try #require(try set("three", 0).json["version"] as? Int)
        #expect(third > second)
      }
    }
  }
}
