// `vault renew` with the real daemon: one caller renews, the others get what it brought, and nobody is left waiting for
// one that failed.

import Foundation
import Glibc
import Spawning
import Testing

extension EndToEnd {
  @Suite("vault renew")
  struct CommandRenewTests {
    @Test(
      "a valid token is written, one that is not long enough valid is renewed, and the first log-in is a renewal"
    )
    func renews() throws {
      try StoreUnderTest.file.run { session, _ in
        let first = try session.vault("renew", "Chat.token", "--expires-in", "1h", "--", "echo", "first")
        expectSuccess(first)
        #expect(first.text == "first")
        #expect(try session.vault("renew", "Chat.token", "--", "echo", "second").text == "first")
        #expect(
          try session.vault("renew", "Chat.token", "--min-validity", "30m", "--", "echo", "second").text
            == "first")
        #expect(
          try session.vault("renew", "Chat.token", "--min-validity", "2h", "--", "echo", "second").text
            == "second")
        #expect(try session.get("Chat.token") == Data("second".utf8))
        let alice = try session.vault("renew", "Chat.token", "--account", "alice", "--", "echo", "alice's")
        #expect(alice.text == "alice's")
        #expect(try session.get("Chat.token") == Data("second".utf8))
      }
    }

    @Test(
      "of twenty callers at once one runs the command, and all get its token",
      arguments: StoreUnderTest.allCases)
    func together(store: StoreUnderTest) throws {
      try store.run { session, _ in
        // Refuses to be used twice, as a server does that rotates tokens.
        let fetch = "mkdir \(session.home)/used && echo token-$$"
        let script = """
          for i in $(seq 20); do
            "$0" renew Chat.token --expires-in 1h -- sh -c '\(fetch)' & waiting="$waiting $!"
          done
          for process in $waiting; do wait $process || echo failed; done
          """
        let ended = try session.command(["sh", "-c", script, Project.vault])
        let tokens = ended.text.split(separator: "token-").map(String.init)
        #expect(tokens.count == 20 && Set(tokens).count == 1, "\(ended.text)\(ended.errors)")
        #expect(try session.get("Chat.token") == Data("token-\(tokens[0])".utf8))
      }
    }

    @Test("a command that fails hands the turn to the next caller, and leaves an older token as it was")
    func fails() throws {
      try StoreUnderTest.file.run { session, _ in
        expectFailure(try session.vault("renew", "Chat.token", "--", "sh", "-c", "echo new; exit 42"), 42)
        expectFailure(try session.vault("get", "Chat.token"), 1)
        expectSuccess(try session.vault("set", "Chat.token", "--expires-in", "1h", input: Data("old".utf8)))
        expectFailure(try session.vault("renew", "Chat.token", "--min-validity", "2h", "--", "true"), 2)
        expectFailure(
          try session.vault("renew", "Chat.token", "--min-validity", "2h", "--", "none-such"), 127)
        #expect(try session.get("Chat.token") == Data("old".utf8))
        #expect(
          try session.vault("renew", "Chat.token", "--min-validity", "2h", "--", "echo", "new").text == "new")
      }
    }

    @Test("one that is killed leaves its turn to the next at once")
    func killed() throws {
      try StoreUnderTest.file.run { session, _ in
        let holder = try session.start(
          "holder", [Project.vault, "renew", "Chat.token", "--", "sh", "-c", "echo $$ >&2; exec sleep 60"])
        let command = try #require(
          eventually { pid_t(session.log("holder").trimmingCharacters(in: .whitespacesAndNewlines)) })
        holder.kill(SIGKILL)
        try holder.wait()
        let start = ContinuousClock.now
        #expect(try session.vault("renew", "Chat.token", "--", "echo", "new").text == "new")
        #expect(ContinuousClock.now - start < .seconds(10))
        kill(command, SIGKILL)
      }
    }

    @Test("6: what somebody else sets meanwhile is not overwritten, and the older command's token is lost")
    func overtaken() throws {
      try StoreUnderTest.file.run { session, _ in
        let script = "printf other | \"$0\" set Chat.token; echo mine"
        expectFailure(
          try session.vault("renew", "Chat.token", "--", "sh", "-c", script, Project.vault), 6)
        #expect(try session.get("Chat.token") == Data("other".utf8))
      }
    }

    @Test("a daemon that was started anew meanwhile stores the token, where nobody else has")
    func restarted() throws {
      try ThrowawaySession.with { session in
        let first = try session.daemonWithFile()
        let script = "echo READY >&2; until [ -e \(session.home)/go ]; do sleep 0.01; done; echo new"
        let renewal = try session.start(
          "renewal", [Project.vault, "renew", "Chat.token", "--", "sh", "-c", script])
        #expect(becomesTrue { session.log("renewal").contains("READY") })
        try first.stop()
        _ = try session.daemon("--store", "file")
        try Data().write(to: URL(filePath: session.home + "/go"))
        #expect(try renewal.wait() == 0, "\(session.log("renewal"))")
        #expect(session.log("renewal") == "READY\nnew")
        #expect(try session.get("Chat.token") == Data("new".utf8))
      }
    }

    @Test("a locked vault runs no command")
    func locked() throws {
      try StoreUnderTest.file.run { session, _ in
        expectSuccess(try session.vault("lock"))
        expectFailure(try session.vault("renew", "Chat.token", "--", "touch", session.home + "/ran"), 4)
        #expect(!FileManager.default.fileExists(atPath: session.home + "/ran"))
      }
    }

    @Test("what the terminal sends reaches the command, and ends both where it ends the command")
    func interrupted() throws {
      try StoreUnderTest.file.run { session, _ in
        // Types ^C into a terminal of the command's own, once it is ready; prints how the command ended.
        let typist = """
          import os, pty, sys
          process, terminal = pty.fork()
          if process == 0: os.execv(sys.argv[1], sys.argv[1:])
          screen = b""
          while b"READY" not in screen: screen += os.read(terminal, 1000)
          os.write(terminal, b"\\x03")
          try:
              while os.read(terminal, 1000): pass
          except OSError: pass
          status = os.waitpid(process, 0)[1]
          print(os.waitstatus_to_exitcode(status))
          """
        func type(_ script: String) throws -> Ended {
          try session.command([
            "/usr/bin/python3", "-c", typist, Project.vault, "renew", "Chat.token", "--", "sh", "-c", script,
          ])
        }
        let ended = try type("echo READY >&2; exec sleep 60")
        #expect(ended.text == "-2\n", "\(ended.errors)")
        expectFailure(try session.vault("get", "Chat.token"), 1)
        let handled = try type(
          "trap 'got=x' INT; echo READY >&2; until [ $got ]; do sleep 0.01; done; echo $got")
        #expect(handled.text == "0\n", "\(handled.errors)")
        #expect(try session.get("Chat.token") == Data("x".utf8))
      }
    }
  }
}
