// Many programs at once on a real keyring: no change gets lost between them (case "Lost update").

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("Many at once on a keyring")
  struct KeyringManyTests {
    @Test("thirty programs that set a key each at once leave thirty keys in gnome-keyring")
    func thirtyPrograms() throws {
      try ThrowawaySession.with(.keyring) { session in
        _ = try session.daemon("--store", "secret-service", "--timeout", "60")
        let children = try (0..<30).map { number in
          try session.start(
            "set\(number)", ["sh", "-c", "printf 's\(number)' | \(Project.vault) set --raw Many.k\(number)"])
        }
        for (number, child) in children.enumerated() {
          #expect(try child.wait(seconds: 60) == 0, "\(session.log("set\(number)"))")
        }
        for number in 0..<30 { #expect(try session.get("Many.k\(number)") == Data("s\(number)".utf8)) }
        let found = try session.command(["secret-tool", "search", "--all", "namespace", "Many"])
        let names = found.errors.split(separator: "\n").filter { $0.hasPrefix("attribute.name = ") }
        #expect(Set(names).count == 30)
        #expect(names.count == 30)
      }
    }

    @Test("fifty sets of one key at once leave one item, with the value of one of them")
    func oneKey() throws {
      try ThrowawaySession.with(.keyring) { session in
        let daemon = try session.daemon("--store", "secret-service", "--timeout", "60")
        let connections = try (0..<50).map { _ in try daemon.connect() }
        for (number, connection) in connections.enumerated() {
          try connection.send("org.vaultd.Vault.Set", ["key": "Many.one", "secret": "s\(number)"])
        }
        for connection in connections { #expect(try connection.answer(seconds: 60)?.error == nil) }
        let value = try #require(try session.get("Many.one"))
        #expect(Set((0..<50).map { Data("s\($0)".utf8) }).contains(value))
        let found = try session.command(["secret-tool", "search", "--all", "namespace", "Many"])
        #expect(found.errors.split(separator: "\n").filter { $0.hasPrefix("attribute.name = ") }.count == 1)
      }
    }
  }
}
