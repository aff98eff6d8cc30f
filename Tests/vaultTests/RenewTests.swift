// `vault renew` as a process, against a daemon that does what the test says: who runs the command, what becomes of
// what it prints, and how it ends.

import Foundation
import Glibc
import ScriptedDaemon
import SecretMemory
import Synchronization
import TestSupport
import Testing
import VaultClient
import VaultModel
import VaultWire

@Suite struct RenewTests {
  private let folder: TemporaryFolder
  private let program: Program
  private let socket: String
  private let entry: Entry

  init() throws {
    folder = try TemporaryFolder()
    program = Program(runtimeFolder: folder.path)
    try FileManager.default.createDirectory(
      atPath: folder.path + "/vault", withIntermediateDirectories: false)
    socket = folder.path + "/vault/vault.sock"
    entry = Entry(
      id: EntryID(try Key("Chat.token"), try Account("alice")), version: 7, created: WallTime(seconds: 1),
      modified: WallTime(seconds: 2), idle: 600, untilLogout: true, label: "L", size: 3, store: .session)
  }

  /// A daemon that grants a lease, and answers to `Set` as told, one after the other.
  private func lessor(
    over entry: Entry? = nil, _ answers: ScriptedDaemon.Answer...
  ) throws -> ScriptedDaemon {
    let answers = Mutex(answers)
    let stored = self.entry
    return try ScriptedDaemon(socket) { call in
      switch call {
      case .refresh: .reply(.refreshed(lease: "L1", token: nil, entry: entry))
      case .giveUp: .reply(.empty)
      case .set: answers.withLock { $0.isEmpty ? .reply(.entry(stored)) : $0.removeFirst() }
      default: .error(.internal(reason: "not asked for"))
      }
    }
  }

  private func sets(_ daemon: ScriptedDaemon) -> [SetRequest] {
    daemon.calls.compactMap { call in
      guard case .set(let request) = call else { return nil }
      return request
    }
  }

  private func gaveUp(_ daemon: ScriptedDaemon) -> Bool {
    daemon.calls.contains { call in
      guard case .giveUp("L1") = call else { return false }
      return true
    }
  }

  @Test("a token that is valid is written, and the command is not run")
  func valid() throws {
    let token = Token(entry: entry, secret: SharedSecret(try SecretBytes(copying: "tok")))
    let daemon = try ScriptedDaemon(socket) { _ in .reply(.refreshed(lease: nil, token: token, entry: nil)) }
    defer { daemon.stop() }
    let mark = folder.path + "/ran"
    let run = try program.run(
      "renew", "Chat.token", "--account", "alice", "--min-validity", "5m", "--", "touch", mark)
    #expect(run.status == 0 && run.text == "tok" && run.error.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: mark))
    guard case .refresh(let id, let minValidity, let wait)? = daemon.calls.first else {
      Issue.record("not Refresh")
      return
    }
    #expect(id == entry.id && minValidity == 300 && wait == nil)
  }

  @Test("under a lease the command's output is stored, less one line end, and written")
  func renews() throws {
    for (script, kept) in [("echo new", "new"), ("printf 'a\\nb\\r\\n'", "a\nb"), ("printf ' x'", " x")] {
      let daemon = try lessor()
      defer { daemon.stop() }
      let run = try program.run("renew", "Chat.token", "--expires-in", "1h", "--", "sh", "-c", script)
      #expect(run.status == 0 && run.text == kept && run.error.isEmpty)
      let set = try #require(sets(daemon).first)
      #expect(set.secret.text == kept && set.lease == "L1" && set.expiresIn == 3_600 && set.ifVersion == nil)
      #expect(set.idle == nil && !set.untilLogout && set.label == nil)
      #expect(!gaveUp(daemon))
    }
  }

  @Test(
    "a successor keeps the label, the idle time and the end with the login session; its expiry is its own")
  func keeps() throws {
    let daemon = try lessor(over: entry)
    defer { daemon.stop() }
    #expect(try program.run("renew", "Chat.token", "--account=alice", "--", "echo", "new").status == 0)
    let set = try #require(sets(daemon).first)
    #expect(set.id == entry.id && set.idle == 600 && set.untilLogout && set.label == "L")
    #expect(set.expires == nil && set.expiresIn == nil)
  }

  @Test("--expires-from-jwt reads the new token; what is no JWT is given up")
  func jwt() throws {
    let daemon = try lessor()
    defer { daemon.stop() }
    let token = "eyJhbGciOiJub25lIn0.eyJleHAiOjE5MDAwMDAwMDB9."
    let run = try program.run("renew", "Chat.token", "--expires-from-jwt", "--", "echo", token)
    #expect(run.status == 0 && run.text == token)
    #expect(sets(daemon).first?.expires == 1_900_000_000)
    #expect(!gaveUp(daemon))
    let refused = try program.run("renew", "Chat.token", "--expires-from-jwt", "--", "echo", "new")
    #expect(refused.status == 2 && refused.output.isEmpty && !refused.error.contains("new"))
    #expect(sets(daemon).count == 1 && gaveUp(daemon))
  }

  @Test(
    "a command that fails, is killed or prints nothing leaves everything as it was, and its status is ours",
    arguments: [
      ("echo new; exit 42", 42), ("echo new; kill -KILL $$", 137), ("exit 0", 2), ("echo", 2),
      ("head -c 1048579 /dev/zero", 12),
    ] as [(String, Int32)])
  func fails(script: String, status: Int32) throws {
    let daemon = try lessor()
    defer { daemon.stop() }
    let run = try program.run("renew", "Chat.token", "--", "sh", "-c", script)
    #expect(run.status == status)
    #expect(run.output.isEmpty)
    #expect(run.error.hasPrefix("vault: sh "))
    #expect(run.error.contains("nothing was stored"))
    #expect(sets(daemon).isEmpty && gaveUp(daemon))
  }

  @Test("a command that cannot be run is 127 or 126, as in a shell, and the lease is given up")
  func cannotRun() throws {
    let daemon = try lessor()
    defer { daemon.stop() }
    #expect(try program.run("renew", "Chat.token", "--", "no-such-program").status == 127)
    #expect(try program.run("renew", "Chat.token", "--", folder.path).status == 126)
    #expect(daemon.calls.count { if case .giveUp = $0 { true } else { false } } == 2)
    #expect(try program.run("renew", "Chat.token").status == 2)
    #expect(try program.run("renew", "Chat.token", "--").status == 2)
    #expect(
      try program.run("renew", "Chat.token", "--expires-in=1h", "--expires-from-jwt", "--", "echo").status
        == 2)
    #expect(daemon.calls.count == 4)
  }

  @Test("a script that does not name its shell runs, for run and for renew alike")
  func script() throws {
    let path = folder.path + "/fetch"
    _ = FileManager.default.createFile(
      atPath: path, contents: Data("echo \"new $1 $TOKEN\"".utf8), attributes: [.posixPermissions: 0o700])
    let token = Token(entry: entry, secret: SharedSecret(try SecretBytes(copying: "tok")))
    let entry = entry
    let daemon = try ScriptedDaemon(socket) { call in
      switch call {
      case .refresh: .reply(.refreshed(lease: "L1", token: nil, entry: nil))
      case .get: .reply(.token(token))
      default: .reply(.entry(entry))
      }
    }
    defer { daemon.stop() }
    #expect(try program.run("renew", "Chat.token", "--", path, "a b").text == "new a b ")
    #expect(try program.run("run", "--env", "TOKEN=Chat.token", "--", path, "a b").text == "new a b tok\n")
  }

  @Test("a secret of 1 MiB is renewed, with a line end behind it too")
  func largest() throws {
    let daemon = try lessor()
    defer { daemon.stop() }
    let script = "head -c 1048576 /dev/zero | tr '\\0' x; echo"
    let run = try program.run("renew", "Chat.token", "--", "sh", "-c", script)
    #expect(run.status == 0 && run.output.count == 1_048_576)
    let tooLarge = try program.run(
      "renew", "Chat.token", "--", "sh", "-c", "head -c 1048577 /dev/zero")
    #expect(tooLarge.status == 12 && tooLarge.output.isEmpty)
  }

  @Test("where the lease has ended, the token is stored only if the key is still what it was")
  func conflict() throws {
    let changed = try lessor(over: entry, .error(.conflict(entry.id, version: 8)))
    let lost = try program.run("renew", "Chat.token", "--", "echo", "new")
    #expect(lost.status == 6 && lost.output.isEmpty)
    #expect(sets(changed).count == 1)
    changed.stop()

    let same = try lessor(over: entry, .error(.conflict(entry.id, version: 7)))
    let kept = try program.run("renew", "Chat.token", "--", "echo", "new")
    #expect(kept.status == 0 && kept.text == "new")
    #expect(sets(same).map(\.lease) == ["L1", nil])
    #expect(sets(same).map(\.ifVersion) == [nil, 7])
    same.stop()

    let nothing = try lessor(.error(.conflict(entry.id, version: 0)), .error(.conflict(entry.id, version: 9)))
    defer { nothing.stop() }
    let overtaken = try program.run("renew", "Chat.token", "--", "echo", "new")
    #expect(overtaken.status == 6 && overtaken.output.isEmpty)
    #expect(sets(nothing).map(\.ifVersion) == [nil, 0])
  }

  @Test("the command has the caller's input and error stream, and none of the token in its environment")
  func streams() throws {
    let daemon = try lessor()
    defer { daemon.stop() }
    let run = try program.run(
      "renew", "Chat.token", "--", "sh", "-c", "echo warning >&2; cat", input: Array("from input".utf8))
    #expect(run.text == "from input" && run.error == "warning\n")
  }

  @Test("what the command leaves running is not waited for")
  func background() throws {
    let daemon = try lessor()
    defer { daemon.stop() }
    let start = ContinuousClock.now
    let run = try program.run(
      "renew", "Chat.token", "--", "sh", "-c", "sleep 60 2>/dev/null & echo new; echo $! >\(folder.path)/pid")
    #expect(run.status == 0 && run.text == "new")
    #expect(ContinuousClock.now - start < .seconds(20))
    let pid = try String(contentsOfFile: folder.path + "/pid", encoding: .utf8)
    kill(pid_t(pid.trimmingCharacters(in: .newlines)) ?? 0, SIGKILL)
  }

  @Test(
    "a signal to us is a signal to the command: whether it ends it is the command's to say",
    arguments: [SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1])
  func signals(number: Int32) throws {
    let daemon = try lessor()
    defer { daemon.stop() }
    let killed = try program.run(
      "renew", "Chat.token", "--", "sh", "-c", "kill -\(number) $PPID; exec sleep 60")
    #expect(killed.status == -number && killed.output.isEmpty)
    #expect(sets(daemon).isEmpty && gaveUp(daemon))
    let handled = try program.run(
      "renew", "Chat.token", "--", "sh", "-c",
      "trap 'echo new; exit' \(number); kill -\(number) $PPID; while :; do sleep 0.01; done")
    #expect(handled.status == 0 && handled.text == "new")
  }
}
