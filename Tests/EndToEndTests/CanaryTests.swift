// The canary: a marked secret is set, read and cleared through both stores under the shipped unit; then it is nowhere.
// Each search is shown to find what is there before its silence counts.

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("No trace of a secret", .enabled(if: UserSession.isAvailable, "\(UserSession.wanted)"))
  struct CanaryTests {
    @Test("a secret that was set, read and cleared is in no file, log, argument, environment or memory")
    func canary() throws {
      let marker = "M4RK3R" + UUID().uuidString
      try UserSession.with(keyring: "unlocked") { session in
        try session.systemctl("start", "vaultd.socket")
        try useSecret(marker, in: session, store: "secret_service")
        try expectNoTrace(of: marker, in: session)

        try session.systemctl("set-environment", "VAULTD_STORE=file")
        try session.systemctl("restart", "vaultd.service")
        expectSuccess(try session.vault("init", "--key-file", session.home + "/vault.key"))
        try useSecret(marker, in: session, store: "file")
        try expectNoTrace(of: marker, in: session)
        expectSuccess(try session.vault("lock"))
        try expectNoTrace(of: marker, in: session)
      }
    }

    /// Sets, replaces, reads and clears the secret, with every error on the way that a user can make, and looks at the
    /// arguments and the environment of every program that is started meanwhile.
    private func useSecret(_ marker: String, in session: UserSession, store: String) throws {
      let key = "Canary.token"
      let secret = Data((marker + "\n").utf8)
      let trace = session.runtime + "/trace"
      let traced = [
        "strace", "-f", "-v", "-s", "1000000", "-e", "trace=execve,execveat", "-o", trace,
        session.programs + "/vault",
      ]
      expectSuccess(try session.command(traced + ["set", key, "--json"], input: secret))
      let got = try session.command(traced + ["get", key, "--json"])
      #expect(got.json["secret"] as? String == marker)
      #expect(got.json["store"] as? String == store)
      let executed = try Root.run(["cat", trace]).text
      #expect(executed.contains("execve"))
      #expect(!executed.contains(marker))

      for _ in 0..<20 { expectSuccess(try session.vault("set", key, input: secret)) }
      for _ in 0..<20 { #expect(try session.vault("get", key).text == marker) }
      expectSuccess(
        try session.vault(
          "set", key, "--account", "large",
          input: Data((marker + String(repeating: "x", count: 200_000)).utf8)))
      _ = try session.vault("get", key, "--account", "large")
      _ = try session.vault("set", "nodot", input: secret)
      _ = try session.vault("set", key, marker)
      _ = try session.vault("list")
      _ = try session.vault("status")
      #expect(try processesOf(session).contains { $0.contains("vaultd") })
      #expect(!(try processesOf(session).contains { $0.contains(marker) }))
      expectSuccess(try session.vault("clear", key))
      expectSuccess(try session.vault("logout", "Canary"))
      #expect(try session.vault("get", key).status == 1)
    }

    private func expectNoTrace(of marker: String, in session: UserSession) throws {
      // Files: of the user, wherever they may write. A planted one is found first.
      let planted = session.home + "/planted"
      expectSuccess(try session.command(["tee", planted], input: Data(("x" + marker).utf8)))
      #expect(try filesWith(marker, session) == [planted])
      _ = try Root.run(["rm", planted])
      for form in forms(of: marker) { #expect(try filesWith(form, session).isEmpty) }

      let journal = try session.journal()
      #expect(journal.contains("Canary.token"))
      for form in forms(of: marker) { #expect(!journal.contains(form)) }

      for process in try processesOf(session) { #expect(!process.contains(marker)) }

      // Memory: the name of the interface is in there, the secret isn't.
      let pid = try session.daemonPID()
      #expect(pid > 1)
      #expect(try !memoryWith("org.vaultd.Vault", pid).isEmpty)
      for form in forms(of: marker) {
        let found = try memoryWith(form, pid)
        #expect(found.isEmpty, "\(found)")
      }
    }

    /// The marker as it may be written down: as it is, and as the middle of any Base64 that holds it.
    private func forms(of marker: String) -> [String] {
      [marker]
        + (0..<3).map { shift in
          let text = Data((String(repeating: "x", count: shift) + marker).utf8).base64EncodedString()
          return String(text.dropFirst(shift == 0 ? 0 : 4).dropLast(4))
        }
    }

    private func filesWith(_ text: String, _ session: UserSession) throws -> [String] {
      let script = """
        find \(session.home) \(session.runtime) /tmp /var/tmp /dev/shm -xdev -user \(session.uid) -type f \
          -exec grep --files-with-matches --fixed-strings --text --file=- /dev/null {} + || true
        """
      // `find` hands standard input to one grep only: the text goes through a file that is no file of the user.
      let needle = try Root.run(["mktemp"]).text.trimmingCharacters(in: .newlines)
      defer { _ = try? Root.run(["rm", needle]) }
      _ = try Root.run(["tee", needle], input: Data(text.utf8))
      let ended = try Root.run([
        "sh", "-c", script.replacingOccurrences(of: "--file=-", with: "--file=\(needle)"),
      ])
      return ended.text.split(separator: "\n").map(String.init)
    }

    /// The arguments and the environments of the user's processes.
    private func processesOf(_ session: UserSession) throws -> [String] {
      let script = """
        for p in $(pgrep -U \(session.uid)); do cat /proc/$p/cmdline /proc/$p/environ 2>/dev/null | tr '\\0' ' '; echo; done
        """
      return try Root.run(["sh", "-c", script]).text.split(separator: "\n").map(String.init)
    }

    private func memoryWith(_ text: String, _ pid: pid_t) throws -> [String] {
      let ended = try Root.run(
        ["/usr/bin/python3", Project.support("search-memory.py"), String(pid)], input: Data(text.utf8),
        seconds: 120)
      guard ended.status == 0 else { throw HarnessFailure("memory of \(pid): \(ended.errors)") }
      return ended.text.split(separator: "\n").map(String.init)
    }
  }
}
