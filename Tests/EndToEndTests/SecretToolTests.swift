// What the vault keeps in the Secret Service are ordinary items: `secret-tool` reads what `vault` stored, and `vault`
// sees what `secret-tool` did, byte for byte.

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("Together with secret-tool")
  struct SecretToolTests {
    private let key = "Back4Gram.sessionToken"

    private func lookUp(_ session: ThrowawaySession, _ name: String = "sessionToken") throws -> Ended {
      try session.command(["secret-tool", "lookup", "namespace", "Back4Gram", "name", name])
    }

    private func store(_ session: ThrowawaySession, _ name: String, _ secret: Data, _ more: String...) throws
    {
      expectSuccess(
        try session.command(
          ["secret-tool", "store", "--label=by hand", "namespace", "Back4Gram", "name", name] + more,
          input: secret))
    }

    @Test("secret-tool prints what vault set, and nothing once vault cleared it")
    func readsOurs() throws {
      try StoreUnderTest.secretService.run { session, _ in
        for secret in [
          Data("r:cbca71d29d7601761b48ed01bbe9638d".utf8), Data("ü\nend\n".utf8), Data(1...255),
          randomBytes(100_000),
        ] {
          try session.set(key, secret)
          #expect(try lookUp(session).output == secret)
        }
        expectSuccess(try session.vault("clear", key))
        #expect(try lookUp(session).status == 1)
        #expect(try lookUp(session).output.isEmpty)
      }
    }

    @Test("vault reads what secret-tool stored with our attributes")
    func readsTheirs() throws {
      try StoreUnderTest.secretService.run { session, _ in
        try store(session, "made", Data("by hand\n".utf8))
        #expect(try session.get("Back4Gram.made") == Data("by hand\n".utf8))
        let entry = try session.vault("get", "Back4Gram.made", "--json").json
        #expect(entry["account"] as? String == "")
        #expect(entry["version"] as? Int ?? 0 > 1_600_000_000)
        let entries = try session.vault("list", "Back4Gram", "--json").json["entries"] as? [[String: Any]]
        #expect(entries?.map { $0["key"] as? String } == ["Back4Gram.made"])
        expectSuccess(try session.vault("clear", "Back4Gram.made"))
        #expect(try lookUp(session, "made").status == 1)
      }
    }

    @Test("vault sees within a second what secret-tool changed or removed")
    func seesChanges() throws {
      try StoreUnderTest.secretService.run { session, _ in
        try session.set(key, Data("ours".utf8))
        #expect(try session.get(key) == Data("ours".utf8))
        try store(session, "sessionToken", Data("theirs".utf8), "account", "")
        #expect(try becomesTrue(seconds: 1.5) { try session.get(key) == Data("theirs".utf8) })
        expectSuccess(
          try session.command(["secret-tool", "clear", "namespace", "Back4Gram", "name", "sessionToken"]))
        #expect(try becomesTrue(seconds: 1.5) { try session.vault("get", key).status == 1 })
      }
    }

    @Test("items of other programs are left alone")
    func leavesOthersAlone() throws {
      try StoreUnderTest.secretService.run { session, _ in
        expectSuccess(
          try session.command(
            ["secret-tool", "store", "--label=other", "application", "other", "name", "sessionToken"],
            input: Data("not ours".utf8)))
        try session.set(key, Data("ours".utf8))
        expectSuccess(try session.vault("logout", "Back4Gram"))
        let other = try session.command([
          "secret-tool", "lookup", "application", "other", "name", "sessionToken",
        ])
        #expect(other.output == Data("not ours".utf8))
      }
    }

    @Test("a person finds the key in the item's label, and no secret in label or attributes")
    func labels() throws {
      try StoreUnderTest.secretService.run { session, _ in
        try session.set(key, Data("M4RK3R".utf8), account: "alice")
        let found = try session.command(["secret-tool", "search", "--all", "namespace", "Back4Gram"])
        let described = (found.text + found.errors).split(separator: "\n").filter {
          !$0.hasPrefix("secret = ")
        }
        #expect(described.contains { $0.hasPrefix("label = ") && $0.contains("Back4Gram") })
        #expect(described.contains("attribute.account = alice"))
        #expect(!described.contains { $0.contains("M4RK3R") })
      }
    }
  }
}
