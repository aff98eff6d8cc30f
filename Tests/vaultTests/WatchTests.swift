// `vault watch` and `vault touch` as processes, against a daemon that does what the test says.

import Foundation
import ScriptedDaemon
import TestSupport
import Testing
import VaultModel
import VaultWire

@testable import vault

@Suite struct WatchTests {
  private let folder: TemporaryFolder
  private let program: Program
  private let socket: String
  private let events: [VaultEvent]

  init() throws {
    folder = try TemporaryFolder()
    program = Program(runtimeFolder: folder.path)
    try FileManager.default.createDirectory(
      atPath: folder.path + "/vault", withIntermediateDirectories: false)
    socket = folder.path + "/vault/vault.sock"
    events = [
      VaultEvent(
        .set, id: EntryID(try Key("com.example.Chat"), try Account("alice")), version: 7, store: .file),
      VaultEvent(.cleared, id: EntryID(try Key("com.example.Chat.token")), version: 8),
      VaultEvent(.locked, store: .secretService),
      VaultEvent(.expired, id: EntryID(try Key("Chat.token"))),
      VaultEvent(.unlocked),
    ]
  }

  private var replies: [Reply] { ([nil] + events).map { .event($0) } }

  @Test("a change is a line, with its key, account and version; when the daemon ends, that is 8")
  func lines() throws {
    let daemon = try ScriptedDaemon(socket) { _ in .repliesAndEnd(self.replies) }
    defer { daemon.stop() }
    let run = try program.run("watch")
    #expect(run.status == 8)
    #expect(
      run.text == """
        set          com.example.Chat  account alice  version 7
        cleared      com.example.Chat.token  version 8
        locked       secret-service
        expired      Chat.token
        unlocked

        """)
    #expect(run.error.hasPrefix("vault: vaultd on \(socket) has ended"))
    guard case .watch(nil, nil)? = daemon.calls.first else {
      Issue.record("not everything is watched")
      return
    }
  }

  @Test("--json is the reply's parameters, an object a line")
  func json() throws {
    let daemon = try ScriptedDaemon(socket) { _ in .repliesAndEnd(self.replies) }
    defer { daemon.stop() }
    let lines = try program.run("watch", "--json").text.split(separator: "\n")
    #expect(lines.count == 5)
    #expect(
      lines.first == #"{"event":"set","key":"com.example.Chat","account":"alice","version":7,"store":"file"}"#
    )
    for line in lines { #expect(try JSONSerialization.jsonObject(with: Data(line.utf8)) is [String: Any]) }
  }

  @Test("a word without a dot is a namespace, one with a dot a namespace and a key")
  func subject() throws {
    let daemon = try ScriptedDaemon(socket) { _ in .repliesAndEnd(self.replies) }
    defer { daemon.stop() }
    let either = try program.run("watch", "com.example.Chat")
    #expect(
      either.text.split(separator: "\n").map { $0.prefix(7) } == ["set    ", "cleared", "locked ", "unlocke"])
    let key = try program.run("watch", "Chat.token")
    #expect(key.text.split(separator: "\n").map { $0.prefix(7) } == ["locked ", "expired", "unlocke"])
    _ = try program.run("watch", "Chat")
    guard case .watch(let namespace, nil)? = daemon.calls.last else { return }
    #expect(namespace?.text == "Chat")
    for word in ["a..b", ".a", "a\tb"] { #expect(try program.run("watch", word).status == 2) }
    #expect(daemon.calls.count == 3)
  }

  @Test(
    "a line is there as soon as the change is, and an interruption is a success", arguments: ["INT", "TERM"])
  func interrupted(signal: String) throws {
    let daemon = try ScriptedDaemon(socket) { _ in .replies(self.replies) }
    defer { daemon.stop() }
    let run = try program.shell(
      """
      cd \(folder.path)
      : >lines
      env --default-signal=\(signal) "$vault" watch >lines & watcher=$!
      until [ "$(wc -l <lines)" = 5 ]; do sleep 0.01; done
      kill -\(signal) $watcher; wait $watcher
      """)
    #expect(run.status == 0)
    #expect(run.error.isEmpty)
  }

  @Test("an output that nobody reads any more ends it with an error")
  func closedOutput() throws {
    let daemon = try ScriptedDaemon(socket) { _ in .replies(self.replies) }
    defer { daemon.stop() }
    #expect(try program.shell("\"$vault\" watch >/dev/full").status == 7)
  }

  @Test("touch says nothing, or the entry as one flat object")
  func touch() throws {
    let entry = Entry(
      id: EntryID(try Key("Chat.token")), version: 7, created: WallTime(seconds: 1),
      modified: WallTime(seconds: 2), idle: 60, size: 3, store: .file)
    let daemon = try ScriptedDaemon(socket) { _ in .reply(.entry(entry)) }
    defer { daemon.stop() }
    let silent = try program.run("touch", "Chat.token", "--account", "alice")
    #expect(silent.status == 0 && silent.output.isEmpty && silent.error.isEmpty)
    let json = try program.run("touch", "Chat.token", "--json")
    #expect(json.text.hasPrefix(#"{"key":"Chat.token","#) && json.text.contains(#""idle":60"#))
    guard case .touch(let id)? = daemon.calls.first else {
      Issue.record("not Touch")
      return
    }
    #expect(id.account.text == "alice")
  }
}
