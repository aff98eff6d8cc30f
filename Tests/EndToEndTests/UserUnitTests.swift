// The shipped units in a real `systemd --user`: what they promise holds under exactly these settings.

import Foundation
import Glibc
import Spawning
import Testing

extension EndToEnd {
  @Suite("The systemd user units", .enabled(if: UserSession.isAvailable, "\(UserSession.wanted)"))
  struct UserUnitTests {
    private let key = "Back4Gram.sessionToken"

    @Test(
      "the first connection starts the daemon, which says that it is ready; D-Bus and the keyring are in reach"
    )
    func activation() throws {
      try UserSession.with(keyring: "unlocked") { session in
        try session.systemctl("start", "vaultd.socket")
        #expect(try session.daemonPID() == 0)
        expectSuccess(try session.vault("set", key, input: Data("tok".utf8)))
        #expect(try session.service("ActiveState") == "active")
        #expect(try session.service("SubState") == "running")
        #expect(try !session.service("StatusText").isEmpty)
        let got = try session.vault("get", key, "--json").json
        #expect(got["secret"] as? String == "tok")
        #expect(got["store"] as? String == "secret_service")
        let lookUp = try session.command([
          "secret-tool", "lookup", "namespace", "Back4Gram", "name", "sessionToken",
        ])
        #expect(lookUp.text == "tok")
        let status = try session.vault("status", "--json").json
        #expect(status["pid"] as? Int == Int(try session.daemonPID()))
        for (measure, inForce) in status["protections"] as? [String: Bool] ?? [:] {
          #expect(inForce, "\(measure)")
        }

        let modes = try Root.run(["stat", "-c", "%a %U", session.runtime + "/vault", session.socket]).text
        let user = session.environment["USER"] ?? ""
        #expect(modes == "700 \(user)\n600 \(user)\n")

        let journal = try session.journal()
        #expect(journal.contains(key))
        #expect(!journal.contains("tok\n") && !journal.contains("\"tok\""))
      }
    }

    @Test("the vault file works under the unit")
    func file() throws {
      try UserSession.with(keyring: "none") { session in
        try session.systemctl("start", "vaultd.socket")
        expectFailure(try session.vault("set", key, input: Data("tok".utf8)), 7)
        expectSuccess(try session.vault("init", "--key-file", session.home + "/vault.key"))
        expectSuccess(try session.vault("set", key, input: Data("tok".utf8)))
        try session.systemctl("restart", "vaultd.service")
        let got = try session.vault("get", key, "--json").json
        #expect(got["secret"] as? String == "tok")
        #expect(got["store"] as? String == "file")
        expectSuccess(try session.vault("verify"))
      }
    }

    @Test("another user, root included, is closed", .enabled(if: geteuid() == 0, "needs root"))
    func peer() throws {
      try UserSession.with(keyring: "none") { session in
        try session.systemctl("start", "vaultd.socket")
        expectSuccess(try session.vault("status"))
        let pid = try session.daemonPID()
        let connection = try RawConnection(session.socket)
        connection.sendFrame(#"{"method":"org.vaultd.Vault.Status"}"#)
        #expect(try connection.frame() == nil)
        #expect(try session.daemonPID() == pid)
      }
    }

    @Test("a killed daemon is started again on the same socket, and what it had acknowledged is there")
    func restart() throws {
      try UserSession.with(keyring: "unlocked") { session in
        try session.systemctl("start", "vaultd.socket")
        let inode = try Root.run(["stat", "-c", "%i", session.socket]).text
        expectSuccess(try session.vault("set", key, input: Data("tok".utf8)))
        for _ in 0..<8 {
          let pid = try session.daemonPID()
          #expect(pid > 1)
          _ = try Root.run(["kill", "-KILL", String(pid)])
          #expect(
            try becomesTrue {
              let new = try session.daemonPID(); return new > 1 && new != pid
            })
          #expect(try session.vault("get", key).text == "tok")
        }
        #expect(try session.systemctl("is-active", "vaultd.socket") == "active")
        #expect(try Root.run(["stat", "-c", "%i", session.socket]).text == inode)
      }
    }

    @Test(
      "stopping the service keeps the socket, stopping the socket removes it; reload reads the settings again"
    )
    func stop() throws {
      try UserSession.with(keyring: "none") { session in
        try session.systemctl("start", "vaultd.socket")
        expectSuccess(try session.vault("status"))
        let config = session.home + "/.config/vault"
        expectSuccess(try session.command(["install", "-d", config]))
        expectSuccess(
          try session.command(["tee", config + "/vaultd.conf"], input: Data("[vaultd]\nstore=file\n".utf8)))
        try session.systemctl("reload", "vaultd.service")
        #expect(
          try becomesTrue { try session.vault("status", "--json").json["preference"] as? String == "file" })

        try session.systemctl("stop", "vaultd.service")
        #expect(try session.service("Result") == "success")
        #expect(try Root.run(["test", "-S", session.socket]).status == 0)
        expectSuccess(try session.vault("status"))
        try session.systemctl("stop", "vaultd.socket", "vaultd.service")
        #expect(try Root.run(["test", "-e", session.socket]).status == 1)
      }
    }

    @Test("an enabled socket that is stopped is not gone around by starting a daemon")
    func noAutostart() throws {
      try UserSession.with(keyring: "none") { session in
        try session.systemctl("enable", "vaultd.socket")
        let ended = try session.vault("get", key)
        expectFailure(ended, 8)
        #expect(ended.errors.contains("systemctl --user"))
        #expect(try session.command(["pgrep", "-x", "-U", String(session.uid), "vaultd"]).status == 1)
      }
    }

    @Test("a program of the same user can't attach to the daemon, read its memory or take its descriptors")
    func attach() throws {
      try UserSession.with(keyring: "none") { session in
        try session.systemctl("start", "vaultd.socket")
        expectSuccess(try session.vault("status"))
        let pid = try session.daemonPID()
        func attach(_ pid: pid_t) throws -> String {
          let ended = try session.command([
            "gdb", "--nx", "--batch", "-p", String(pid), "-ex", "info registers rip",
          ])
          return ended.text + ended.errors
        }
        let refused = try attach(pid)
        #expect(refused.contains("Operation not permitted"), "\(refused)")
        #expect(!refused.contains("rip  "))
        for file in ["mem", "maps", "environ", "fd/0"] {
          #expect(try session.command(["cat", "/proc/\(pid)/\(file)"]).status != 0, "\(file)")
        }
        // The same gdb attaches to a program of the user that does nothing about it: the refusal is ours.
        let scope = try? String(contentsOfFile: "/proc/sys/kernel/yama/ptrace_scope", encoding: .utf8)
        if scope == nil || scope == "0\n" {
          try session.systemctl("set-environment", "LANG=C.UTF-8")
          expectSuccess(
            try session.command(["systemd-run", "--user", "--quiet", "--unit=sleeper", "sleep", "100"]))
          let sleeper =
            pid_t(try session.systemctl("show", "--property=MainPID", "--value", "sleeper.service")) ?? 0
          #expect(try attach(sleeper).contains("rip  "))
        }
        #expect(try session.daemonPID() == pid)
      }
    }

    @Test("without the variables of a session command and daemon find the user's runtime folder and bus")
    func noVariables() throws {
      try UserSession.with(keyring: "unlocked") { session in
        let bare = ["env", "-i", "HOME=" + session.home, "PATH=/usr/bin:/bin"]
        // The first one starts a daemon, in the same environment.
        let set = try session.command(
          bare + [session.programs + "/vault", "set", key, "--json"], input: Data("tok".utf8))
        #expect(set.status == 0, "\(set.errors)")
        #expect(set.json["store"] as? String == "secret_service")
        #expect(try session.vault("get", key).text == "tok")
        #expect(try session.command(["test", "-S", session.socket]).status == 0)
      }
    }

    @Test("a daemon that may lock no memory serves all the same, and says so once")
    func noMemoryLock() throws {
      try UserSession.with(keyring: "none") { session in
        let folder = session.runtime + "/systemd/user/vaultd.service.d"
        expectSuccess(try session.command(["install", "-d", folder]))
        expectSuccess(
          try session.command(
            ["tee", folder + "/limit.conf"], input: Data("[Service]\nLimitMEMLOCK=0\n".utf8)))
        try session.systemctl("daemon-reload")
        try session.systemctl("start", "vaultd.socket")
        expectSuccess(try session.vault("init", "--key-file", session.home + "/vault.key"))
        expectSuccess(try session.vault("set", key, input: Data("tok".utf8)))
        #expect(try session.vault("get", key).text == "tok")
        let status = try session.vault("status", "--json").json
        #expect((status["protections"] as? [String: Bool])?.values.contains(false) == true)
        let warnings = try session.journal().split(separator: "\n").filter { $0.contains("locked memory") }
        #expect(warnings.count == 1, "\(warnings)")
      }
    }

    @Test("no core is left of an aborted daemon, and what its end prints holds no secret")
    func abort() throws {
      let marker = "M4RK3R" + UUID().uuidString
      try UserSession.with(keyring: "unlocked") { session in
        try session.systemctl("start", "vaultd.socket")
        expectSuccess(try session.vault("set", key, input: Data(marker.utf8)))
        #expect(try session.vault("get", key).text == marker)
        let pid = try session.daemonPID()
        let limits = try Root.run(["cat", "/proc/\(pid)/limits"]).text
        let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
        #expect(core?.split(whereSeparator: \.isWhitespace).dropFirst(4).prefix(2) == ["0", "0"])
        _ = try Root.run(["kill", "-ABRT", String(pid)])
        #expect(
          try becomesTrue {
            let new = try session.daemonPID(); return new > 1 && new != pid
          })
        #expect(try !session.journal().contains(marker))
        #expect(try session.service("NRestarts") == "1")
      }
    }

    @Test("systemd finds nothing wrong with the units, and their exposure is what was decided")
    func verify() throws {
      try UserSession.with(keyring: "none") { session in
        let units = ["vaultd.service", "vaultd.socket"].map { session.runtime + "/systemd/user/" + $0 }
        let verified = try session.command(["systemd-analyze", "--user", "--man=no", "verify"] + units)
        #expect(verified.status == 0 && verified.errors.isEmpty, "\(verified.errors)")
        let security = try session.command([
          "systemd-analyze", "--user", "--no-pager", "security", "vaultd.service",
        ])
        let line = security.text.split(separator: "\n").last.map(String.init) ?? ""
        let score = line.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }.first ?? 10
        #expect(score <= 6.2, "\(line)")
        // A user namespace would make the user its owner, who may then attach to the daemon.
        #expect(try session.service("PrivateUsers") == "no")
      }
    }
  }
}
