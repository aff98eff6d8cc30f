// What went wrong for users of keyrings, with the whole of the vault over a provider that does it: locked at the wrong
// moment, slow, replaced by another, reset, asked before the removal. docs/secret-service.md has a table of all cases.

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("Cases of keyrings")
  struct KeyringCasesTests {
    private let key = "Back4Gram.sessionToken"

    /// A session with a fake provider, a daemon, and a vault file that a key file opens.
    private func with(
      _ arguments: String..., body: (ThrowawaySession, FakeKeyring, DaemonUnderTest) throws -> Void
    ) throws {
      try ThrowawaySession.with(.empty) { session in
        let keyring = try FakeKeyring(session)
        let daemon = try session.daemon(command: [Project.vaultd] + arguments)
        expectSuccess(try session.vault("init", "--key-file", session.home + "/vault.key"))
        try body(session, keyring, daemon)
      }
    }

    private func entries(_ session: ThrowawaySession, in store: String) throws -> Int? {
      let stores = try session.vault("status", "--json").json["stores"] as? [[String: Any]] ?? []
      return stores.first { $0["store"] as? String == store }?["entries"] as? Int
    }

    // MARK: Locked

    @Test(
      "while a prompt is not answered, status and tokens of the file answer at once; the request ends as Locked"
    )
    func unanswered() throws {
      try with("--timeout", "1", "--prompt-timeout", "3") { session, keyring, daemon in
        try session.set(key, Data("old".utf8))
        try keyring.set("prompt", "never")
        try keyring.tell("lock")
        expectSuccess(try session.vault("set", "--no-prompt", "In.file", input: Data("1".utf8)))
        #expect(try entries(session, in: "file") == 1)
        let waiting = try daemon.connect()
        let start = ContinuousClock.now
        try waiting.send("org.vaultd.Vault.Get", ["key": key])
        #expect(try becomesTrue { try keyring.tell("shown") as? Int == 1 })
        let other = try daemon.connect()
        for (method, parameters) in [("Status", [:]), ("Get", ["key": "In.file"])]
          as [(String, [String: Any])]
        {
          let asked = ContinuousClock.now
          #expect(try other.call("org.vaultd.Vault." + method, parameters).error == nil)
          #expect(ContinuousClock.now - asked < .milliseconds(100))
        }
        #expect(try waiting.answer()?.error == "org.vaultd.Vault.Locked")
        let time = ContinuousClock.now - start
        #expect(time > .milliseconds(2_500) && time < .seconds(6))
        #expect(try keyring.count("prompts") == 1)
        #expect(try keyring.count("dismissals") == 0)
      }
    }

    @Test("clients that come and go while it is locked, and a clear of another version, remove nothing")
    func lockedAtTheWrongMoment() throws {
      try with { session, keyring, _ in
        try session.set(key, Data("old".utf8))
        try keyring.set("prompt", "dismiss")
        try keyring.tell("lock")
        // What was read before the lock is served until the signal comes.
        #expect(try becomesTrue { try session.vault("get", key).status == 4 })
        for _ in 0..<3 { expectFailure(try session.vault("get", key), 4) }
        let cleared = try session.vault("clear", key, "--if-version", "17")
        #expect(cleared.status == 6, "\(cleared.errors)")
        try keyring.tell("unlock")
        #expect(try session.get(key) == Data("old".utf8))
        #expect(try keyring.count("deletes") == 0)
      }
    }

    @Test("a keyring that is unlocked a while after the daemon's start is read from then on")
    func unlockedLater() throws {
      try with { session, keyring, daemon in
        try session.set(key, Data("old".utf8))
        try daemon.stop()
        try keyring.set("prompt", "dismiss")
        try keyring.tell("lock")
        _ = try session.daemon()
        for _ in 0..<2 { expectFailure(try session.vault("get", key), 4) }
        try keyring.tell("unlock")
        #expect(try session.get(key) == Data("old".utf8))
      }
    }

    @Test(
      "a prompt that is answered later than an answer may take: the token is in the keyring and no copy stays"
    )
    func slowPrompt() throws {
      try with("--timeout", "1", "--prompt-timeout", "20") { session, keyring, _ in
        try session.set("Back4Gram.other", Data("1".utf8))
        try keyring.set("prompt", "accept:2500")
        try keyring.tell("lock")
        try session.set(key, Data("new".utf8))
        #expect(try keyring.items.map(\.secret).contains(Data("new".utf8)))
        #expect(try entries(session, in: "file") == 0)
      }
    }

    // MARK: What others do

    @Test("what secret-tool clears is not found a moment later, and never anything else but what was there")
    func clearedByOthers() throws {
      try ThrowawaySession.with(.keyring) { session in
        let daemon = try session.daemon()
        let connection = try daemon.connect()
        for round in 0..<20 {
          try session.set(key, Data("\(round)".utf8))
          _ = try session.command(["secret-tool", "clear", "namespace", "Back4Gram", "name", "sessionToken"])
          let cleared = ContinuousClock.now
          var answer = try connection.call("org.vaultd.Vault.Get", ["key": key])
          // What was read less than a second ago is served until the signal comes: 50 ms, and more on a busy machine.
          while answer.error == nil, ContinuousClock.now - cleared < .milliseconds(500) {
            #expect(answer.parameters["secret"] as? String == "\(round)")
            answer = try connection.call("org.vaultd.Vault.Get", ["key": key])
          }
          #expect(answer.error == "org.vaultd.Vault.NotFound", "round \(round): \(answer.object)")
        }
      }
    }

    @Test("who watches is told once of each change, ours and others', also where signals come late")
    func watched() throws {
      try with { session, keyring, daemon in
        try keyring.set("signal_delay", 30)
        try keyring.set("secret_signals", true)
        let watcher = try daemon.connect()
        watcher.sendFrame(#"{"method":"org.vaultd.Vault.Watch","more":true,"parameters":{}}"#)
        // The first reply: watching has begun.
        _ = try watcher.frame()
        for value in ["1", "2", "3"] {
          try session.set(key, Data(value.utf8))
          #expect(try becomesTrue { try keyring.tell("pending") as? Int == 0 })
        }
        let path = try #require(keyring.items.first).path
        try keyring.set("signal_delay", 0)
        let changed = ContinuousClock.now
        try keyring.tell("change", ["path": path, "secret": "74686569727331"])
        var events: [String] = []
        while events.count < 4 {
          let event = try #require(try watcher.answer())
          if event.parameters["key"] as? String == key {
            events.append(event.parameters["event"] as? String ?? "")
          }
        }
        #expect(ContinuousClock.now - changed < .seconds(1))
        #expect(events == ["set", "set", "set", "set"])
        try keyring.tell("delete", ["path": path])
        let last = try #require(try watcher.answer())
        #expect(last.parameters["event"] as? String == "cleared")
      }
    }

    // MARK: Which store

    @Test(
      "another provider answers: Unavailable, with date and names, nothing made or removed; then the first again"
    )
    func twoProviders() throws {
      try with { session, first, _ in
        try session.set(key, Data("in the first".utf8))
        try first.tell("release")
        let second = try FakeKeyring(session, state: "other-items")
        let ended = try session.vault("get", key)
        expectFailure(ended, 7)
        #expect(ended.errors.contains("20"), "no date: \(ended.errors)")
        #expect(try second.items.isEmpty)
        #expect(try second.count("deletes") + second.count("creates") == 0)
        second.kill()
        _ = try first.tell("acquire")
        #expect(try session.get(key) == Data("in the first".utf8))
        #expect(try first.items.count == 1)
        #expect(try first.count("deletes") == 0)
      }
    }

    @Test("a provider that is slow to answer moves nothing to another store")
    func slow() throws {
      try with { session, keyring, daemon in
        for round in 0..<8 {
          if round % 2 == 0 {
            try keyring.restart()
            try keyring.fault("*", "late:300", times: 3)
          } else {
            try keyring.fault("SetSecret", "late:700", times: 1)
            try keyring.fault("GetSecrets", "late:700", times: 1)
          }
          try session.set(key, Data("value \(round)".utf8))
          #expect(try session.get(key) == Data("value \(round)".utf8))
          #expect(try keyring.items.map(\.secret) == [Data("value \(round)".utf8)])
          #expect(try entries(session, in: "file") == 0)
        }
        #expect(daemon.isRunning)
      }
    }

    @Test("a token of the file that has moved is cleared from both")
    func orphan() throws {
      try with { session, keyring, _ in
        keyring.kill()
        try session.set(key, Data("new".utf8))
        #expect(try entries(session, in: "file") == 1)
        try keyring.restart()
        #expect(try session.get(key) == Data("new".utf8))
        expectSuccess(try session.vault("clear", key))
        #expect(try session.get(key) == nil)
        #expect(try becomesTrue { try entries(session, in: "file") == 0 })
        #expect(try keyring.items.isEmpty)
      }
    }

    @Test(
      "a value that waits moves as soon as the provider takes it, without a request, also after it refused")
    func movesByItself() throws {
      try with { session, keyring, _ in
        try session.set("Back4Gram.other", Data("1".utf8))
        keyring.kill()
        try session.set(key, Data("new".utf8))
        try keyring.restart()
        try keyring.fault("CreateItem", "error:org.freedesktop.DBus.Error.Failed", times: 6)
        #expect(try becomesTrue { try keyring.items.count == 2 })
        #expect(try becomesTrue { try entries(session, in: "file") == 0 })
      }
    }

    @Test(
      "the desktop's name decides nothing", arguments: ["", "i3", "KDE", "GNOME:foo"])
    func desktop(name: String) throws {
      try ThrowawaySession.with(.empty) { session in
        let keyring = try FakeKeyring(session)
        _ = try session.daemon(environment: ["XDG_CURRENT_DESKTOP": name])
        try session.set(key, Data("1".utf8))
        #expect(try keyring.items.count == 1)
      }
    }

    @Test("the bus of the runtime folder is found without an address, and no display is needed")
    func noAddress() throws {
      try ThrowawaySession.with(.empty) { session in
        let keyring = try FakeKeyring(session)
        _ = try session.daemon(command: [
          "env", "-u", "DBUS_SESSION_BUS_ADDRESS", "-u", "DISPLAY", Project.vaultd,
        ])
        try session.set(key, Data("1".utf8))
        #expect(try keyring.items.count == 1)
        // The command needs no bus, only the daemon does.
        let bare = try run(
          [
            "env", "-i", "HOME=\(session.home)", "XDG_RUNTIME_DIR=\(session.runtime)", Project.vault, "get",
            key,
          ],
          environment: session.environment)
        #expect(bare.output == Data("1".utf8))
      }
    }

    @Test("without any bus: Unavailable within a second, and what to run")
    func noBus() throws {
      try ThrowawaySession.with { session in
        _ = try session.daemon(
          command: [
            "env", "-i", "HOME=\(session.home)", "XDG_RUNTIME_DIR=\(session.runtime)", Project.vaultd,
          ])
        let start = ContinuousClock.now
        let ended = try session.vault("set", key, input: Data("1".utf8))
        expectFailure(ended, 7)
        #expect(ContinuousClock.now - start < .seconds(1))
        #expect(ended.errors.contains("vault init"))
      }
    }

    // MARK: What it does to data

    @Test("a removal that the provider asks about is pending without a prompt, until the item is gone")
    func askedBeforeRemoval() throws {
      try with { session, keyring, _ in
        try session.set(key, Data("1".utf8))
        try keyring.set("delete_prompt", "never")
        #expect(try session.vault("clear", key).status == 7)
        expectFailure(try session.vault("get", key), 1)
        #expect(try keyring.count("prompts") == 0)
        // It keeps nothing else from moving.
        try session.set("Back4Gram.other", Data("2".utf8))
        #expect(try keyring.items.count == 2)
        try keyring.set("delete_prompt", "")
        #expect(try becomesTrue(seconds: 20) { try keyring.items.count == 1 })
        expectFailure(try session.vault("get", key), 1)
        #expect(try session.get("Back4Gram.other") == Data("2".utf8))
      }
    }

    @Test("no secret goes over the bus in the open, and no password of a URL is in a label")
    func monitored() throws {
      try with { session, keyring, _ in
        let marker = "M4RK3R" + UUID().uuidString
        let monitor = try session.start("monitor", ["dbus-monitor", "--session", "--pcap"])
        defer { monitor.end() }
        #expect(becomesTrue { !session.log("monitor").isEmpty })
        let url = "https://user:p4ssw0rd@host.token"
        try session.set(url, Data(marker.utf8))
        try session.set(url, Data((marker + marker).utf8))
        #expect(try session.get(url) == Data((marker + marker).utf8))
        #expect(becomesTrue { session.log("monitor").contains("SetSecret") })
        #expect(!session.log("monitor").contains(marker))
        #expect(try keyring.items.map(\.label) == ["https://user@host.token"])
        let item = try #require(keyring.items.first)
        #expect(!item.attributes.values.contains { $0.contains(marker) })
      }
    }
  }
}
