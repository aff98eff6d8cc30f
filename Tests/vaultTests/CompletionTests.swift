// What may stand at each place of the command line, and that the question for it is quick and touches nothing.

import Foundation
import Glibc
import ScriptedDaemon
import Synchronization
import TestSupport
import Testing
import VaultModel
import VaultWire

@testable import vault

@Suite struct CompletionTests {
  private let entries: [Entry]

  init() throws {
    entries = try [
      ("Back4Gram.sessionToken", "alice"), ("Back4Gram.sessionToken", ""), ("Back4Gram.refreshToken", "bob"),
      ("com.example.Chat.token", ""), ("Chat.cafe\u{301}", ""), ("Chat.caf\u{e9}", ""),
    ].map { key, account in
      Entry(
        id: EntryID(try Key(key), try Account(account)), version: 1, created: WallTime(seconds: 1),
        modified: WallTime(seconds: 1), size: 1, store: .file)
    }
  }

  private func complete(_ words: String...) -> [String] {
    Completion(words) { entries }.candidates.map(\.word)
  }

  private func kind(_ words: String...) -> Completion.Kind {
    Completion(words) {
      Issue.record("nobody wants to know what is stored")
      return []
    }.kind
  }

  @Test("commands come first, all of them, with what they do")
  func commands() {
    let offered = Completion([""]) { [] }.candidates
    #expect(
      Set(offered.map(\.word)) == Set(Command.allCases.map { String($0.rawValue.split(separator: " ")[0]) }))
    #expect(offered.allSatisfy { !$0.meaning.isEmpty })
    #expect(complete("st") == ["status"])
    #expect(complete("--") == ["--help", "--version"])
    #expect(complete("slot", "") == ["list", "add", "remove"])
    #expect(complete("slot", "add", "k") == ["key-file"])
    #expect(complete("help", "slot", "r") == ["remove"])
    #expect(complete("completions", "") == ["bash", "zsh", "fish"])
    #expect(complete("frobnicate", "") == [])
  }

  @Test("a command's flags are those that it has and that are not there yet", arguments: Command.allCases)
  func flags(command: Command) {
    let words = command.rawValue.split(separator: " ").map(String.init)
    let all = Completion(words + ["--"]) { [] }.candidates.map(\.word).filter { $0 != "--" }
    #expect(Set(all) == Set((command.flags + [.help]).map(\.rawValue)))
    guard let flag = command.flags.first(where: { !$0.repeats && $0.placeholder == nil }) else { return }
    let rest = Completion(words + [flag.rawValue, "--"]) { [] }.candidates.map(\.word).filter { $0 != "--" }
    #expect(Set(rest) == Set(all).subtracting([flag.rawValue]))
  }

  @Test("keys, namespaces and accounts are those that are stored, each once, byte for byte")
  func stored() {
    #expect(complete("get", "Back") == ["Back4Gram.refreshToken", "Back4Gram.sessionToken"])
    #expect(complete("get", "Chat.caf\u{e9}") == ["Chat.caf\u{e9}"])
    #expect(complete("logout", "") == ["Back4Gram", "Chat", "com.example.Chat"])
    #expect(complete("list", "c") == ["com.example.Chat"])
    #expect(complete("watch", "com") == ["com.example.Chat", "com.example.Chat.token"])
    #expect(complete("get", "--account", "") == ["alice", "bob"])
    #expect(complete("get", "Back4Gram.sessionToken", "--account", "") == ["alice"])
    #expect(complete("get", "Back4Gram.sessionToken", "--account=") == ["--account=alice"])
    #expect(complete("logout", "Back4Gram", "--account", "b") == ["bob"])
    #expect(complete("get", "--json", "--account", "x", "com") == ["com.example.Chat.token"])
    #expect(complete("get", "Back4Gram.sessionToken", "") == [])
    #expect(complete("get", "--", "com") == ["com.example.Chat.token"])
    #expect(complete("run", "--env", "A=com") == ["A=com.example.Chat.token"])
    #expect(complete("run", "--env=A=com") == ["--env=A=com.example.Chat.token"])
    #expect(complete("renew", "com") == ["com.example.Chat.token"])
  }

  @Test("files and other programs are the shell's own business, and free text is nobody's")
  func others() {
    #expect(kind("unlock", "--key-file", "") == .files)
    #expect(kind("unlock", "--passphrase-file=/e") == .files)
    #expect(kind("slot", "add", "key-file", "/") == .files)
    #expect(kind("run", "--env", "A=a.b", "--", "ls", "") == .command)
    #expect(kind("renew", "a.b", "--", "") == .command)
    #expect(complete("renew", "a.b", "") == ["--"])
    #expect(complete("run", "") == ["--"])
    for words in [
      ["set", "a.b", "--label", ""], ["set", "a.b", "--expires-in", ""], ["slot", "remove", ""], [],
    ] {
      #expect(Completion(words) { [] }.kind == .words)
    }
    #expect(complete("set", "a.b", "--label", "") == [])
    #expect(complete("slot", "add", "credential", "") == [])
    #expect(complete("get", "--bogus", "") == [])
  }

  // MARK: The program

  private struct Place {
    let folder: TemporaryFolder
    let program: Program
    let socket: String

    init() throws {
      folder = try TemporaryFolder()
      program = Program(runtimeFolder: folder.path)
      try FileManager.default.createDirectory(
        atPath: folder.path + "/vault", withIntermediateDirectories: false)
      socket = folder.path + "/vault/vault.sock"
    }

    /// Holds the lock that a daemon holds.
    func lock() -> Int32 {
      let lock = unsafe open(socket + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      flock(lock, LOCK_EX)
      return lock
    }
  }

  @Test("a daemon that serves is asked for its entries once, and for nothing else")
  func asks() throws {
    let place = try Place()
    let lock = place.lock()
    defer { close(lock) }
    let entries = entries
    let daemon = try ScriptedDaemon(place.socket) { _ in .reply(.entries(entries)) }
    defer { daemon.stop() }
    let run = try place.program.run("__complete", "get", "com")
    #expect(run.text == "words\ncom.example.Chat.token\n")
    #expect(run.status == 0)
    #expect(daemon.calls.count == 1)
    guard case .list(nil)? = daemon.calls.first else {
      Issue.record("not List")
      return
    }
    _ = try place.program.run("__complete", "get", "--")
    #expect(daemon.calls.count == 1)
  }

  @Test("nobody is connected to where no daemon holds the lock: systemd would start one")
  func startsNothing() throws {
    let place = try Place()
    let daemon = try ScriptedDaemon(place.socket) { _ in .nothing }
    defer { daemon.stop() }
    #expect(try place.program.run("__complete", "get", "").text == "words\n")
    _ = unsafe open(place.socket + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    #expect(try place.program.run("__complete", "get", "").text == "words\n")
    #expect(daemon.accepted == 0)
  }

  @Test("a daemon that is silent, or refuses, is waited for half a second, and nothing is said")
  func silent() throws {
    let place = try Place()
    let lock = place.lock()
    defer { close(lock) }
    let answers = Mutex<[ScriptedDaemon.Answer]>([.error(.locked(store: .file, reason: "locked")), .nothing])
    let daemon = try ScriptedDaemon(place.socket) { _ in answers.withLock { $0.removeFirst() } }
    defer { daemon.stop() }
    for _ in 0..<2 {
      let start = ContinuousClock.now
      let run = try place.program.run("__complete", "get", "")
      #expect(run.text == "words\n" && run.error.isEmpty && run.status == 0)
      #expect(ContinuousClock.now - start < .milliseconds(Limits.completionMilliseconds) + .seconds(2))
    }
  }

  @Test("every script asks the program and is nothing else's", arguments: Shell.allCases)
  func scripts(shell: Shell) throws {
    let place = try Place()
    let run = try place.program.run("completions", shell.rawValue)
    #expect(run.text == shell.script && run.status == 0)
    #expect(shell.script.contains(" \(completionRequest) "))
    #expect(try place.program.run("completions", "tcsh").status == 2)
  }
}
