// The clients that docs/protocol.md shows to people of other languages: they are what the page says, they work, and
// they tell nothing to somebody else's program on the socket.

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("The clients of the protocol's page")
  struct ProtocolExampleTests {
    /// A client, by the file that it is in.
    enum Example: String, CaseIterable, CustomTestStringConvertible {
      case python = "client.py"
      case c = "client.c"

      var testDescription: String { rawValue }
      var path: String { "docs/examples/\(rawValue)" }
      var language: String { String(rawValue.split(separator: ".")[1]) }

      /// What runs it: in C it is built first, so that nothing undefined goes unnoticed.
      func command(_ session: ThrowawaySession) throws -> [String] {
        switch self {
        case .python: return ["/usr/bin/python3", "\(Project.root)/\(path)"]
        case .c:
          let program = session.folder + "/client"
          let built = try session.command([
            "gcc", "-Wall", "-Wextra", "-Werror", "-O1", "-fsanitize=address,undefined",
            "-fno-sanitize-recover", "-o", program, "\(Project.root)/\(path)",
          ])
          guard built.status == 0 else { throw HarnessFailure("gcc: \(built.errors)") }
          return [program]
        }
      }
    }

    @Test("the page shows each as it is in its file, and each is short", arguments: Example.allCases)
    func quoted(example: Example) throws {
      let text = try Project.text(example.path)
      let fence = example == .python ? "python" : "c"
      #expect(try Project.text("docs/protocol.md").contains("```\(fence)\n\(text)```\n"))
      #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 80)
    }

    @Test("it sets, gets and clears a token of any bytes", arguments: Example.allCases)
    func client(example: Example) throws {
      try StoreUnderTest.file.run { session, _ in
        let client = try example.command(session)
        func run(_ words: String..., input: Data = Data()) throws -> Ended {
          try session.command(client + words, input: input)
        }
        let keys = ["Back4Gram.sessionToken", #"Chat."quoted\back"#, "Chat.schlüssel \u{1F511}"]
        let secrets = [
          Data("r:cbca71d2==".utf8), Data((0...255).map { $0 }), Data("\"\\/\n\r\t\u{1}\u{1F511}".utf8),
          Data(),
          Data([0xFF]), Data([0, 0xFF]), randomBytes(1_048_576),
        ]
        for (index, secret) in secrets.enumerated() {
          let key = keys[index % keys.count]
          expectSuccess(try run("set", key, input: secret))
          #expect(try session.get(key) == secret)
          let ended = try run("get", key)
          expectSuccess(ended)
          #expect(ended.output == secret)
        }
        expectSuccess(try run("clear", keys[0]))
        let missing = try run("get", keys[0])
        #expect(missing.status != 0 && missing.output.isEmpty && missing.errors.contains("NotFound"))
        let tooLarge = try run("set", keys[0], input: Data(repeating: 65, count: 1_048_577))
        #expect(tooLarge.status != 0 && tooLarge.errors.contains("TooLarge"))
        #expect(try session.get(keys[0]) == nil)
        // A word that is none of its own is never taken for another.
        _ = try run("claer", keys[1])
        #expect(try session.get(keys[1]) != nil)
      }
    }

    @Test("the one in Python tells accounts apart, and lists")
    func accounts() throws {
      try StoreUnderTest.file.run { session, _ in
        let client = try Example.python.command(session)
        expectSuccess(try session.command(client + ["set", "Chat.token", "alice"], input: Data("a".utf8)))
        expectSuccess(try session.command(client + ["set", "Chat.token"], input: Data("none".utf8)))
        #expect(try session.command(client + ["get", "Chat.token", "alice"]).text == "a")
        #expect(try session.command(client + ["get", "Chat.token"]).text == "none")
        #expect(try session.command(client + ["list"]).text == "Chat.token\nChat.token\n")
        expectSuccess(try session.command(client + ["clear", "Chat.token", "alice"]))
        #expect(try session.get("Chat.token") == Data("none".utf8))
      }
    }

    @Test("the one in Python renews a token that is over, once for all that ask, and watches")
    func renews() throws {
      try StoreUnderTest.file.run { session, _ in
        let program = """
          import sys, threading
          sys.path.insert(0, "\(Project.root)/docs/examples")
          from client import Refused, Vault
          watched = Vault().replies("Watch", more=True, namespace="Chat")
          assert next(watched) == {}
          made, got = [], []
          def make():
              made.append(1)
              return b"token"
          def ask():
              got.append(Vault().renew("Chat.token", make, expiresIn=3600, label="L"))
          askers = [threading.Thread(target=ask) for _ in range(10)]
          for asker in askers: asker.start()
          for asker in askers: asker.join()
          assert made == [1] and got == [b"token"] * 10, (made, got)
          event = next(watched)
          assert event["event"] == "set" and event["key"] == "Chat.token", event
          vault = Vault()
          assert vault.get("Chat.token", min_validity=3000) == b"token"
          for refused, call in [
              ("Expired", lambda: vault.get("Chat.token", min_validity=4000)),
              ("Conflict", lambda: vault.set("Chat.token", b"other", ifVersion=1)),
              ("NotFound", lambda: vault.get("Chat.none")),
          ]:
              try: call()
              except Refused as error: assert error.args[0] == refused, error
              else: raise AssertionError(refused)
          def fail(): raise KeyError("no network")
          try: vault.renew("Chat.other", fail)
          except KeyError: pass
          assert vault.renew("Chat.other", lambda: b"next") == b"next"
          print("OK")
          """
        let ended = try session.command(["/usr/bin/python3", "-B", "-c", program])
        #expect(ended.text == "OK\n", "\(ended.errors)")
      }
    }

    @Test("another user's program on the socket is told nothing", .enabled(if: geteuid() == 0, "needs root"))
    func foreign() throws {
      try ThrowawaySession.with { session in
        let folder = "/tmp/vault-e2e-" + UUID().uuidString.prefix(8).lowercased()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        unsafe chmod(folder, 0o777)
        let program = """
          import os, socket
          os.setuid(65534)
          s = socket.socket(socket.AF_UNIX); s.bind('\(folder)/s'); s.listen()
          while True:
            c = s.accept()[0]; print('heard', len(c.recv(100000)), flush=True); c.close()
          """
        let listener = try session.start("foreign", ["/usr/bin/python3", "-c", program])
        defer { listener.end() }
        #expect(becomesTrue { FileManager.default.fileExists(atPath: folder + "/s") })
        for (count, example) in Example.allCases.enumerated() {
          let ended = try session.command(
            try example.command(session) + ["set", "Chat.token"], input: Data("token".utf8),
            environment: ["VAULTD_SOCKET": folder + "/s"])
          #expect(ended.status != 0)
          #expect(ended.errors.contains("another user's"), "\(ended.errors)")
          let heard = String(repeating: "heard 0\n", count: count + 1)
          #expect(becomesTrue { session.log("foreign") == heard }, "\(session.log("foreign"))")
        }
      }
    }

    @Test("a line of the shell is a client too: those of the page, as they are there")
    func lines() throws {
      let page = try Project.text("docs/protocol.md")
      let block = try #require(page.firstMatch(of: #/\n```sh\n((?:.*\n)*?)```\n/#)).1
      let lines = block.split(separator: "\n").map(String.init)
      #expect(lines.count == 2 && lines[0].contains("socat") && lines[1].contains("nc"))
      try StoreUnderTest.file.run { session, daemon in
        try session.set("Back4Gram.sessionToken", Data("r:cbca71d2".utf8))
        for shell in ["/bin/sh", "/bin/bash"] {
          let get = try session.command([shell, "-c", lines[0]])
          #expect(
            (get.json["parameters"] as? [String: Any])?["secret"] as? String == "r:cbca71d2", "\(get.errors)")
          let status = try session.command([shell, "-c", lines[1]])
          #expect((status.json["parameters"] as? [String: Any])?["pid"] as? Int == Int(daemon.pid))
        }
      }
    }
  }
}
