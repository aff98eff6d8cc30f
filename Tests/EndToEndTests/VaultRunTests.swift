// `vault run`: tokens in the environment of one program, which is then as if it had been started without the vault.

import Foundation
import Glibc
import Spawning
import Testing

extension EndToEnd {
  @Suite("vault run")
  struct VaultRunTests {
    @Test("the program has its tokens in its environment, byte for byte, and what it had before")
    func environment() throws {
      try StoreUnderTest.file.run { session, _ in
        let bytes = Data((1...255).map { $0 })
        try session.set("Back4Gram.sessionToken", Data("r:cbca71d2".utf8))
        try session.set("Back4Gram.refreshToken", bytes)
        let ended = try session.vault(
          "run", "--env", "BACK4GRAM_TOKEN=Back4Gram.sessionToken", "--env=OTHER=Back4Gram.refreshToken",
          "--",
          "/usr/bin/env", "-0", environment: ["OTHER": "old", "KEPT": "as it was"])
        expectSuccess(ended)
        let variables = ended.output.split(separator: 0)
        #expect(variables.contains(Data("BACK4GRAM_TOKEN=r:cbca71d2".utf8)))
        #expect(variables.contains(Data("OTHER=".utf8) + bytes))
        #expect(variables.contains(Data("KEPT=as it was".utf8)))
        #expect(variables.filter { $0.starts(with: Data("OTHER=".utf8)) }.count == 1)
      }
    }

    @Test("the tokens are of the account that is named")
    func account() throws {
      try StoreUnderTest.file.run { session, _ in
        try session.set("Chat.token", Data("none".utf8))
        try session.set("Chat.token", Data("alice's".utf8), account: "alice")
        for (flags, token) in [([], "none"), (["--account", "alice"], "alice's")] {
          let ended = try session.command(
            [Project.vault, "run"] + flags + ["--env", "T=Chat.token", "--", "sh", "-c", "printf %s \"$T\""])
          #expect(ended.text == token)
        }
      }
    }

    @Test("the token is in no command line, and in no environment but the program's own")
    func nowhereElse() throws {
      try StoreUnderTest.file.run { session, daemon in
        try session.set("Chat.token", Data("M4RK3R-run".utf8))
        // The pattern does not match itself, and who looks is given no token.
        let script =
          "echo /proc/$$/environ; env -u T grep -las 'M4RK[3]R-run' /proc/[0-9]*/environ /proc/[0-9]*/cmdline"
        let ended = try session.vault("run", "--env", "T=Chat.token", "--", "sh", "-c", script)
        let lines = ended.text.split(separator: "\n")
        #expect(lines.count == 2 && lines.first == lines.last, "\(lines)")
        #expect(!daemon.log.contains("M4RK3R"))
      }
    }

    @Test("its exit status is its own; one that a signal ends is 128 and the signal's number")
    func status() throws {
      try StoreUnderTest.file.run { session, _ in
        try session.set("Chat.token", Data("token".utf8))
        for (script, status) in [
          ("exit 0", 0), ("exit 42", 42), ("kill -KILL $$", 128 + 9), ("kill -SEGV $$", 128 + 11),
          ("yes | head -c 0; kill -PIPE $$", 128 + 13),
        ] as [(String, Int32)] {
          let ended = try session.vault("run", "--env", "T=Chat.token", "--", "sh", "-c", script)
          #expect(ended.status == status, "\(script)")
          #expect(ended.output.isEmpty && ended.errors.isEmpty)
        }
        expectFailure(try session.vault("run", "--env", "T=Chat.token", "--", "no-such-program"), 127)
        expectFailure(try session.vault("run", "--env", "T=Chat.token", "--", "/etc"), 126)
      }
    }

    @Test(
      "a signal reaches it, since it is the process that was started: nothing stands between, no zombie is left"
    )
    func signals() throws {
      try StoreUnderTest.file.run { session, _ in
        try session.set("Chat.token", Data("token".utf8))
        let script = "trap 'echo $T; exit 7' TERM; echo $$; while :; do sleep 0.01; done"
        let child = try session.start(
          "bot", [Project.vault, "run", "--env", "T=Chat.token", "--", "sh", "-c", script])
        #expect(becomesTrue { session.log("bot") == "\(child.pid)\n" })
        child.kill(SIGTERM)
        #expect(try child.wait() == 7)
        #expect(session.log("bot") == "\(child.pid)\ntoken\n")

        let stubborn = try session.start(
          "stubborn",
          [Project.vault, "run", "--env", "T=Chat.token", "--", "sh", "-c", "echo $$; exec sleep 60"])
        #expect(becomesTrue { session.log("stubborn") == "\(stubborn.pid)\n" })
        stubborn.kill(SIGKILL)
        #expect(try stubborn.wait() == 128 + 9)
      }
    }

    @Test("nothing is started unless every token can be had, and the status is that of get")
    func nothing() throws {
      try StoreUnderTest.file.run { session, _ in
        try session.set("Chat.token", Data("token".utf8))
        try session.set("Chat.binary", Data([0x61, 0, 0x62]))
        func attempt(_ second: String, _ status: Int32) throws {
          let ended = try session.vault(
            "run", "--env", "A=Chat.token", "--env", "B=\(second)", "--", "touch", session.home + "/started")
          expectFailure(ended, status)
          #expect(!FileManager.default.fileExists(atPath: session.home + "/started"))
        }
        try attempt("Chat.none", 1)
        try attempt("Chat.binary", 2)
        try attempt("nodot", 2)
        expectSuccess(try session.vault("lock"))
        try attempt("Chat.token", 4)
      }
    }
  }
}
