// What `make install` puts where, and that `make uninstall` leaves nothing of it.

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite(
    "Installation", .enabled(if: Project.isReleaseBuild, "installs the release build: run it with make test"))
  struct InstallTests {
    private func make(_ arguments: String...) throws {
      let environment = ProcessInfo.processInfo.environment.filter {
        !$0.key.hasPrefix("MAKE") && $0.key != "MFLAGS"
      }
      let ended = try run(["make", "-C", Project.root] + arguments, environment: environment)
      guard ended.status == 0 else { throw HarnessFailure("make \(arguments): \(ended.text)\(ended.errors)") }
    }

    @Test("programs, units and documents go under PREFIX in DESTDIR, and away again")
    func install() throws {
      try ThrowawaySession.with { session in
        let destination = session.folder + "/image"
        try make("install", "DESTDIR=\(destination)", "PREFIX=/opt/my vault")
        let files = try filesUnder(destination).map { String($0.dropFirst(destination.count)) }
        for file in [
          "bin/vaultd", "bin/vault", "lib/systemd/user/vaultd.service", "lib/systemd/user/vaultd.socket",
          "share/doc/vault/README.md", "share/doc/vault/org.vaultd.Vault.varlink",
          "share/doc/vault/examples/client.py", "share/doc/vault/examples/client.c",
          "share/man/man1/vault.1", "share/man/man1/vaultd.1", "share/man/man5/vaultd.conf.5",
          "share/man/man7/vault-protocol.7", "share/bash-completion/completions/vault",
          "share/zsh/site-functions/_vault", "share/fish/vendor_completions.d/vault.fish",
        ] { #expect(files.contains("/opt/my vault/" + file), "\(file)") }
        let unit = try String(
          contentsOfFile: destination + "/opt/my vault/lib/systemd/user/vaultd.service", encoding: .utf8)
        #expect(unit.contains("\nExecStart=\"/opt/my vault/bin/vaultd\"\n"))
        #expect(
          unit.replacingOccurrences(of: "\"/opt/my vault/bin/vaultd\"", with: "/usr/bin/vaultd")
            == (try Project.text("systemd/vaultd.service")))
        let page = try session.command(
          ["man", "-M", destination + "/opt/my vault/share/man", "vaultd.conf"],
          environment: ["MANPAGER": "cat"])
        #expect(page.status == 0 && page.text.contains("lock-on-suspend"), "\(page.errors)")
        let version = try session.command([destination + "/opt/my vault/bin/vaultd", "--version"])
        #expect(version.text.contains("0.1.0"))

        try make("uninstall", "DESTDIR=\(destination)", "PREFIX=/opt/my vault")
        let left = try filesUnder(destination).filter { path in
          var isFolder: ObjCBool = false
          _ = unsafe FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
          return !isFolder.boolValue
        }
        #expect(left.isEmpty, "\(left)")
      }
    }

    @Test("a user's own installation is where the user's systemd looks")
    func ownInstallation() throws {
      try ThrowawaySession.with { session in
        let prefix = session.home + "/.local"
        try make("install", "PREFIX=\(prefix)", "HOME=\(session.home)")
        #expect(FileManager.default.fileExists(atPath: prefix + "/share/systemd/user/vaultd.service"))
        #expect(!FileManager.default.fileExists(atPath: prefix + "/lib"))
      }
    }
  }
}
