// The example `back4gram` with a real daemon, a real store, and a Parse Server's endpoint on loopback.

import Foundation
import Glibc
import Spawning
import Testing

extension EndToEnd {
  @Suite("back4gram stays logged in")
  struct Back4GramTests {
    private static let key = "Back4Gram.sessionToken"
    private static let password = Data("s3cr3t & pass\n".utf8)

    private func environment(_ service: ChatService, _ version: String) -> [String: String] {
      [
        "BACK4GRAM_URL": service.address + "/graphql", "BACK4GRAM_APPLICATION_ID": "app",
        "BACK4GRAM_CLIENT_KEY": "client",
        "BACK4GRAM_PARSE_VERSION": String(version.prefix { $0 != "-" }),
      ]
    }

    private func back4gram(
      _ arguments: String..., input: Data = Data(), in session: ThrowawaySession,
      _ environment: [String: String]
    ) throws -> Ended {
      try session.command([Project.example("back4gram")] + arguments, input: input, environment: environment)
    }

    @Test(
      "log in, restart everything, still logged in, log out: nothing is left in either store or at the server",
      arguments: ["3.7.2", "3.8", "3.9", "3.9-viewer", "3.10", "4.4"], StoreUnderTest.allCases)
    func story(version: String, store: StoreUnderTest) throws {
      try store.run { session, daemon in
        let service = try ChatService("parse", version, in: session)
        let environment = environment(service, version)
        func back4gram(_ arguments: String..., input: Data = Data()) throws -> Ended {
          try session.command(
            [Project.example("back4gram")] + arguments, input: input, environment: environment)
        }
        expectFailure(try back4gram("whoami"), 1)
        expectFailure(try back4gram("login", "alice", input: Data("wrong\n".utf8)), 1)
        #expect(try session.get(Self.key) == nil)
        expectSuccess(try back4gram("login", "alice", input: Self.password))
        #expect(try session.get(Self.key)?.starts(with: Array("r:".utf8)) == true)
        try daemon.stop()
        _ = try session.daemon("--store", store == .file ? "file" : "secret-service")
        #expect(try back4gram("whoami").text == "alice\n")
        expectSuccess(try back4gram("logout"))
        #expect(try session.get(Self.key) == nil)
        #expect(try session.vault("list", "--json").json["entries"] as? [String] == [])
        if store == .secretService {
          #expect(
            try session.command(["secret-tool", "search", "--all", "namespace", "Back4Gram"]).output.isEmpty)
        }
        #expect(try service.look().sessions == 0)
        #expect(try back4gram("logout").text == "nobody was logged in\n")
      }
    }

    @Test("a token that the server calls invalid is cleared; one that cannot be read is not")
    func invalid() throws {
      try ThrowawaySession.with { session in
        _ = try session.daemonWithFile()
        let service = try ChatService("parse", "4.4", in: session)
        let environment = environment(service, "4.4")
        expectSuccess(try back4gram("login", "alice", input: Self.password, in: session, environment))
        expectSuccess(try session.vault("lock"))
        expectFailure(try back4gram("whoami", in: session, environment), 4)
        expectFailure(try back4gram("logout", in: session, environment), 4)
        #expect(try service.look().sessions == 1)
        expectSuccess(try session.vault("unlock"))
        #expect(try back4gram("whoami", in: session, environment).text == "alice\n")
        try service.expire()
        expectFailure(try back4gram("whoami", in: session, environment), 1)
        #expect(try session.get(Self.key) == nil)
      }
    }

    @Test("logout clears also when the server cannot be reached, and says so")
    func unreachable() throws {
      try ThrowawaySession.with { session in
        _ = try session.daemonWithFile()
        let service = try ChatService("parse", "4.4", in: session)
        let environment = environment(service, "4.4")
        expectSuccess(try back4gram("login", "alice", input: Self.password, in: session, environment))
        service.stop()
        expectFailure(try back4gram("whoami", in: session, environment), 69)
        #expect(try session.get(Self.key) != nil)
        let ended = try back4gram("logout", in: session, environment)
        #expect(ended.status == 69 && ended.text == "logged out\n" && ended.errors.contains("may live on"))
        #expect(try session.get(Self.key) == nil)
      }
    }

    @Test("the daemon is killed while the server answers: no step leaves a session behind or loses a token")
    func killed() throws {
      try ThrowawaySession.with { session in
        let daemon = try session.daemonWithFile()
        let service = try ChatService("parse", "4.4", in: session)
        let environment = environment(service, "4.4")
        let program = Project.example("back4gram")
        func during(_ arguments: [String], restart: Bool, _ daemon: DaemonUnderTest) throws -> (
          status: Int32, text: String
        ) {
          try service.hold()
          let held = try service.look().held
          let shell =
            ["/bin/sh", "-c", #"printf '%s\n' 's3cr3t & pass' | exec "$0" "$@""#, program] + arguments
          let example = try RunningExample(shell, environment: environment, in: session)
          try service.waitForHeld(held + 1)
          daemon.kill(SIGKILL)
          try daemon.wait()
          if restart { _ = try session.daemon("--store", "file") }
          try service.release()
          return try example.wait()
        }
        // Log-in, and no daemon when it is to be stored: the session is ended again.
        #expect(try during(["login", "alice"], restart: false, daemon).status == 8)
        #expect(try service.look().sessions == 0)
        // Log-in, and another daemon.
        var next = try session.daemon("--store", "file")
        #expect(try during(["login", "alice"], restart: true, next) == (0, "logged in as alice\n"))
        // The daemon of the step before is the session's last one.
        next = try session.restarted()
        #expect(try during(["whoami"], restart: false, next) == (0, "alice\n"))
        // Log-out: the server has ended the session, the token could not be cleared; the next log-out does.
        next = try session.daemon("--store", "file")
        #expect(try during(["logout"], restart: false, next).status == 8)
        #expect(try service.look().sessions == 0)
        _ = try session.daemon("--store", "file")
        #expect(try session.get(Self.key) != nil)
        expectSuccess(try back4gram("logout", in: session, environment))
        #expect(try session.get(Self.key) == nil)
      }
    }
  }
}

extension ThrowawaySession {
  /// Ends the daemon that runs and starts another on the same file.
  func restarted() throws -> DaemonUnderTest {
    let answer = try vault("status", "--json").json
    guard let pid = answer["pid"] as? Int else { throw HarnessFailure("no daemon to restart") }
    Glibc.kill(pid_t(pid), SIGKILL)
    guard becomesTrue({ (try? vault("status").status) == 8 }) else { throw HarnessFailure("it does not end") }
    return try daemon("--store", "file")
  }
}
