// What a user does with tokens, for each store: the programs as they are shipped, the store as it is on a desktop.

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("Tokens in each store")
  struct StoreScenarioTests {
    @Test("a token is set, read, replaced, listed and cleared", arguments: StoreUnderTest.allCases)
    func lifeOfAToken(store: StoreUnderTest) throws {
      try store.run { session, daemon in
        let key = "Back4Gram.sessionToken"
        expectFailure(try session.vault("get", key), 1)

        expectSuccess(try session.vault("set", key, input: Data("r:cbca71d2\n".utf8)))
        #expect(try session.get(key) == Data("r:cbca71d2".utf8))

        let first = try session.vault("get", "--json", key).json
        expectSuccess(
          try session.vault("set", key, "--label", "Back4Gram on this machine", input: Data("r:new".utf8)))
        #expect(try session.get(key) == Data("r:new".utf8))
        let second = try session.vault("get", key, "--json").json
        #expect(second["secret"] as? String == "r:new")
        #expect(second["store"] as? String == store.rawValue)
        #expect(second["size"] as? Int == 5)
        #expect(second["label"] as? String == "Back4Gram on this machine")
        #expect(second["created"] as? Int == first["created"] as? Int)
        let versions = (first["version"] as? Int ?? .max, second["version"] as? Int ?? 0)
        #expect(versions.0 < versions.1)

        let listed = try session.vault("list", "Back4Gram")
        expectSuccess(listed)
        #expect(listed.text.contains(key))
        #expect(!listed.text.contains("r:new"))
        let entries = try session.vault("list", "--json").json["entries"] as? [[String: Any]] ?? []
        #expect(entries.count == 1)
        #expect(entries.first?["key"] as? String == key)
        #expect(entries.first?["secret"] == nil)

        expectSuccess(try session.vault("clear", key))
        expectFailure(try session.vault("get", key), 1)
        let again = try session.vault("clear", key)
        expectSuccess(again)
        #expect((again.text + again.errors).contains("nothing stored"))
        #expect((try session.vault("list", "--json").json["entries"] as? [Any])?.isEmpty == true)
        #expect(daemon.isRunning)
      }
    }

    @Test("logout clears its namespace and no neighbour", arguments: StoreUnderTest.allCases)
    func logout(store: StoreUnderTest) throws {
      try store.run { session, _ in
        let neighbours = [
          "Back4Gram2.sessionToken", "Back4Gram.sub.sessionToken", "Back4.Gram", "back4gram.sessionToken",
        ]
        for key in neighbours { try session.set(key, Data(key.utf8)) }
        try session.set("Back4Gram.sessionToken", Data("1".utf8))
        try session.set("Back4Gram.sessionToken", Data("2".utf8), account: "alice")
        try session.set("Back4Gram.refreshToken", Data("3".utf8), account: "alice")
        try session.set("Back4Gram.refreshToken", Data("4".utf8), account: "bob@example.org")

        let ofAlice = try session.vault("logout", "Back4Gram", "--account", "alice", "--json")
        expectSuccess(ofAlice)
        #expect(ofAlice.json["cleared"] as? Int == 2)
        #expect(ofAlice.json["pending"] as? Bool == false)
        #expect(try session.get("Back4Gram.sessionToken", account: "alice") == nil)
        #expect(try session.get("Back4Gram.sessionToken") == Data("1".utf8))
        #expect(try session.get("Back4Gram.refreshToken", account: "bob@example.org") == Data("4".utf8))

        let ofAll = try session.vault("logout", "Back4Gram")
        expectSuccess(ofAll)
        #expect(ofAll.text.contains("2"))
        #expect(try session.get("Back4Gram.sessionToken") == nil)
        #expect(try session.get("Back4Gram.refreshToken", account: "bob@example.org") == nil)
        for key in neighbours { #expect(try session.get(key) == Data(key.utf8)) }
        #expect(try session.vault("logout", "Back4Gram", "--json").json["cleared"] as? Int == 0)
      }
    }

    @Test(
      "accounts tell logins apart, and none is an account like any other", arguments: StoreUnderTest.allCases)
    func accounts(store: StoreUnderTest) throws {
      try store.run { session, _ in
        let accounts = [
          nil, "alice", "Alice", "bob@example.org", " ", "é", "e\u{301}", String(repeating: "a", count: 255),
        ]
        for account in accounts {
          try session.set("Chat.token", Data("of \(account ?? "")".utf8), account: account)
        }
        for account in accounts {
          #expect(try session.get("Chat.token", account: account) == Data("of \(account ?? "")".utf8))
        }
        #expect(try session.get("Chat.token", account: "") == Data("of ".utf8))
        #expect(try session.get("Chat.token", account: "nobody") == nil)
        expectSuccess(try session.vault("clear", "Chat.token"))
        #expect(try session.get("Chat.token") == nil)
        for account in accounts.dropFirst() {
          #expect(try session.get("Chat.token", account: account) != nil)
        }
      }
    }

    @Test("every byte comes back as it was given, up to 1 MiB", arguments: StoreUnderTest.allCases)
    func bytes(store: StoreUnderTest) throws {
      try store.run { session, daemon in
        let mebibyte = 1_048_576
        let secrets: [(String, Data)] = [
          ("Bytes.all", Data(0...255)),
          ("Bytes.none", Data()),
          ("Bytes.zero", Data([0])),
          ("Bytes.lineEnd", Data("a\r\nb\r\n".utf8)),
          ("Bytes.notText", Data([0x7f, 0x80, 0x81, 0xff])),
          ("Bytes.8191", randomBytes(8_191)), ("Bytes.8192", randomBytes(8_192)),
          ("Bytes.8193", randomBytes(8_193)),
          ("Bytes.mebibyte", randomBytes(mebibyte)),
          ("Bytes.longestEscapes", Data(repeating: 1, count: mebibyte)),
          ("Bytes.emoji", Data(String(repeating: "🔑", count: mebibyte / 4).utf8)),
        ]
        for (key, secret) in secrets { try session.set(key, secret) }
        for (key, secret) in secrets { #expect(try session.get(key) == secret, "\(key)") }

        expectFailure(
          try session.vault("set", "--raw", "Bytes.mebibyte", input: randomBytes(mebibyte + 1)), 12)
        #expect(try session.get("Bytes.mebibyte") == randomBytes(mebibyte))
        expectFailure(
          try session.vault("set", "--raw", "Bytes.tooLarge", input: randomBytes(mebibyte + 1)), 12)
        #expect(try session.get("Bytes.tooLarge") == nil)

        let all = try session.vault("get", "Bytes.all", "--json").json
        #expect(all["secretBase64"] as? String == Data(0...255).base64EncodedString())
        #expect(all["secret"] == nil)
        #expect(daemon.isRunning)
      }
    }

    @Test("keys are compared byte for byte and are never file names", arguments: StoreUnderTest.allCases)
    func keys(store: StoreUnderTest) throws {
      try store.run { session, daemon in
        let before = try filesUnder(session.folder)
        let keys = [
          "caf\u{E9}.token", "cafe\u{301}.token", "A.k", "a.k", "a b.c", "a_b.c", "a%2Fb.c", "a/b.c",
          "/etc/passwd.k", "x/./y", "~/x.y", "-n.a", "https://u@host:80/path.token", "🔑.🗝️", "İ.i", "ı.i",
          "a." + String(repeating: "k", count: 253), String(repeating: "é", count: 126) + ".ab",
        ]
        for key in keys { try session.set(key, Data(key.utf8)) }
        for key in keys { #expect(try session.get(key) == Data(key.utf8), "\(key)") }
        let listed = try session.vault("list", "--json").json["entries"] as? [[String: Any]] ?? []
        let names = listed.map { Array(($0["key"] as? String ?? "").utf8) }
        #expect(Set(names) == Set(keys.map { Array($0.utf8) }))
        #expect(names.count == keys.count)

        let refused = [
          "../../x", "../../x.y", ".", "..", "nodot", "a..b", ".a", "a.", "a. b", "a .b", "a.b\n",
          "a.\u{7f}b", "a.\u{85}b", "",
          "a." + String(repeating: "k", count: 254), String(repeating: "x", count: 4_095) + ".k",
        ]
        for key in refused {
          expectFailure(
            try session.command([Project.vault, "set", "--", key], input: Data("x".utf8)), 2, "\(key)")
          expectFailure(try session.command([Project.vault, "get", "--", key]), 2, "\(key)")
        }

        // Files come from the stores and the daemon; none is named after a key.
        let allowed = [session.data, session.home + "/.local/share/keyrings", session.runtime]
        for path in try filesUnder(session.folder).subtracting(before) {
          #expect(allowed.contains { path.hasPrefix($0) }, "\(path)")
          #expect(!path.contains("passwd") && !path.contains("token"), "\(path)")
        }
        #expect(daemon.isRunning)
      }
    }

    @Test("fifty sets at once are fifty tokens", arguments: StoreUnderTest.allCases)
    func manyAtOnce(store: StoreUnderTest) throws {
      try store.run { session, daemon in
        let connections = try (0..<50).map { _ in try daemon.connect() }
        for (number, connection) in connections.enumerated() {
          connection.sendFrame(
            #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"Many.k\#(number)","secret":"s\#(number)"}}"#
          )
        }
        for connection in connections { #expect(try connection.answer()?.error == nil) }
        for number in 0..<50 { #expect(try session.get("Many.k\(number)") == Data("s\(number)".utf8)) }
      }
    }

    @Test("many requests on one connection are answered in their order", arguments: StoreUnderTest.allCases)
    func order(store: StoreUnderTest) throws {
      try store.run { _, daemon in
        let connection = try daemon.connect()
        var frames = Data()
        for number in 0..<40 {
          frames +=
            Data(
              #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"Order.k","secret":"\#(number)"}}"#.utf8)
            + [0]
          frames += Data(#"{"method":"org.vaultd.Vault.Get","parameters":{"key":"Order.k"}}"#.utf8) + [0]
          frames +=
            Data(
              #"{"method":"org.vaultd.Vault.Set","oneway":true,"parameters":{"key":"Order.one","secret":"\#(number)"}}"#
                .utf8) + [0]
        }
        frames += Data(#"{"method":"org.vaultd.Vault.Get","parameters":{"key":"Order.one"}}"#.utf8) + [0]
        connection.send(frames)
        for number in 0..<40 {
          let set = try connection.answer()
          #expect(set?.error == nil && set?.parameters["entry"] != nil)
          #expect(try connection.answer()?.parameters["secret"] as? String == "\(number)")
        }
        #expect(try connection.answer()?.parameters["secret"] as? String == "39")
      }
    }

    @Test(
      "a daemon killed while it writes loses nothing that it acknowledged", arguments: StoreUnderTest.allCases
    )
    func killed(store: StoreUnderTest) throws {
      try store.run { session, first in
        var daemon = first
        for round in 0..<(store == .file ? 25 : 8) {
          let connection = try daemon.connect()
          var frames = Data()
          for number in 1...100 {
            frames +=
              Data(
                #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"Killed.k","secret":"\#(round * 1000 + number)"}}"#
                  .utf8) + [0]
          }
          connection.send(frames)
          var acknowledged = 0
          while acknowledged < 1 + round * 37 % 90, try connection.answer()?.error == nil {
            acknowledged += 1
          }
          daemon.kill(SIGKILL)
          // What had been answered before the end is in the socket still.
          while let answer = try connection.answer() { if answer.error == nil { acknowledged += 1 } }
          try daemon.wait()
          daemon = try session.daemon("--store", store == .file ? "file" : "secret-service")
          let value =
            try session.get("Killed.k").flatMap { Int(String(decoding: $0, as: UTF8.self)) } ?? round * 1000
          #expect((round * 1000 + acknowledged...round * 1000 + 100).contains(value), "\(acknowledged)")
        }
      }
    }

    @Test("tokens survive the end of the daemon, also by SIGKILL", arguments: StoreUnderTest.allCases)
    func restart(store: StoreUnderTest) throws {
      try store.run { session, daemon in
        try session.set("Kept.orderly", Data("1".utf8))
        #expect(try daemon.stop() == 0)
        let second = try session.daemon("--store", store == .file ? "file" : "secret-service")
        #expect(try session.get("Kept.orderly") == Data("1".utf8))
        try session.set("Kept.killed", Data("2".utf8))
        expectSuccess(try session.vault("clear", "Kept.orderly"))
        second.kill(SIGKILL)
        try second.wait()
        _ = try session.daemon("--store", store == .file ? "file" : "secret-service")
        #expect(try session.get("Kept.killed") == Data("2".utf8))
        #expect(try session.get("Kept.orderly") == nil)
      }
    }
  }
}

/// The paths of all files under a folder.
func filesUnder(_ folder: String) throws -> Set<String> {
  Set(
    (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []).map {
      "\(folder)/\($0)"
    })
}
