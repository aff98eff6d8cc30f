// `make run`, behind its build: what a newcomer sees first.

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("make run", .enabled(if: Project.isReleaseBuild, "shows the release build: run it with make test"))
  struct MakeRunTests {
    private static let script = Project.root + "/scripts/run"

    @Test(
      "without systemd it starts a daemon, finds a place for tokens, shows one, and leaves the daemon",
      .enabled(if: Root.isAvailable, "\(Root.wanted)"), arguments: [false, true])
    func byHand(keyring: Bool) throws {
      try ThrowawaySession.with(keyring ? .keyring : .none) { session in
        // The daemon is not to inherit the harness's own variable.
        let first = try session.command(["env", "-u", "VAULTD_AUTOSTART", Self.script])
        #expect(first.status == 0, "\(first.text)\(first.errors)")
        #expect(first.text.contains(keyring ? "Stored in the Secret Service" : "vault init --key-file"))
        #expect(first.text.contains("It is what was set."))
        let pid = session.autostarted()
        #expect(pid.count == 1)

        // A token of the user's stays, the daemon too, and there is nothing to make a second time.
        try session.set("Back4Gram.sessionToken", Data("real".utf8))
        let second = try session.command([Self.script])
        #expect(second.status == 0, "\(second.text)\(second.errors)")
        #expect(second.text.contains("It runs already"))
        #expect(!second.text.contains("vault init"))
        #expect(session.autostarted() == pid)
        #expect(try session.get("Back4Gram.sessionToken") == Data("real".utf8))
        #expect(try session.get("Back4Gram.sessionToken", account: "make-run") == nil)
      }
    }

    @Test(
      "with systemd the units of this checkout serve",
      .enabled(if: UserSession.isAvailable, "\(UserSession.wanted)"))
    func bySystemd() throws {
      try UserSession.with(keyring: "none") { session in
        // The script and what it starts, where the user can read them.
        let copy = session.programs + "/../checkout"
        let ended = try Root.run([
          "sh", "-c",
          "install -d \(copy)/build && cp -r $1/scripts $1/systemd \(copy)/ && cp $2/vault* \(copy)/build/",
          "sh", Project.root, Project.binaries,
        ])
        #expect(ended.status == 0, "\(ended.errors)")
        for _ in 0..<2 {
          let shown = try session.command([copy + "/scripts/run"])
          #expect(shown.status == 0, "\(shown.text)\(shown.errors)")
          #expect(shown.text.contains("It is what was set."))
          #expect(try session.service("ActiveState") == "active")
          #expect(try session.systemctl("is-active", "vaultd.socket") == "active")
        }
      }
    }
  }
}
