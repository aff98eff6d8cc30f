// The command at a terminal: questions without echo, and the terminal as it was before, whatever happens.

import Foundation
import ScriptedDaemon
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultClient
import VaultModel
import VaultWire

@Suite struct TerminalTests {
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

  private func entry() -> Entry {
    Entry(
      id: id, version: 7, created: WallTime(seconds: 1), modified: WallTime(seconds: 2), size: 3, store: .file
    )
  }

  private func stored(_ daemon: ScriptedDaemon) -> [String?] {
    daemon.calls.map { call in
      guard case .set(let request) = call else { return nil }
      return request.secret.text
    }
  }

  @Test(
    "set asks without echo, and takes a line as it was meant",
    arguments: [
      ("s3cret\n", "s3cret"), ("s3x\u{7F}cret\r", "s3cret"), ("wrong\u{15}s3cret\n", "s3cret"),
      ("s3cretü\u{7F}\n", "s3cret"), ("s3cret\u{4}", "s3cret"),
    ])
  func ask(typed: String, kept: String) throws {
    let daemon = try ScriptedDaemon(socket) { _ in .reply(.entry(self.entry())) }
    defer { daemon.stop() }
    let session = try TerminalSession(program, ["set", "Back4Gram.sessionToken"])
    try session.wait(for: "Secret for Back4Gram.sessionToken: ")
    #expect(!session.echoes)
    try session.type(typed)
    #expect(try session.end() == 0)
    #expect(session.echoes)
    #expect(!session.screen.contains("s3"))
    #expect(stored(daemon) == [kept])
  }

  @Test("a line may be longer than the terminal's own lines, which end at 4,095 bytes")
  func longLine() throws {
    let daemon = try ScriptedDaemon(socket) { _ in .reply(.entry(self.entry())) }
    defer { daemon.stop() }
    let secret = String(repeating: "s3cret", count: 2_000)
    let session = try TerminalSession(program, ["set", "Back4Gram.sessionToken"])
    try session.wait(for: ": ")
    try session.type(secret + "\n")
    #expect(try session.end() == 0)
    #expect(stored(daemon) == [secret])
  }

  @Test(
    "an empty line, no line, and more lines than one store nothing",
    arguments: ["\n", "\u{4}", "first\nsecond\n"])
  func refused(typed: String) throws {
    let daemon = try ScriptedDaemon(socket) { _ in .reply(.entry(self.entry())) }
    defer { daemon.stop() }
    let session = try TerminalSession(program, ["set", "Back4Gram.sessionToken"])
    try session.wait(for: ": ")
    try session.type(typed)
    #expect(try session.end() == 2)
    #expect(session.echoes)
    #expect(stored(daemon) == [])
  }

  @Test(
    "a signal leaves the terminal as it was, and does what it does",
    arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
  func signals(number: Int32) throws {
    let session = try TerminalSession(program, ["set", "Back4Gram.sessionToken"])
    try session.wait(for: ": ")
    #expect(!session.echoes)
    try session.type("s3cr")
    session.signal(number)
    #expect(try session.end() == -number)
    #expect(session.echoes)
    #expect(!session.screen.contains("s3"))
  }

  @Test("get on a terminal ends the line, and asks for the passphrase of a locked vault file")
  func passphrase() throws {
    let secret = SharedSecret(try SecretBytes(copying: "tok"))
    let isOpen = Mutex(false)
    let daemon = try ScriptedDaemon(socket) { call in
      switch call {
      case .unlock(.passphrase(let passphrase)) where passphrase.text == "correct horse":
        isOpen.withLock { $0 = true }
        return .reply(.empty)
      case .unlock: return .error(.wrongPassphrase)
      default:
        guard isOpen.withLock({ $0 }) else {
          return .error(.locked(store: .file, reason: "the vault file is locked: run vault unlock"))
        }
        return .reply(.token(Token(entry: self.entry(), secret: secret)))
      }
    }
    defer { daemon.stop() }

    let silent = try TerminalSession(program, ["get", "Back4Gram.sessionToken", "--no-prompt"])
    #expect(try silent.end() == 4)

    let wrong = try TerminalSession(program, ["get", "Back4Gram.sessionToken"])
    try wrong.wait(for: "Passphrase of the vault file: ")
    try wrong.type("wrong\n")
    #expect(try wrong.end() == 10)

    let right = try TerminalSession(program, ["get", "Back4Gram.sessionToken"])
    try right.wait(for: "Passphrase of the vault file: ")
    #expect(!right.echoes)
    try right.type("correct horse\n")
    #expect(try right.end() == 0)
    #expect(right.screen.hasSuffix("\r\ntok\r\n"))
    #expect(!right.screen.contains("horse"))
  }

  @Test("a new passphrase is asked for twice, also when both were typed ahead")
  func twice() throws {
    let daemon = try ScriptedDaemon(socket) { _ in .reply(.empty) }
    defer { daemon.stop() }
    for (typed, status) in [("one\ntwo\n", 2), ("one\none\n", 0), ("\n", 2)] as [(String, Int32)] {
      let session = try TerminalSession(program, ["init"])
      try session.wait(for: "New passphrase for the vault file: ")
      try session.type(typed)
      #expect(try session.end() == status)
    }
    #expect(daemon.calls.count == 1)
  }

  @Test("colour is shown on a terminal, and not where NO_COLOR says so")
  func colour() throws {
    let daemon = try ScriptedDaemon(socket) { _ in .reply(.entries([self.entry()])) }
    defer { daemon.stop() }
    var program = program
    program.environment["TERM"] = "xterm"
    let coloured = try TerminalSession(program, ["list"])
    #expect(try coloured.end() == 0)
    #expect(coloured.screen.contains("\u{1B}[1mKEY"))
    program.environment["NO_COLOR"] = "1"
    let plain = try TerminalSession(program, ["list"])
    #expect(try plain.end() == 0)
    #expect(plain.screen.hasPrefix("KEY"))
    #expect(!(try program.run("list").text.contains("\u{1B}")))
  }
}
