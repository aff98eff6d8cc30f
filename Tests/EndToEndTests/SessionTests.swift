// What belongs to a login session, in a real `systemd --user`: a credential of the unit opens the vault file by itself,
// and what is kept until logout ends with the session and not with the daemon.

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("The login session", .enabled(if: UserSession.isAvailable, "\(UserSession.wanted)"))
  struct SessionTests {
    private let key = "Chat.token"

    /// Adds settings to the service, as its user would.
    private func override(_ session: UserSession, _ lines: String...) throws {
      let folder = session.runtime + "/systemd/user/vaultd.service.d"
      expectSuccess(try session.command(["install", "-d", folder]))
      let text = (["[Service]"] + lines).joined(separator: "\n") + "\n"
      expectSuccess(try session.command(["tee", folder + "/test.conf"], input: Data(text.utf8)))
      try session.systemctl("daemon-reload")
    }

    @Test("a credential of the unit is a slot: the file opens by itself after a restart, and not without it")
    func credential() throws {
      try UserSession.with(keyring: "none") { session in
        let secret = session.home + "/credential"
        expectSuccess(
          try session.command(["install", "-m", "0600", "/dev/null", secret]))
        expectSuccess(try session.command(["tee", secret], input: Data("M4RK3R-credential".utf8)))
        try override(session, "LoadCredential=vault:\(secret)", "Environment=VAULTD_STORE=file")
        try session.systemctl("start", "vaultd.socket")
        expectSuccess(try session.command(["rm", "-rf", session.data]))
        expectSuccess(try session.vault("init", "--credential", "vault"))
        expectSuccess(try session.vault("set", key, input: Data("tok".utf8)))
        let slots = try session.vault("slot", "list").text
        #expect(slots.contains("credential") && slots.contains("vault") && !slots.contains("passphrase"))

        try session.systemctl("restart", "vaultd.service")
        #expect(try session.vault("get", key).text == "tok")
        expectSuccess(try session.vault("lock"))
        expectFailure(try session.vault("get", key), 4)
        expectSuccess(try session.vault("unlock"))
        #expect(try session.vault("get", key).text == "tok")

        // Without it, and with another one.
        try override(session, "Environment=VAULTD_STORE=file")
        try session.systemctl("restart", "vaultd.service")
        expectFailure(try session.vault("get", key), 4)
        expectSuccess(try session.command(["tee", secret], input: Data("another".utf8)))
        try override(session, "LoadCredential=vault:\(secret)", "Environment=VAULTD_STORE=file")
        try session.systemctl("restart", "vaultd.service")
        expectFailure(try session.vault("get", key), 4)
        #expect(try !session.journal().contains("M4RK3R"))
      }
    }

    @Test("a token until logout lives through every end of the daemon, and not beyond the runtime folder")
    func untilLogout() throws {
      try UserSession.with(keyring: "none") { session in
        try override(session, "Environment=VAULTD_STORE=file")
        try session.systemctl("start", "vaultd.socket")
        expectSuccess(try session.command(["rm", "-rf", session.data, session.home + "/vault.key"]))
        expectSuccess(try session.vault("init", "--key-file", session.home + "/vault.key"))
        expectSuccess(try session.vault("set", key, "--until-logout", input: Data("M4RK3R".utf8)))
        expectSuccess(try session.vault("set", "Chat.lasting", input: Data("tok".utf8)))
        func look() throws {
          let entry = try session.vault("get", key, "--json").json
          #expect(entry["secret"] as? String == "M4RK3R" && entry["store"] as? String == "session")
        }
        try look()
        try session.systemctl("restart", "vaultd.service")
        try look()
        try session.systemctl("stop", "vaultd.service")
        try look()
        let pid = try session.daemonPID()
        _ = try Root.run(["kill", "-KILL", String(pid)])
        #expect(
          try becomesTrue {
            let new = try session.daemonPID(); return new > 1 && new != pid
          })
        try look()
        expectSuccess(try session.vault("lock"))
        expectFailure(try session.vault("get", key), 4)
        expectSuccess(try session.vault("unlock"))
        try look()

        // What logind takes away at the end of the user's last session.
        try session.systemctl("stop", "vaultd.socket", "vaultd.service")
        expectSuccess(try session.command(["rm", "-rf", session.runtime + "/vault"]))
        try session.systemctl("start", "vaultd.socket")
        expectFailure(try session.vault("get", key), 1)
        #expect(try session.vault("get", "Chat.lasting").text == "tok")
      }
    }

    @Test("the locks are in force under the unit: after idle time the vault is locked")
    func locks() throws {
      try UserSession.with(keyring: "none") { session in
        try override(session, "Environment=VAULTD_STORE=file VAULTD_LOCK_AFTER_IDLE=1s")
        try session.systemctl("start", "vaultd.socket")
        expectSuccess(try session.command(["rm", "-rf", session.data, session.home + "/vault.key"]))
        expectSuccess(try session.vault("init", "--key-file", session.home + "/vault.key"))
        #expect(try becomesTrue { try session.journal().contains("nobody used it for 1 s") })
        expectFailure(try session.vault("get", key), 4)
        expectSuccess(try session.vault("unlock"))
        expectFailure(try session.vault("get", key), 1)
      }
    }
  }
}
