// Bytes in and out of the command, and its words for people.

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("The command line")
  struct CommandLineTests {
    @Test("one line end at the end of the input is dropped, unless --raw")
    func lineEnds() throws {
      try StoreUnderTest.file.run { session, _ in
        for (input, kept) in [
          ("tok", "tok"), ("tok\n", "tok"), ("tok\r\n", "tok"), ("a\nb\n", "a\nb"), ("tok\n\n", "tok\n"),
          ("tok\r", "tok\r"),
        ] {
          expectSuccess(try session.vault("set", "Line.end", input: Data(input.utf8)))
          #expect(try session.get("Line.end") == Data(kept.utf8))
          expectSuccess(try session.vault("set", "Line.end", "--raw", input: Data(input.utf8)))
          #expect(try session.get("Line.end") == Data(input.utf8))
        }
      }
    }

    @Test("input of no bytes destroys no token, unless that is allowed")
    func empty() throws {
      try StoreUnderTest.file.run { session, _ in
        try session.set("Chat.token", Data("kept".utf8))
        expectFailure(try session.vault("set", "Chat.token"), 2)
        #expect(try session.get("Chat.token") == Data("kept".utf8))
        expectSuccess(try session.vault("set", "Chat.token", "--allow-empty"))
        #expect(try session.get("Chat.token") == Data())
      }
    }

    @Test("a secret on the command line is refused, with the way that is right")
    func secretAsArgument() throws {
      try ThrowawaySession.with { session in
        let ended = try session.vault("set", "Chat.token", "M4RK3R")
        expectFailure(ended, 2)
        #expect(!ended.errors.contains("M4RK3R"))
        #expect(ended.errors.contains("standard input") || ended.errors.contains("|"))
      }
    }

    @Test("on a terminal get ends the line; elsewhere it prints the secret and nothing else")
    func terminal() throws {
      try StoreUnderTest.file.run { session, _ in
        try session.set("Chat.token", Data("tok".utf8))
        let onTerminal = try session.command(
          ["script", "--quiet", "--return", "--command", "\(Project.vault) get Chat.token", "/dev/null"])
        #expect(onTerminal.text == "tok\r\n")
        #expect(try session.vault("get", "Chat.token").text == "tok")
      }
    }

    @Test("get --json is one flat object on one line")
    func json() throws {
      try StoreUnderTest.file.run { session, _ in
        try session.set("Chat.token", Data("\"quoted\" \u{1F511}\n".utf8), account: "alice")
        let ended = try session.vault("get", "Chat.token", "--account", "alice", "--json")
        #expect(ended.text.hasSuffix("}\n"))
        #expect(ended.text.filter { $0 == "\n" }.count == 1)
        #expect(ended.json["secret"] as? String == "\"quoted\" \u{1F511}\n")
        #expect(ended.json["key"] as? String == "Chat.token")
        #expect(ended.json["account"] as? String == "alice")
        #expect(ended.json["untilLogout"] as? Bool == false)
        let set = try session.vault("set", "Chat.token", "--json", input: Data("x".utf8)).json
        #expect(set["key"] as? String == "Chat.token")
        #expect(set["secret"] == nil)
        let cleared = try session.vault("clear", "Chat.token", "--json").json
        #expect(cleared["cleared"] as? Bool == true)
        #expect(cleared["pending"] as? Bool == false)
      }
    }

    @Test("status says what is where, and starts nothing")
    func status() throws {
      try StoreUnderTest.file.run { session, daemon in
        let status = try session.vault("status", "--json").json
        #expect(status["pid"] as? Int == Int(daemon.pid))
        #expect(status["preference"] as? String == "file")
        let stores = status["stores"] as? [[String: Any]] ?? []
        let file = stores.first { $0["store"] as? String == "file" }
        #expect(file?["state"] as? String == "available")
        let protections = status["protections"] as? [String: Bool] ?? [:]
        #expect(!protections.isEmpty)
        expectSuccess(try session.vault("status"))
        try daemon.stop()
        expectFailure(try session.vault("status", environment: ["VAULTD_AUTOSTART": "yes"]), 8)
        #expect(session.autostarted().isEmpty)
      }
    }

    @Test("verify authenticates the file")
    func verify() throws {
      try StoreUnderTest.file.run { session, _ in
        try session.set("Chat.token", Data("tok".utf8))
        let verified = try session.vault("verify", "--json").json
        #expect(verified["sound"] as? Bool == true)
        #expect(verified["records"] as? Int == 1)
        #expect(verified["damaged"] as? Int == 0)
        expectSuccess(try session.vault("verify"))
      }
    }

    @Test("help names every command; a wrong word gets the nearest right one")
    func help() throws {
      try ThrowawaySession.with { session in
        let help = try session.vault("help")
        expectSuccess(help)
        let commands = [
          "get", "set", "clear", "logout", "list", "status", "init", "lock", "unlock", "slot", "verify",
        ]
        for command in commands {
          #expect(help.text.contains("vault \(command)"), "\(command)")
          let one = try session.vault("help", command)
          expectSuccess(one)
          #expect(one.text.contains("vault \(command)"))
          #expect(try session.vault(command, "--help").text == one.text)
        }
        #expect(try session.vault("--help").text == help.text)
        #expect(try session.vault("--version").text.contains("0.1.0"))
        #expect(try session.vault("claer", "Chat.token").errors.contains("clear"))
        #expect(try session.vault("get", "Chat.token", "--acount", "x").errors.contains("--account"))
      }
    }

    @Test(
      "vault is one file that needs no shared library",
      .enabled(if: Project.isReleaseBuild, "of the release build"))
    func isStatic() throws {
      let needed = try run(["readelf", "--dynamic", Project.vault], environment: ["PATH": "/usr/bin:/bin"])
      #expect(needed.status == 0 && !needed.text.contains("NEEDED"))
    }
  }
}
