// Places and surroundings that are not as they should be: the command and the daemon choose the same place, or both say
// one clear thing; nobody waits for an answer that nobody can give.

import Foundation
import Glibc
import Spawning
import Testing

extension EndToEnd {
  @Suite("Hostile surroundings")
  struct HostilePlaceTests {
    @Test(
      "a runtime folder that cannot be written: command and daemon name it",
      .enabled(if: geteuid() == 0, "needs root"))
    func readOnly() throws {
      try ThrowawaySession.with { session in
        // Root may write everywhere, so they run as somebody who may not.
        let folder = session.folder + "/read-only"
        let programs = session.folder + "/bin"
        for path in [folder, programs] {
          try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        }
        for program in [Project.vault, Project.vaultd] {
          try FileManager.default.copyItem(
            atPath: program, toPath: programs + "/" + URL(filePath: program).lastPathComponent)
        }
        unsafe chmod(session.folder, 0o755)
        unsafe chown(folder, 65_534, 65_534)
        unsafe chmod(folder, 0o500)
        let stranger = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]
        for program in [["/vaultd", "--store", "file"], ["/vault", "get", "Chat.token"]] {
          let ended = try session.command(
            stranger + [programs + program[0]] + program.dropFirst(),
            environment: ["XDG_RUNTIME_DIR": folder, "HOME": folder])
          #expect([2, 8].contains(ended.status), "\(program[0]): \(ended.status) \(ended.errors)")
          #expect(ended.output.isEmpty)
          #expect(ended.errors.contains(folder), "\(ended.errors)")
        }
      }
    }

    @Test(
      "nothing is asked and nothing is waited for where nobody can answer",
      arguments: [
        (["get", "Chat.token"], 4), (["unlock"], 4), (["init"], 2), (["slot", "add", "passphrase"], 2),
      ] as [([String], Int32)])
    func nobodyToAsk(words: [String], status: Int32) throws {
      try ThrowawaySession.with { session in
        let daemon = try session.daemon("--store", "file")
        let made = try session.vault("init", "--passphrase-file", "-", input: Data("correct horse\n".utf8))
        expectSuccess(made)
        try session.set("Chat.token", Data("tok".utf8))
        try daemon.stop()
        _ = try session.daemon("--store", "file")
        // Standard input closed, at its end, and a pipe that is held open.
        for input in ["<&-", "</dev/null", "< <(exec sleep 30 >/dev/null 2>&1)"] {
          let start = ContinuousClock.now
          let ended = try session.command(
            ["setsid", "--wait", "bash", "-c", #"exec "$0" "$@" \#(input)"#, Project.vault] + words)
          #expect(ended.status == status, "\(words) \(input): \(ended.status) \(ended.errors)")
          #expect(ended.output.isEmpty)
          #expect(ContinuousClock.now - start < .seconds(10), "\(words) \(input)")
        }
      }
    }

    @Test(
      "names are the same bytes in every locale", arguments: ["C", "POSIX", "tr_TR.UTF-8", "xx_XX.latin1"])
    func locale(name: String) throws {
      try StoreUnderTest.file.run { session, _ in
        let keys = [
          "caf\u{E9}.token", "cafe\u{301}.token", "\u{1F511}.\u{1F5DD}\u{FE0F}", "\u{130}.i", "I.\u{131}",
          "i.I",
        ]
        let locale = ["LANG": name, "LC_ALL": name]
        for (number, key) in keys.enumerated() {
          expectSuccess(try session.vault("set", key, input: Data("\(number)".utf8), environment: locale))
        }
        for (number, key) in keys.enumerated() {
          #expect(try session.vault("get", key, environment: locale).text == "\(number)")
          #expect(try session.get(key) == Data("\(number)".utf8))
        }
        let listed =
          try session.vault("list", "--json", environment: locale).json["entries"] as? [[String: Any]]
        #expect(
          Set((listed ?? []).map { Array(($0["key"] as? String ?? "").utf8) })
            == Set(keys.map { Array($0.utf8) }))
      }
    }

    @Test("whatever is wrong with the words, no value among them is repeated")
    func echo() throws {
      try StoreUnderTest.file.run { session, daemon in
        let marker = "M4RK3R" + UUID().uuidString
        for words in [
          ["set", "Chat.token", marker], ["set", "Chat.token", "--secret", marker],
          ["set", "Chat.token", "--secret=\(marker)"],
          ["set", "Chat.token", "--value=\(marker)"], ["set", "Chat.token", "-p", marker],
          ["set", "Chat.token", "-p\(marker)"],
          ["set", "Chat.token", "--expires-in", marker], ["set", "Chat.token", "--if-version", marker],
          ["unlock", marker], ["unlock", "--passphrase", marker], ["unlock", "--passphrase=\(marker)"],
          ["init", marker],
          ["login", marker], ["slot", "add", "passphrase", marker], ["slot", "remove", marker],
          ["get", "Chat.token", marker],
        ] {
          let ended = try session.command([Project.vault] + words, input: Data("tok".utf8))
          #expect(ended.status == 2, "\(words): \(ended.status)")
          #expect(!ended.errors.contains(marker), "\(words): \(ended.errors)")
          #expect(ended.output.isEmpty)
        }
        #expect(!daemon.log.contains(marker))
      }
    }
  }
}
