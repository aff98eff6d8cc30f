// The command line: what is understood, what is refused, and that help and reader agree.

import Testing

@testable import vault

@Suite struct InvocationTests {
  private func read(_ words: String...) throws -> Invocation {
    guard case .run(let invocation) = try readCommandLine(words) else {
      Issue.record("no invocation")
      return Invocation(command: .help)
    }
    return invocation
  }

  private func refusal(_ words: [String]) -> Failure? {
    do {
      _ = try readCommandLine(words)
      return nil
    } catch {
      return error
    }
  }

  @Test("flags may stand anywhere, with their value behind them or attached")
  func flags() throws {
    for words in [
      ["get", "a.b", "--account", "alice", "--json"], ["get", "--json", "--account=alice", "a.b"],
      ["get", "--account", "alice", "--json", "--", "a.b"],
    ] {
      #expect(
        try readCommandLine(words)
          == .run(Invocation(command: .get, operands: ["a.b"], values: [.account: ["alice"], .json: []])))
    }
    #expect(try read("get", "a.b", "--account=")[.account] == "")
    #expect(try read("get", "a.b", "--account", "")[.account] == "")
    #expect(try read("get", "a.b", "--account=--json")[.account] == "--json")
    #expect(try read("get", "--", "--json.b").operands == ["--json.b"])
    #expect(try read("unlock", "--passphrase-file", "-")[.passphraseFile] == "-")
    #expect(try read("slot", "add", "key-file", "/k").command == .slotAdd)
  }

  @Test("what stands behind -- is another program's command line, for run")
  func program() throws {
    let invocation = try read("run", "--env", "A=a.b", "--env=B=c.d", "--", "env", "--json", "--", "x")
    #expect(invocation.values[.env] == ["A=a.b", "B=c.d"])
    #expect(invocation.program == ["env", "--json", "--", "x"])
    #expect(refusal(["run", "--env", "A=a.b", "env"])?.status == 2)
    let renewal = try read("renew", "--min-validity=5m", "a.b", "--", "fetch", "--json")
    #expect(renewal.operands == ["a.b"])
    #expect(renewal.program == ["fetch", "--json"])
  }

  @Test(
    "what is not understood is a usage error",
    arguments: [
      [], [""], ["frobnicate"], ["--json"], ["-h"], ["get", "a.b", "--bogus"], ["get", "a.b", "-j"],
      ["get", "a.b", "--json", "--json"], ["get", "a.b", "--json=yes"], ["get", "a.b", "--account"],
      ["get", "a.b", "--account", "--json"], ["get", "a.b", "--account", "x", "--account", "y"],
      ["get", "a.b", "c.d"],
      ["status", "now"], ["slot"], ["slot", "bogus"], ["slot", "remove"], ["slot", "remove", "1", "2"],
      ["slot", "add"], ["list", "a", "b"], ["get", "a.b", "--raw"], ["watch", "a", "b"],
      ["watch", "--account", "x"], ["renew", "a.b", "c.d", "--", "x"],
      ["renew", "a.b", "--idle=1", "--", "x"],
      ["completions", "bash", "zsh"],
    ])
  func usage(words: [String]) {
    #expect(refusal(words)?.status == 2)
  }

  @Test(
    "a missing or empty argument never widens what is done",
    arguments: [
      ["clear"], ["clear", ""], ["logout"], ["logout", ""], ["get"], ["get", ""], ["set"], ["set", ""],
      ["list", ""], ["watch", ""], ["touch"], ["touch", ""], ["renew"], ["renew", ""], ["renew", "--", "x"],
      ["completions"], ["completions", ""],
      ["slot", "remove", ""], ["slot", "add", "key-file", ""],
    ])
  func neverWider(words: [String]) {
    #expect(refusal(words)?.status == 2)
  }

  @Test("a wrong command or flag names the nearest right one")
  func nearest() {
    for (word, meant) in [
      ("stauts", "status"), ("toch", "touch"), ("wacth", "watch"), ("renw", "renew"),
      ("completion", "completions"),
    ] { #expect(refusal([word])?.text.contains("did you mean \(meant)?") == true) }
    #expect(
      refusal(["renew", "a.b", "--min-valid=1"])?.text.contains("did you mean --min-validity?") == true)
    #expect(refusal(["slot", "lst"])?.text.contains("did you mean list?") == true)
    #expect(refusal(["get", "a.b", "--acount", "x"])?.text.contains("did you mean --account?") == true)
    #expect(refusal(["--versoin"])?.text.contains("did you mean --version?") == true)
  }

  @Test("what may be a secret in the wrong place is never repeated")
  func secretsAreNotEchoed() {
    for words in [
      ["set", "a.b", "S3cret"], ["set", "a.b", "--S3cret"], ["set", "a.b", "-S3cret"],
      ["set", "a.b", "--json=S3cret"],
      ["S3cret"], ["slot", "S3cret"], ["--S3cret"], ["set", "a.b", "--label", "x", "S3cret"],
    ] {
      let failure = refusal(words)
      #expect(failure?.status == 2)
      #expect(failure?.text.contains("S3cret") == false)
    }
    #expect(refusal(["set", "a.b", "S3cret"])?.text.contains("| vault set KEY") == true)
  }

  @Test("help is shown wherever it is asked for, and nothing is done")
  func help() throws {
    #expect(try readCommandLine(["--help"]) == .help([]))
    #expect(try readCommandLine(["clear", "a.b", "--help"]) == .help([.clear]))
    #expect(try readCommandLine(["slot", "add", "--help"]) == .help([.slotAdd]))
    #expect(try readCommandLine(["slot", "--help"]) == .help([.slotList, .slotAdd, .slotRemove]))
    #expect(try readCommandLine(["--version"]) == .version)
    #expect(try read("run", "--env", "A=a.b", "--", "x", "--help").program == ["x", "--help"])
  }

  @Test(
    "the synopsis of every command shows its flags and no other, and help explains each",
    arguments: Command.allCases)
  func synopsis(command: Command) {
    let shown = Set(
      command.synopsis.split(whereSeparator: { " \n[]|()".contains($0) }).filter {
        $0.hasPrefix("--") && $0 != "--"
      }
      .map(String.init))
    #expect(shown == Set(command.flags.map(\.rawValue)))
    let text = helpText([command])
    for flag in command.flags { #expect(text.contains("  \(flag.rawValue) ")) }
    #expect(command.synopsis.hasPrefix("vault \(command.rawValue)"))
    #expect(helpText([]).contains(command.synopsis.split(separator: "\n")[0]))
    for line in text.split(separator: "\n") { #expect(line.count <= 110) }
  }
}
