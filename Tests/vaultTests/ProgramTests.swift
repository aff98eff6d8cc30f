// The command as a process: bytes in and out, streams, exit statuses, against a daemon that does what the test
// says.

import Foundation
import ScriptedDaemon
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultClient
import VaultModel
import VaultWire

@Suite struct ProgramTests {
  private let folder: TemporaryFolder
  private let program: Program
  private let socket: String
  private let id: EntryID

  init() throws {
    folder = try TemporaryFolder()
    program = Program(runtimeFolder: folder.path)
    try FileManager.default.createDirectory(
      atPath: folder.path + "/vault", withIntermediateDirectories: false)
    socket = folder.path + "/vault/vault.sock"
    id = EntryID(try Key("Back4Gram.sessionToken"))
  }

  private func entry(size: Int = 0, pending: Bool = false) -> Entry {
    Entry(
      id: id, version: 7, created: WallTime(seconds: 1), modified: WallTime(seconds: 2), label: "L",
      size: size,
      store: .file, pending: pending)
  }

  private func token(_ bytes: [UInt8]) throws -> Reply {
    .token(
      Token(entry: entry(size: bytes.count), secret: SharedSecret(try SecretBytes(copying: bytes.span))))
  }

  private func daemon(
    _ answer: @escaping @Sendable (Call) -> ScriptedDaemon.Answer
  ) throws -> ScriptedDaemon {
    try ScriptedDaemon(socket, answer: answer)
  }

  /// The secrets that were set.
  private func stored(_ daemon: ScriptedDaemon) -> [[UInt8]] {
    daemon.calls.compactMap { call in
      guard case .set(let request) = call else { return nil }
      return request.secret.bytes
    }
  }

  // MARK: Bytes

  @Test("get writes the bytes and nothing else, of every size", arguments: [0, 1, 256, 1_048_576])
  func get(size: Int) throws {
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
    let reply = try token(bytes)
    let daemon = try daemon { _ in .reply(reply) }
    defer { daemon.stop() }
    let run = try program.run("get", "Back4Gram.sessionToken")
    #expect(run.status == 0)
    #expect(run.output == bytes)
    #expect(run.error == "")
  }

  @Test(
    "set stores what came, less one line end at the very end, or with --raw all of it",
    arguments: [
      ("tok", "tok"), ("tok\n", "tok"), ("tok\r\n", "tok"), ("a\nb\n", "a\nb"), ("tok\n\n", "tok\n"),
      (" \n", " "),
    ])
  func lineEnds(input: String, kept: String) throws {
    let daemon = try daemon { _ in .reply(.entry(self.entry())) }
    defer { daemon.stop() }
    #expect(try program.run("set", "Back4Gram.sessionToken", input: Array(input.utf8)).status == 0)
    #expect(try program.run("set", "Back4Gram.sessionToken", "--raw", input: Array(input.utf8)).status == 0)
    #expect(stored(daemon) == [Array(kept.utf8), Array(input.utf8)])
  }

  @Test(
    "an empty secret is refused before anything is sent, unless it is allowed", arguments: ["", "\n", "\r\n"])
  func empty(input: String) throws {
    let daemon = try daemon { _ in .reply(.entry(self.entry())) }
    defer { daemon.stop() }
    let run = try program.run("set", "Back4Gram.sessionToken", input: Array(input.utf8))
    #expect(run.status == 2)
    #expect(run.output == [])
    #expect(run.error.contains("nothing was stored"))
    #expect(daemon.accepted == 0)
    #expect(
      try program.run("set", "Back4Gram.sessionToken", "--allow-empty", input: Array(input.utf8)).status == 0)
    #expect(stored(daemon) == [[]])
  }

  @Test(
    "a secret of 1 MiB is taken, with a line end behind it too; one byte more is refused before it is sent")
  func limit() throws {
    let daemon = try daemon { _ in .reply(.entry(self.entry())) }
    defer { daemon.stop() }
    let largest = [UInt8](repeating: 0xFF, count: 1_048_576)
    #expect(try program.run("set", "a.b", input: largest).status == 0)
    #expect(try program.run("set", "a.b", input: largest + [0x0D, 0x0A]).status == 0)
    #expect(stored(daemon) == [largest, largest])
    for input in [largest + [1], largest + [1, 0x0A], largest + largest] {
      let run = try program.run("set", "a.b", input: input)
      #expect(run.status == 12)
      #expect(run.error.contains("1048576"))
    }
    #expect(try program.run("set", "a.b", "--raw", input: largest + [0x0A]).status == 12)
    #expect(daemon.calls.count == 2)
  }

  @Test("--json is one flat object on one line, with the secret as text or as Base64")
  func json() throws {
    let answers = Mutex([try token(Array("a\"b\n\u{1F511}".utf8)), try token([0, 0xFF]), .entry(entry())])
    let daemon = try daemon { _ in .reply(answers.withLock { $0.removeFirst() }) }
    defer { daemon.stop() }
    let text = try program.run("get", "Back4Gram.sessionToken", "--json")
    let bytes = try program.run("get", "Back4Gram.sessionToken", "--json")
    let set = try program.run("set", "Back4Gram.sessionToken", "--json", input: [1])
    for run in [text, bytes, set] {
      #expect(run.output.last == 0x0A)
      #expect(run.output.count { $0 == 0x0A } == 1)
    }
    func object(_ run: Run) throws -> [String: Any] {
      try #require(try JSONSerialization.jsonObject(with: Data(run.output)) as? [String: Any])
    }
    #expect(try object(text)["secret"] as? String == "a\"b\n\u{1F511}")
    #expect(try object(text)["secretBase64"] == nil)
    #expect(try object(bytes)["secretBase64"] as? String == "AP8=")
    #expect(try object(bytes)["secret"] == nil)
    #expect(
      Set(try object(set).keys) == [
        "key", "account", "version", "created", "modified", "untilLogout", "label", "size", "store",
        "pending",
      ])
    #expect(try object(set)["key"] as? String == "Back4Gram.sessionToken")
  }

  @Test("every other --json is the reply's parameters")
  func parameters() throws {
    let daemon = try daemon { call in
      switch call {
      case .list: .reply(.entries([self.entry()]))
      case .verify: .reply(.verification(Verification(records: 3, damaged: 0, sound: true)))
      case .clear: .reply(.clearance(Clearance(cleared: 1, pending: false)))
      case .clearNamespace: .reply(.namespaceClearance(Clearance(cleared: 3, pending: false)))
      default: .error(.internal(reason: "not asked for"))
      }
    }
    defer { daemon.stop() }
    #expect(try program.run("verify", "--json").text == #"{"records":3,"damaged":0,"sound":true}"# + "\n")
    #expect(try program.run("clear", "a.b", "--json").text == #"{"cleared":true,"pending":false}"# + "\n")
    #expect(try program.run("logout", "a", "--json").text == #"{"cleared":3,"pending":false}"# + "\n")
    #expect(
      try program.run("list", "--json").text.hasPrefix(#"{"entries":[{"key":"Back4Gram.sessionToken","#))
  }

  // MARK: Outcomes

  @Test("every outcome has its exit status, one line on standard error, and nothing on standard output")
  func outcomes() throws {
    let errors: [(VaultError, Int32)] = [
      (.notFound(id), 1), (.invalidArgument(argument: "key", reason: "r"), 2),
      (.expired(id, at: WallTime(seconds: 5)), 3), (.locked(store: .secretService, reason: "locked"), 4),
      (.denied(reason: "d"), 5), (.conflict(id, version: 8), 6),
      (.unavailable(store: .secretService, reason: "two\nlines\u{1B}[2J"), 7),
      (.damaged(store: .file, reason: "d"), 9),
      (.wrongPassphrase, 10), (.unsupportedVersion(found: 2, supported: 1), 11),
      (.tooLarge(size: 1_048_577, limit: 1_048_576), 12), (.internal(reason: "i"), 70),
    ]
    let next = Mutex(0)
    let daemon = try daemon { _ in
      next.withLock { next in
        defer { next += 1 }
        return .error(errors[next].0)
      }
    }
    defer { daemon.stop() }
    for (_, status) in errors {
      let run = try program.run("get", "Back4Gram.sessionToken")
      #expect(run.status == status)
      #expect(run.output == [])
      #expect(run.error.hasPrefix("vault: "))
      #expect(run.error.unicodeScalars.filter(\.isControl) == ["\n"])
    }
  }

  @Test("no daemon is 8, for status and lock too, and nothing is started")
  func noDaemon() throws {
    for words in [["get", "a.b"], ["status"], ["lock"], ["status", "--json"]] {
      let run = try program.shell("\"$vault\" " + words.joined(separator: " "))
      #expect(run.status == 8)
      #expect(run.output == [])
      #expect(run.error.contains(socket))
    }
    var elsewhere = program
    elsewhere.environment["VAULTD_SOCKET"] = "/" + String(repeating: "p", count: 107)
    #expect(try elsewhere.run("status").status == 2)
  }

  @Test("a clear that is pending prints its result and exits 7; one of nothing succeeds and says so")
  func clear() throws {
    let answers = Mutex<[Clearance]>([
      Clearance(cleared: 1, pending: true), Clearance(cleared: 2, pending: true),
      Clearance(cleared: 0, pending: false),
      Clearance(cleared: 1, pending: false), Clearance(cleared: 3, pending: false),
    ])
    let daemon = try daemon { call in
      let clearance = answers.withLock { $0.removeFirst() }
      if case .clear = call { return .reply(.clearance(clearance)) }
      return .reply(.namespaceClearance(clearance))
    }
    defer { daemon.stop() }
    let pending = try program.run("clear", "Back4Gram.sessionToken")
    #expect(pending.status == 7)
    #expect(pending.text == "cleared Back4Gram.sessionToken, pending\n")
    let logout = try program.run("logout", "Back4Gram", "--json")
    #expect(logout.status == 7)
    #expect(logout.text == #"{"cleared":2,"pending":true}"# + "\n")
    let nothing = try program.run("clear", "Back4Gram.sessionToken")
    #expect(nothing.status == 0)
    #expect(nothing.text == "nothing stored\n")
    #expect(try program.run("clear", "Back4Gram.sessionToken").text == "cleared Back4Gram.sessionToken\n")
    #expect(try program.run("logout", "Back4Gram").text == "cleared 3 tokens of Back4Gram\n")
  }

  @Test("logout clears every account unless one is named, the empty one too")
  func logoutAccount() throws {
    let daemon = try daemon { _ in .reply(.namespaceClearance(Clearance(cleared: 0, pending: false))) }
    defer { daemon.stop() }
    _ = try program.run("logout", "Back4Gram")
    _ = try program.run("logout", "Back4Gram", "--account=")
    _ = try program.run("logout", "Back4Gram", "--account", "alice")
    let accounts = daemon.calls.map { call -> String? in
      guard case .clearNamespace(_, let account) = call else { return "?" }
      return account?.text
    }
    #expect(accounts == [nil, "", "alice"])
  }

  @Test("an unsound vault file is shown and is 9")
  func unsound() throws {
    let daemon = try daemon { _ in .reply(.verification(Verification(records: 3, damaged: 1, sound: false))) }
    defer { daemon.stop() }
    let run = try program.run("verify")
    #expect(run.status == 9)
    #expect(run.text == "3 records, 1 damaged: not sound\n")
    #expect(run.error.hasPrefix("vault: "))
  }

  // MARK: Streams

  @Test("an output that cannot be written is an error, not a success and not a death by a signal")
  func output() throws {
    let reply = try token([UInt8](repeating: 0x61, count: 300_000))
    let daemon = try daemon { _ in .reply(reply) }
    defer { daemon.stop() }
    for line in [
      "\"$vault\" get a.b > /dev/full", "\"$vault\" get a.b >&-",
      "{ \"$vault\" get a.b; echo $? >&2; } | true",
      "\"$vault\" help > /dev/full", "\"$vault\" get a.b --json >&- <&-",
    ] {
      let run = try program.shell(line)
      #expect(run.error.contains("standard output cannot be written"), "\(line)")
      #expect(run.status == 7 || run.error.hasSuffix("\n7\n"), "\(line)")
    }
    // With every stream closed, the socket is none of them.
    #expect(try program.shell("\"$vault\" get a.b >&- 2>&- <&-").status == 7)
    #expect(try program.shell("printf x | \"$vault\" get a.b 2>&-").output.count == 300_000)
  }

  @Test("get does not touch standard input, and a closed one is an error for set")
  func input() throws {
    let reply = try token([0x61])
    let daemon = try daemon { _ in .reply(reply) }
    defer { daemon.stop() }
    #expect(try program.shell("printf rest | { \"$vault\" get a.b; cat; }").text == "arest")
    let run = try program.shell("\"$vault\" set a.b <&-")
    #expect(run.status == 2)
    #expect(run.error.contains("standard input cannot be read"))
    #expect(stored(daemon) == [])
  }

  @Test("nothing is asked where nobody can answer")
  func noQuestion() throws {
    let daemon = try daemon { _ in
      .error(.locked(store: .file, reason: "the vault file is locked: run vault unlock"))
    }
    defer { daemon.stop() }
    #expect(try program.run("get", "a.b").status == 4)
    #expect(try program.run("unlock").status == 4)
    #expect(try program.run("init").status == 2)
    #expect(try program.run("slot", "add", "passphrase").status == 2)
    #expect(daemon.calls.count == 2)
  }

  @Test("flags of time are judged before input is read, and sent as seconds")
  func times() throws {
    let daemon = try daemon { _ in .reply(.entry(self.entry())) }
    defer { daemon.stop() }
    for flag in [
      "--expires-in=0", "--expires-in=-1", "--expires-in=1e3", "--idle=nan", "--expires-in=10 ",
      "--expires-at=2027-01-31", "--if-version=-1", "--if-version=", "--expires-from-jwt", "--label=a\tb",
    ] {
      let run = try program.run("set", "a.b", flag, input: [0x61])
      #expect(run.status == 2, "\(flag)")
    }
    #expect(
      try program.run("set", "a.b", "--expires-in=1h", "--expires-at=@9999999999", input: [1]).status == 2)
    #expect(daemon.accepted == 0)
    let run = try program.run(
      "set", "a.b", "--expires-in", "1h30m", "--idle=7d", "--until-logout", "--label", "ü", "--if-version=0",
      "--no-prompt", "--account", "alice", input: [0x61])
    #expect(run.status == 0)
    let header = "eyJhbGciOiJub25lIn0"
    #expect(
      try program.run(
        "set", "a.b", "--expires-from-jwt", input: Array("\(header).eyJleHAiOjE5MDAwMDAwMDB9.".utf8)
      )
      .status == 0)
    guard case .set(let first)? = daemon.calls.first, case .set(let second)? = daemon.calls.last else {
      Issue.record("two calls of Set")
      return
    }
    #expect(first.expiresIn == 5_400 && first.idle == 604_800 && first.untilLogout && first.label == "ü")
    #expect(
      first.ifVersion == 0 && !first.interactive && first.id.account.text == "alice" && first.expires == nil)
    #expect(second.expires == 1_900_000_000 && second.expiresIn == nil && second.interactive)
  }

  // MARK: Passphrases and keys

  @Test("a passphrase comes from a file of one's own, or from standard input, less one line end")
  func passphrases() throws {
    let daemon = try daemon { _ in .reply(.empty) }
    defer { daemon.stop() }
    let path = folder.path + "/pass"
    let files = FileManager.default
    _ = files.createFile(
      atPath: path, contents: Data("correct horse\n".utf8), attributes: [.posixPermissions: 0o600])
    #expect(try program.run("unlock", "--passphrase-file", path).status == 0)
    #expect(try program.run("init", "--passphrase-file", "-", input: Array("two\r\n".utf8)).status == 0)
    for mode in [0o640, 0o604, 0o620, 0o644] {
      try files.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      let run = try program.run("unlock", "--passphrase-file", path)
      #expect(run.status == 2)
      #expect(run.error.contains("chmod 600"))
    }
    for input in ["", "\n", "a\0b", String(repeating: "p", count: 4_097)] {
      #expect(try program.run("unlock", "--passphrase-file=-", input: Array(input.utf8)).status == 2)
    }
    #expect(try program.run("unlock", "--passphrase-file=-", input: [0xFF]).status == 2)
    #expect(try program.run("unlock", "--passphrase-file", folder.path).status == 2)
    #expect(try program.run("unlock", "--passphrase-file", folder.path + "/none").status == 2)
    let given = daemon.calls.map { call -> String? in
      switch call {
      case .unlock(.passphrase(let secret)), .initialise(.passphrase(let secret)): secret.text
      default: nil
      }
    }
    #expect(given == ["correct horse", "two"])
  }

  @Test("the path of a key file is made one that the daemon can use, and what it is worth is said")
  func keyFiles() throws {
    let slot = Slot(number: 2, kind: .keyFile, detail: "/k", created: WallTime(seconds: 1))
    let daemon = try daemon { call in
      if case .addSlot = call { return .reply(.slot(slot)) }
      return .reply(.empty)
    }
    defer { daemon.stop() }
    let run = try program.shell("cd / && \"$vault\" init --key-file some/key")
    #expect(run.status == 0)
    #expect(run.text.contains("/some/key protects copies of the vault file"))
    #expect(try program.run("slot", "add", "key-file", "/k").text.contains("slot 2 opens"))
    #expect(try program.run("slot", "add", "credential", "c").status == 0)
    #expect(try program.run("slot", "add", "key-file").status == 2)
    #expect(try program.run("slot", "add", "passphrase", "S3cret").status == 2)
    #expect(try program.run("slot", "remove", "-1").status == 2)
    #expect(try program.run("slot", "remove", "1x").status == 2)
    let keys = daemon.calls.map { call -> String in
      switch call {
      case .initialise(.keyFile(let path)), .addSlot(.keyFile(let path)): path
      case .addSlot(.credential(let name)): "credential " + name
      default: "?"
      }
    }
    #expect(keys == ["/some/key", "/k", "credential c"])
  }

  // MARK: run

  @Test("run starts a program with its tokens and ends as it does")
  func runs() throws {
    let daemon = try daemon { call in
      guard case .get(let request) = call, let reply = try? self.token(Array(request.id.key.text.utf8)) else {
        return .nothing
      }
      return .reply(reply)
    }
    defer { daemon.stop() }
    let run = try program.shell(
      "A=old \"$vault\" run --env A=a.b --env=B_2=c.d -- sh -c 'echo \"$A $B_2\"; exit 42'")
    #expect(run.text == "a.b c.d\n")
    #expect(run.status == 42)
    #expect(try program.shell("\"$vault\" run --env A=a.b -- sh -c 'kill -TERM $$'").status == 128 + 15)
    // What this process did to SIGPIPE is not handed on.
    #expect(
      try program.shell(
        "env --default-signal=PIPE \"$vault\" run --env A=a.b -- sh -c 'yes | true; kill -PIPE $$'"
      ).status == 128 + 13)
    #expect(try program.run("run", "--env", "A=a.b", "--", "no-such-program").status == 127)
    #expect(try program.run("run", "--env", "1A=a.b", "--", "true").status == 2)
    #expect(try program.run("run", "--env", "A=a.b", "--env", "A=c.d", "--", "true").status == 2)
    #expect(try program.run("run", "--", "true").status == 2)
    #expect(try program.run("run", "--env", "A=a.b").status == 2)
  }

  @Test("run starts nothing unless every token was read")
  func runsNothing() throws {
    let reply = try token([0x61, 0])
    let daemon = try daemon { call in
      if case .get(let request) = call, request.id.key.text == "nul.token" { return .reply(reply) }
      return .error(.notFound(self.id))
    }
    defer { daemon.stop() }
    for (key, status) in [("a.b", 1), ("nul.token", 2)] as [(String, Int32)] {
      let run = try program.run("run", "--env", "A=\(key)", "--", "echo", "started")
      #expect(run.status == status)
      #expect(run.output == [])
    }
  }
}
