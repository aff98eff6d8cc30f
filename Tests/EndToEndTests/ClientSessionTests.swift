// The examples that renew what they have, `quickblox-session` and `stream-token`, with a real daemon and services on
// loopback: one renewal for any number of processes, whatever dies meanwhile.

import Foundation
import Glibc
import Spawning
import Testing

extension EndToEnd {
  @Suite("quickblox-session makes, keeps and renews one session")
  struct QuickBloxTests {
    private static let key = "QuickBlox.sessionToken"

    private func with(
      _ body: (ThrowawaySession, DaemonUnderTest, ChatService, [String: String]) throws -> Void
    ) throws {
      try ThrowawaySession.with { session in
        let daemon = try session.daemonWithFile()
        let service = try ChatService("quickblox", "authorization secret", in: session)
        try session.set("QuickBlox.authorizationSecret", Data("authorization secret".utf8))
        try session.set("QuickBlox.password", Data("s3cr3t & pass".utf8), account: "alice")
        try session.set("QuickBlox.password", Data("another".utf8), account: "bob")
        try body(
          session, daemon, service,
          [
            "QUICKBLOX_URL": service.address, "QUICKBLOX_APPLICATION_ID": "app",
            "QUICKBLOX_AUTHORIZATION_KEY": "key",
          ])
      }
    }

    private static let get = [Project.example("quickblox-session"), "get", "alice", "dialogs.json"]

    @Test(
      "the first request makes a session, which lives on through a restart; a 401 renews it once; log-out ends it"
    )
    func story() throws {
      try with { session, daemon, service, environment in
        expectSuccess(try session.command(Self.get, environment: environment))
        let entry = try session.vault("get", Self.key, "--account", "alice", "--json").json
        #expect(entry["idle"] as? Int == 7_200 && entry["label"] as? String == "QuickBlox, alice")
        try daemon.stop()
        _ = try session.daemon("--store", "file")
        expectSuccess(try session.command(Self.get, environment: environment))
        let made = { try service.look().requests.filter { $0 == "POST /session.json" }.count }
        #expect(try made() == 1)
        try service.expire()
        let ended = try session.command(Self.get, environment: environment)
        #expect(ended.status == 0 && ended.json["total_entries"] as? Int == 0)
        #expect(try made() == 2 && service.look().sessions == 1)
        let version =
          try session.vault("get", Self.key, "--account", "alice", "--json").json["version"] as? Int
        #expect(try #require(version) > (entry["version"] as? Int ?? .max))
        // What the server refuses for another reason is no reason to renew.
        #expect(
          try session.command(
            [Project.example("quickblox-session"), "get", "alice", "nothing.json"], environment: environment
          ).status == 1)
        #expect(try made() == 2)
        let logout = [Project.example("quickblox-session"), "logout", "alice"]
        expectSuccess(try session.command(logout, environment: environment))
        #expect(try session.get(Self.key, account: "alice") == nil && service.look().sessions == 0)
        #expect(try session.command(logout, environment: environment).text == "there was no session\n")
      }
    }

    @Test("a sign-up for a login that exists logs in")
    func signUp() throws {
      try with { session, _, service, environment in
        for (login, text) in [
          ("bob", "signed up and logged in as bob\n"), ("bob", "bob was signed up already; logged in\n"),
          ("alice", "alice was signed up already; logged in\n"),
        ] {
          let ended = try session.command(
            [Project.example("quickblox-session"), "signup", login], environment: environment)
          #expect(ended.text == text, "\(ended.errors)")
        }
        // One for each of the two users; those of the application have been ended.
        #expect(try service.look().sessions == 2)
      }
    }

    @Test("of ten processes at once, with no session or with one that the server has ended, one makes one")
    func together() throws {
      try with { session, _, service, environment in
        for round in 1...2 {
          let examples = try (0..<10).map { _ in
            try RunningExample(Self.get, environment: environment, in: session)
          }
          for example in examples {
            let ended = try example.wait()
            #expect(ended.status == 0, "\(ended.text)")
          }
          #expect(try service.look().requests.filter { $0 == "POST /session.json" }.count == round)
          #expect(try service.look().sessions == 1)
          try service.expire()
        }
      }
    }

    @Test("the one that renews dies: the next one renews at once")
    func holderDies() throws {
      try with { session, _, service, environment in
        try service.hold()
        let first = try RunningExample(Self.get, environment: environment, in: session)
        try service.waitForHeld()
        let second = try RunningExample(Self.get, environment: environment, in: session)
        #expect(try service.look().requests.count == 1)
        first.kill()
        // The second one's request for a session is kept, too.
        try service.waitForHeld(2)
        try service.release()
        #expect(try second.wait().status == 0)
        #expect(try session.get(Self.key, account: "alice") != nil)
      }
    }

    @Test(
      "the daemon is killed while the server makes the session: another daemon gets it, and no second one is made"
    )
    func daemonDies() throws {
      try with { session, daemon, service, environment in
        try service.hold()
        let example = try RunningExample(Self.get, environment: environment, in: session)
        try service.waitForHeld()
        daemon.kill(SIGKILL)
        try daemon.wait()
        let next = try session.daemon("--store", "file")
        try service.release()
        let ended = try example.wait()
        #expect(ended.status == 0, "\(ended.text)")
        #expect(try service.look().sessions == 1 && session.get(Self.key, account: "alice") != nil)
        // The same while a request with the session is under way, and while it is ended.
        for (arguments, held) in [(Self.get, 2), ([Self.get[0], "logout", "alice"], 3)] {
          let daemon = held == 2 ? next : try session.restarted()
          try service.hold()
          let example = try RunningExample(arguments, environment: environment, in: session)
          try service.waitForHeld(held)
          daemon.kill(SIGKILL)
          try daemon.wait()
          _ = try session.daemon("--store", "file")
          try service.release()
          let ended = try example.wait()
          #expect(ended.status == 0, "\(ended.text)")
        }
        #expect(try service.look().sessions == 0 && session.get(Self.key, account: "alice") == nil)
      }
    }

    @Test("a session that was idle for two hours is made anew")
    func idle() throws {
      try with { session, _, service, environment in
        expectSuccess(try session.command(Self.get, environment: environment))
        // As the vault has it once it is over: the idle time is short, and over.
        let token = try #require(try session.get(Self.key, account: "alice"))
        expectSuccess(
          try session.vault("set", Self.key, "--account", "alice", "--expires-in", "1", input: token))
        #expect(becomesTrue { (try? session.vault("get", Self.key, "--account", "alice").status) == 3 })
        expectSuccess(try session.command(Self.get, environment: environment))
        #expect(try service.look().requests.filter { $0 == "POST /session.json" }.count == 2)
      }
    }
  }

  @Suite("stream-token always has a valid token")
  struct StreamTests {
    private static let key = "Stream.userToken"

    private func with(
      _ body: (ThrowawaySession, DaemonUnderTest, ChatService, [String: String]) throws -> Void
    ) throws {
      let python = try Project.pythonWithStream()
      try ThrowawaySession.with { session in
        let daemon = try session.daemonWithFile()
        let service = try ChatService("stream", python: python, in: session)
        try session.set("Stream.appLogin", Data("app-login".utf8), account: "alice")
        try body(
          session, daemon, service,
          ["STREAM_URL": service.address + "/api", "STREAM_TOKEN_PROVIDER": service.address + "/token"])
      }
    }

    private static let get = [Project.example("stream-token"), "get", "alice", "channels"]
    private static let show = [Project.example("stream-token"), "print", "alice"]

    @Test(
      "a token is taken once, with the expiry that it says, and lives on through a restart; log-out forgets it"
    )
    func story() throws {
      try with { session, daemon, service, environment in
        let ended = try session.command(Self.get, environment: environment)
        #expect(ended.json["user_id"] as? String == "alice", "\(ended.errors)")
        try daemon.stop()
        _ = try session.daemon("--store", "file")
        let token = try session.command(Self.show, environment: environment).text
        #expect(token.split(separator: ".").count == 3)
        let entry = try session.vault("get", Self.key, "--account", "alice", "--json").json
        #expect(entry["secret"] as? String == token && entry["expires"] as? Int == Self.exp(of: token))
        #expect(try service.look().issued == 1)
        expectSuccess(try session.command([Self.get[0], "logout", "alice"], environment: environment))
        #expect(try session.vault("list", "Stream", "--json").json["entries"] as? [String] == [])
      }
    }

    @Test(
      "less than a minute before its end a token is renewed, by one of ten processes; one without end never is"
    )
    func renewed() throws {
      try with { session, _, service, environment in
        try service.setLifetime(50)
        expectSuccess(try session.command(Self.show, environment: environment))
        try service.setLifetime(3_600)
        let examples = try (0..<10).map { _ in
          try RunningExample(Self.show, environment: environment, in: session)
        }
        var tokens: Set<String> = []
        for example in examples {
          let ended = try example.wait()
          #expect(ended.status == 0)
          tokens.insert(ended.text)
        }
        #expect(tokens.count == 1)
        #expect(try service.look().issued == 2)
        try service.setLifetime(0)
        expectSuccess(try session.vault("clear", Self.key, "--account", "alice"))
        for _ in 0..<2 { expectSuccess(try session.command(Self.show, environment: environment)) }
        #expect(try service.look().issued == 3)
        let entry = try session.vault("get", Self.key, "--account", "alice", "--json").json
        #expect(entry["expires"] == nil || entry["expires"] is NSNull)
      }
    }

    @Test("a token that Stream calls expired is renewed once")
    func refused() throws {
      try with { session, _, service, environment in
        let token = try session.command(Self.show, environment: environment).text
        try service.refuse(token)
        // A second of `exp` later, so that the next token is another one.
        try service.setLifetime(7_200)
        #expect(try session.command(Self.get, environment: environment).json["user_id"] as? String == "alice")
        #expect(try service.look().issued == 2)
        expectFailure(
          try session.command(
            Self.get, environment: environment.merging(["STREAM_URL": service.address + "/none"]) { $1 }), 1)
        #expect(try service.look().issued == 2)
      }
    }

    @Test("the daemon is killed while the token is made, and while it is used")
    func daemonDies() throws {
      try with { session, daemon, service, environment in
        for (after, held) in [(0, 1), (1, 2)] {
          let daemon = held == 1 ? daemon : try session.restarted()
          expectSuccess(try session.vault("clear", Self.key, "--account", "alice"))
          try service.hold(after: after)
          let example = try RunningExample(Self.get, environment: environment, in: session)
          try service.waitForHeld(held)
          daemon.kill(SIGKILL)
          try daemon.wait()
          _ = try session.daemon("--store", "file")
          try service.release()
          let ended = try example.wait()
          #expect(ended.status == 0 && ended.text.contains("alice"), "\(ended.text)")
        }
        #expect(try service.look().issued == 2)
      }
    }

    /// The claim `exp` of a token.
    private static func exp(of token: String) -> Int? {
      var part = token.split(separator: ".")[1].replacingOccurrences(of: "-", with: "+")
        .replacingOccurrences(of: "_", with: "/")
      while part.count % 4 != 0 { part += "=" }
      let claims = Data(base64Encoded: part).flatMap { try? JSONSerialization.jsonObject(with: $0) }
      return (claims as? [String: Any])?["exp"] as? Int
    }
  }
}
