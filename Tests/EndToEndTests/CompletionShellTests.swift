// Completions in the real shells, each at a terminal of its own: what the line is after the key was pressed, as the
// shell itself takes it apart.

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("Completions in the shells")
  struct CompletionShellTests {
    enum Shell: String, CaseIterable, CustomTestStringConvertible {
      case bash, zsh, fish
      /// With Debian's package of that name, which most people have.
      case bashCompletion = "bash-completion"

      var testDescription: String { rawValue }
      /// The shell that the script is for.
      var script: String { self == .bashCompletion ? "bash" : rawValue }
    }

    private struct Completed {
      var words: [String]
      var screen: String
    }

    /// Types lines, one after the other, and presses the key behind each.
    private func complete(
      _ shell: Shell, _ lines: [String], _ session: ThrowawaySession, environment: [String: String] = [:]
    ) throws -> [Completed] {
      let script = session.folder + "/completions." + shell.script
      try session.vault("completions", shell.script).output.write(to: URL(filePath: script))
      var all = ["PATH": "\(Project.binaries):/usr/bin:/bin", "VAULTD_SOCKET": session.socket]
      all.merge(environment) { $1 }
      let ended = try session.command(
        ["/usr/bin/python3", Project.support("complete-in-shell.py"), shell.rawValue, script] + lines,
        environment: all)
      let list = try? JSONSerialization.jsonObject(with: ended.output) as? [[String: Any]]
      guard ended.status == 0, let list, list.count == lines.count else {
        throw HarnessFailure("\(shell): \(ended.errors)")
      }
      return list.map {
        Completed(words: $0["words"] as? [String] ?? [], screen: $0["screen"] as? String ?? "")
      }
    }

    @Test(
      "commands, flags, keys, namespaces, accounts and files, in whatever way they are written",
      arguments: Shell.allCases)
    func words(shell: Shell) throws {
      try StoreUnderTest.file.run { session, _ in
        for key in [
          "Back4Gram.sessionToken", "Back4Gram.other", "Chat.two words", "Chat.it's", "https://x.token",
          "com.example.Chat.token", "Chat.$(touch pwned)",
        ] { try session.set(key, Data("M4RK3R".utf8)) }
        try session.set("Back4Gram.sessionToken", Data("M4RK3R".utf8), account: "alice")
        try session.set("Back4Gram.sessionToken", Data("M4RK3R".utf8), account: "bob smith")
        try Data().write(to: URL(filePath: session.home + "/some.key"))
        var lines = [
          ("stat", ["status"]), ("slot a", ["slot", "add"]), ("completions fi", ["completions", "fish"]),
          ("get Back4Gram.s", ["get", "Back4Gram.sessionToken"]),
          ("get Chat.tw", ["get", "Chat.two words"]), ("get 'Chat.tw", ["get", "Chat.two words"]),
          ("get \"Chat.tw", ["get", "Chat.two words"]), ("get Chat.i", ["get", "Chat.it's"]),
          ("get https:", ["get", "https://x.token"]), ("get https://x.", ["get", "https://x.token"]),
          ("logout com.example.Ch", ["logout", "com.example.Chat"]),
          ("get Back4Gram.sessionToken --acc", ["get", "Back4Gram.sessionToken", "--account"]),
          ("get --account al", ["get", "--account", "alice"]),
          ("get --account=al", ["get", "--account=alice"]),
          ("get --account=b", ["get", "--account=bob smith"]),
          ("run --env T=Back4Gram.s", ["run", "--env", "T=Back4Gram.sessionToken"]),
          ("unlock --key-file some", ["unlock", "--key-file", "some.key"]),
          ("unlock --key-file=some", ["unlock", "--key-file=some.key"]),
          ("run --env T=a.b -- ls some", ["run", "--env", "T=a.b", "--", "ls", "some.key"]),
          ("run --env T=a.b -- mkfif", ["run", "--env", "T=a.b", "--", "mkfifo"]),
          ("get nothing.li", ["get", "nothing.li"]),
        ]
        // A command behind -- is completed as if it stood alone; bash by itself cannot do that.
        if shell != .bash {
          lines.append(("renew a.b -- vault slot a", ["renew", "a.b", "--", "vault", "slot", "add"]))
        }
        let completed = try complete(shell, lines.map { "vault " + $0.0 } + ["vault get Chat.\t"], session)
        for (line, result) in zip(lines, completed) {
          #expect(result.words == ["vault"] + line.1, "\(line.0)")
        }
        let listed = try #require(completed.last)
        for key in ["two", "it", "touch"] { #expect(listed.screen.contains(key), "\(listed.screen)") }
        #expect(!listed.screen.contains("Back4Gram"))
        #expect(!listed.screen.contains("M4RK3R"))
        #expect(!FileManager.default.fileExists(atPath: session.home + "/pwned"))
      }
    }

    @Test(
      "where no daemon runs none is started, and commands are completed all the same",
      arguments: Shell.allCases)
    func startsNothing(shell: Shell) throws {
      try ThrowawaySession.with { session in
        let completed = try complete(
          shell, ["vault get Chat.t", "vault unl"], session, environment: ["VAULTD_AUTOSTART": "yes"])
        #expect(completed.map(\.words) == [["vault", "get", "Chat.t"], ["vault", "unlock"]])
        #expect(session.autostarted().isEmpty)
      }
    }

    @Test("a locked vault is completed without a question and without a wait", arguments: Shell.allCases)
    func locked(shell: Shell) throws {
      try StoreUnderTest.file.run { session, _ in
        try session.set("Chat.token", Data("token".utf8))
        expectSuccess(try session.vault("lock"))
        let completed = try complete(shell, ["vault get Chat.t"], session)
        #expect(completed.first?.words.starts(with: ["vault", "get"]) == true)
        #expect(completed.first?.screen.contains("assphrase") == false)
      }
    }

    @Test("zsh finds the script by itself where it is installed as _vault")
    func autoload() throws {
      try StoreUnderTest.file.run { session, _ in
        try session.set("Chat.token", Data("token".utf8))
        let folder = session.home + "/functions"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        try session.vault("completions", "zsh").output.write(to: URL(filePath: folder + "/_vault"))
        let program = """
          fpath=(\(folder) $fpath); autoload -U compinit; compinit -D -u
          print -r -- $_comps[vault]; autoload +X -U _vault; functions _vault | grep -c __complete
          """
        let ended = try session.command(["zsh", "-f", "-c", program])
        #expect(ended.text == "_vault\n1\n", "\(ended.errors)")
      }
    }
  }
}
