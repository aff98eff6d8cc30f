// `vault watch` with the real daemon: what happens is a line, at once; how it ends.

import Foundation
import Glibc
import Spawning
import Testing

extension EndToEnd {
  @Suite("vault watch")
  struct CommandWatchTests {
    /// Starts watching, and waits until it does: a key that nobody else has is set until its line is there.
    private func watch(
      _ session: ThrowawaySession, _ name: String, _ words: String..., probe: String
    ) throws -> Child {
      let child = try session.start(name, [Project.vault, "watch"] + words)
      let isThere = try becomesTrue {
        try session.set(probe, Data("probe".utf8))
        return session.log(name).contains(probe)
      }
      guard isThere else { throw HarnessFailure("nothing is watched: \(session.log(name))") }
      return child
    }

    /// What was told of keys other than the probe. What happens to a store may come at any time.
    private func lines(_ session: ThrowawaySession, _ name: String, after probe: String) -> [String] {
      session.log(name).split(separator: "\n").map(String.init).filter { line in
        !line.contains(probe) && line.contains(".")
      }
    }

    @Test("a change is a line at once; an interruption is a success", arguments: StoreUnderTest.allCases)
    func changes(store: StoreUnderTest) throws {
      try store.run { session, _ in
        let child = try watch(session, "watch", probe: "Probe.token")
        try session.set("Chat.token", Data("M4RK3R".utf8), account: "alice")
        expectSuccess(try session.vault("clear", "Chat.token", "--account", "alice"))
        #expect(becomesTrue { lines(session, "watch", after: "Probe").count >= 2 })
        let told = lines(session, "watch", after: "Probe")
        #expect(told.count == 2, "\(told)")
        #expect(told.first?.wholeMatch(of: /set +Chat\.token  account alice  version \d+/) != nil, "\(told)")
        #expect(told.last?.hasPrefix("cleared      Chat.token  account alice") == true, "\(told)")
        #expect(!session.log("watch").contains("M4RK3R"))
        child.kill(SIGINT)
        #expect(try child.wait() == 0)
      }
    }

    @Test("a lock and an unlock are told; 8: the daemon ends")
    func ends() throws {
      try StoreUnderTest.file.run { session, daemon in
        let child = try watch(session, "watch", "--json", probe: "Probe.token")
        expectSuccess(try session.vault("lock"))
        expectSuccess(try session.vault("unlock"))
        #expect(
          becomesTrue { session.log("watch").contains(#""event":"unlocked""#) }, "\(session.log("watch"))")
        #expect(session.log("watch").contains(#""event":"locked""#))
        try daemon.stop()
        #expect(try child.wait() == 8)
      }
    }

    @Test("a word narrows what is told: a namespace, a key, or both")
    func narrow() throws {
      try StoreUnderTest.file.run { session, _ in
        let namespace = try watch(session, "namespace", "Chat", probe: "Chat.probe")
        let either = try watch(session, "either", "com.example.Chat", probe: "com.example.Chat.probe")
        for key in ["Chat.a", "Chat2.a", "com.example.Chat", "com.example.Chat.a", "com.example.Chat.a.b"] {
          try session.set(key, Data("token".utf8))
        }
        // Changes are told in their order: with the last of them all are there.
        try session.set("Chat.end", Data("token".utf8))
        try session.set("com.example.Chat.end", Data("token".utf8))
        #expect(becomesTrue { session.log("namespace").contains("Chat.end") })
        #expect(becomesTrue { session.log("either").contains("Chat.end") })
        func keys(_ name: String) -> [String] {
          lines(session, name, after: "probe").map { String($0.split(separator: " ")[1]) }
        }
        #expect(keys("namespace") == ["Chat.a", "Chat.end"])
        #expect(keys("either") == ["com.example.Chat", "com.example.Chat.a", "com.example.Chat.end"])
        for child in [namespace, either] {
          child.kill(SIGTERM)
          #expect(try child.wait() == 0)
        }
      }
    }
  }
}
