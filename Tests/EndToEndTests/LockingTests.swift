// The vault locks itself: before the machine sleeps, with the screen, after idle time. The login manager is a fake on a
// bus of the test's own; what it asks at the moment when the machine would sleep is what a thief would find.

import Foundation
import Glibc
import Spawning
import Testing

extension EndToEnd {
  @Suite("The vault locks itself")
  struct LockingTests {
    private static let get = #"{"method":"org.vaultd.Vault.Get","parameters":{"key":"n.k"}}"#

    /// A daemon with a vault file that opens by itself and holds `n.k`, beside a login manager.
    private func run(
      _ flags: String..., withLogind: Bool = true,
      _ body: (ThrowawaySession, FakeLogind, DaemonUnderTest) throws -> Void
    ) throws {
      try ThrowawaySession.with { session in
        let logind = FakeLogind(session)
        if withLogind {
          try logind.startBus()
          try logind.start()
        }
        let configuration = session.home + "/vaultd.conf"
        let lines = ["[vaultd]", "store=file"] + flags.map { "\($0)=true" }
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: configuration))
        let daemon = try session.daemon("--config", configuration, environment: logind.environment)
        expectSuccess(try session.vault("init", "--key-file", session.home + "/vault.key"))
        try session.set("n.k", Data("tok".utf8))
        try body(session, logind, daemon)
      }
    }

    private func configure(_ session: ThrowawaySession, _ lines: String...) throws {
      let text = (["[vaultd]", "store=file"] + lines).joined(separator: "\n") + "\n"
      try Data(text.utf8).write(to: URL(filePath: session.home + "/vaultd.conf"))
    }

    private func isLocked(_ session: ThrowawaySession) throws -> Bool {
      try session.vault("get", "n.k").status == 4
    }

    @Test("before the machine sleeps the vault is locked, and only then the machine may; so every time")
    func suspend() throws {
      try run("lock-on-suspend") { session, logind, daemon in
        for _ in 0..<5 {
          #expect(try logind.becomesHeld(by: 1))
          #expect(try session.get("n.k") == Data("tok".utf8))
          try logind.tell(["do": "sleep"])
          #expect(try logind.becomesHeld(by: 0))
          #expect(try logind.state().released?.contains(#""error":"org.vaultd.Vault.Locked""#) == true)
          try logind.tell(["do": "wake"])
          #expect(try logind.becomesHeld(by: 1))
          expectFailure(try session.vault("get", "n.k"), 4)
          expectSuccess(try session.vault("unlock"))
        }
        #expect(try Set(logind.state().calls) == ["Inhibit"])
        #expect(daemon.log.components(separatedBy: "locked: the machine goes to sleep").count == 6)
      }
    }

    @Test("where the machine may not be held awake, the vault is locked all the same, and it is said once")
    func refused() throws {
      try run("lock-on-suspend") { session, logind, daemon in
        #expect(try logind.becomesHeld(by: 1))
        try logind.tell(["do": "refuse", "refused": true])
        for _ in 0..<2 {
          try logind.tell(["do": "sleep"])
          #expect(try becomesTrue { try isLocked(session) })
          try logind.tell(["do": "wake"])
          expectSuccess(try session.vault("unlock"))
        }
        #expect(becomesTrue { daemon.log.contains("not in force") })
        try logind.tell(["do": "refuse", "refused": false])
        try logind.tell(["do": "sleep"])
        try logind.tell(["do": "wake"])
        #expect(try logind.becomesHeld(by: 1))
        #expect(daemon.log.components(separatedBy: "not in force").count == 2)
      }
    }

    @Test("a daemon that comes while the machine goes to sleep is locked")
    func tooLate() throws {
      try run { session, logind, daemon in
        try logind.tell(["do": "sleep"])
        try configure(session, "lock-on-suspend=true")
        daemon.kill(SIGHUP)
        #expect(try becomesTrue { try isLocked(session) })
        try logind.tell(["do": "wake"])
        #expect(try logind.becomesHeld(by: 1))
      }
    }

    @Test(
      "a screen of this user that is locked locks the vault, however that is told; another user's does not")
    func screen() throws {
      try run("lock-on-screen-lock") { session, logind, daemon in
        let other = Int(geteuid()) + 1
        try logind.tell(["do": "session", "id": "2", "user": other])
        #expect(try becomesTrue { try logind.state().calls.contains("GetUser") })
        // What comes after them shows that these were seen and did nothing.
        try logind.tell(["do": "lock", "session": "2"])
        try logind.tell(["do": "hint", "session": "2", "locked": true])
        try logind.tell(["do": "hint", "session": "1", "locked": false])
        try logind.tell(["do": "unlock", "session": "1"])
        try logind.tell(["do": "lock", "session": "1"])
        #expect(try becomesTrue { try isLocked(session) })
        #expect(daemon.log.contains("the screen of session 1 was locked"))
        #expect(!daemon.log.contains("session 2"))

        // The screen's unlock opens nothing.
        try logind.tell(["do": "unlock", "session": "1"])
        try logind.tell(["do": "hint", "session": "1", "locked": false])
        #expect(try isLocked(session))
        expectSuccess(try session.vault("unlock"))

        // As a desktop does that locks the screen by itself.
        try logind.tell(["do": "hint", "session": "1", "locked": true])
        #expect(try becomesTrue { try isLocked(session) })
        #expect(try logind.state().inhibitors == 0)
      }
    }

    @Test("a screen that is locked already when the daemon comes to know of it counts")
    func lockedBefore() throws {
      try run { session, logind, daemon in
        try logind.tell(["do": "hint", "session": "1", "locked": true])
        #expect(try !isLocked(session))
        try configure(session, "lock-on-screen-lock=true")
        daemon.kill(SIGHUP)
        #expect(try becomesTrue { try isLocked(session) })
      }
    }

    @Test(
      "without a setting that needs it the daemon is not on the system bus; SIGHUP brings it there and away")
    func onlyWhereWanted() throws {
      try run { session, logind, daemon in
        let before = try logind.connections()
        #expect(try logind.state().calls.isEmpty)
        try configure(session, "lock-on-suspend=true", "lock-on-screen-lock=true")
        daemon.kill(SIGHUP)
        #expect(try logind.becomesHeld(by: 1))
        #expect(try logind.connections() == before + 1)
        try configure(session, "lock-on-screen-lock=true")
        daemon.kill(SIGHUP)
        #expect(try logind.becomesHeld(by: 0))
        #expect(try logind.connections() == before + 1)
        try configure(session)
        daemon.kill(SIGHUP)
        #expect(try becomesTrue { try logind.connections() == before })
        try logind.tell(["do": "lock", "session": "1"])
        try logind.tell(["do": "sleep"])
        #expect(try !isLocked(session))
      }
    }

    @Test("logind and the bus may go and come back: what is wanted is in force again")
    func recovery() throws {
      try run("lock-on-suspend", "lock-on-screen-lock") { session, logind, daemon in
        #expect(try logind.becomesHeld(by: 1))
        logind.stop()
        try logind.start()
        #expect(try logind.becomesHeld(by: 1))
        try logind.tell(["do": "lock", "session": "1"])
        #expect(try becomesTrue { try isLocked(session) })
        expectSuccess(try session.vault("unlock"))

        logind.stopBus()
        #expect(try session.get("n.k") == Data("tok".utf8))
        try logind.startBus()
        try logind.start()
        #expect(try logind.becomesHeld(by: 1))
        try logind.tell(["do": "sleep"])
        #expect(try logind.becomesHeld(by: 0))
        #expect(try logind.state().released?.contains("Locked") == true)
        #expect(daemon.isRunning)
      }
    }

    @Test("without a system bus the daemon serves and says so once, and finds the bus when it comes")
    func noBus() throws {
      try run("lock-on-suspend", withLogind: false) { session, logind, daemon in
        #expect(becomesTrue { daemon.log.contains("the system bus cannot be reached") })
        #expect(try session.get("n.k") == Data("tok".utf8))
        try logind.startBus()
        try logind.start()
        #expect(try logind.becomesHeld(by: 1))
        #expect(daemon.log.components(separatedBy: "not in force").count == 2)
      }
    }

    @Test("the time without a use is over: the vault is locked, and says why")
    func idle() throws {
      try run { session, _, daemon in
        try configure(session, "lock-after-idle=1s")
        daemon.kill(SIGHUP)
        #expect(becomesTrue { daemon.log.contains("the vault was locked: nobody used it for 1 s") })
        expectFailure(try session.vault("get", "n.k"), 4)
      }
    }

    @Test("a file that may not grow any more is an outcome of the write, and the daemon lives")
    func fileSize() throws {
      try ThrowawaySession.with { session in
        var daemon = try session.daemonWithFile()
        try session.set("n.k", Data("tok".utf8))
        try daemon.stop()
        // In blocks of 1,024 bytes: what is there may stay, and 1 MiB more has no place.
        daemon = try session.daemon(
          command: ["bash", "-c", "ulimit -f 400; exec \(Project.vaultd) --store file"])
        let status = try String(contentsOfFile: "/proc/\(daemon.pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("SigIgn:") } ?? ""
        let ignored = UInt64(line.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16) ?? 0
        for signal in [SIGPIPE, SIGXFSZ] { #expect(ignored >> (signal - 1) & 1 == 1, "signal \(signal)") }
        let large = Data(repeating: 0x73, count: 1_048_576)
        expectFailure(try session.vault("set", "n.large", input: large), 7)
        #expect(daemon.isRunning)
        #expect(try session.get("n.k") == Data("tok".utf8))
        try session.set("n.k", Data("new".utf8))
        #expect(try session.get("n.k") == Data("new".utf8))
      }
    }
  }
}
