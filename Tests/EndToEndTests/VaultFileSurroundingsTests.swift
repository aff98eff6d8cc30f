// The vault file where there is no room, where nothing may be written, whatever the umask says, and on a machine that
// has another name (cases.md, E).

import Foundation
import Glibc
import Spawning
import Synchronization
import Testing

extension EndToEnd {
  @Suite("The vault file and what is around it")
  struct VaultFileSurroundingsTests {
    private let key = "Back4Gram.sessionToken"

    /// A set that finds no room: it says so, names the file, and changes nothing.
    private func expectNoRoom(_ session: ThrowawaySession, _ daemon: DaemonUnderTest) throws {
      let file = session.data + "/vault.db"
      let names = try FileManager.default.contentsOfDirectory(atPath: session.data).sorted()
      let before = try Data(contentsOf: URL(filePath: file))
      for _ in 0..<2 {
        let ended = try session.vault("set", key, input: randomBytes(700_000))
        expectFailure(ended, 7)
        #expect(ended.errors.contains(file), "\(ended.errors)")
        #expect(try session.get(key) == Data("old".utf8))
      }
      #expect(try Data(contentsOf: URL(filePath: file)) == before)
      #expect(try FileManager.default.contentsOfDirectory(atPath: session.data).sorted() == names)
      #expect(daemon.isRunning)
    }

    @Test("a full disk takes no change and harms no token", .enabled(if: geteuid() == 0, "mounts need root"))
    func fullDisk() throws {
      try ThrowawaySession.with { session in
        try FileManager.default.createDirectory(
          atPath: session.data, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let mounted = try Root.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", session.data])
        try #require(mounted.status == 0, "\(mounted.errors)")
        defer { _ = try? Root.run(["umount", "-l", session.data]) }
        var daemon = try session.daemonWithFile()
        try session.set(key, Data("old".utf8))
        let filler = session.data + "/filler"
        // Whole blocks, until no more fit; some for what a killed daemon's successor needs.
        #expect(try session.command(["dd", "if=/dev/zero", "of=\(filler)", "bs=4096"]).status != 0)
        try expectNoRoom(session, daemon)
        daemon.kill(SIGKILL)
        try daemon.wait()
        daemon = try session.daemon("--store", "file")
        #expect(try session.get(key) == Data("old".utf8))

        try FileManager.default.removeItem(atPath: filler)
        try session.set(key, Data("new".utf8))
        try daemon.stop()
        _ = try session.daemon("--store", "file")
        #expect(try session.get(key) == Data("new".utf8))
        #expect(try session.vault("verify").status == 0)
      }
    }

    @Test("a limit for the size of files ends a change, not the daemon")
    func fileSizeLimit() throws {
      try ThrowawaySession.with { session in
        try session.daemonWithFile().stop()
        let limited = ["sh", "-c", "ulimit -f 600; exec \"$@\"", "sh"]
        let daemon = try session.daemon(command: limited + [Project.vaultd, "--store", "file"])
        try session.set(key, Data("old".utf8))
        try expectNoRoom(session, daemon)
        try session.set(key, Data("new".utf8))
        try daemon.stop()
        _ = try session.daemon("--store", "file")
        try session.set(key, randomBytes(700_000))
        #expect(try session.get(key) == randomBytes(700_000))
      }
    }

    /// Starts a daemon where nothing may be written, and looks what it can do.
    private func expectReadOnly(_ session: ThrowawaySession) throws -> DaemonUnderTest {
      let daemon = try session.daemon("--store", "file")
      #expect(try session.get(key) == Data("old".utf8))
      let ended = try session.vault("set", key, input: Data("new".utf8))
      expectFailure(ended, 7)
      #expect(ended.errors.contains(session.data), "\(ended.errors)")
      expectFailure(try session.vault("slot", "add", "key-file", session.home + "/other"), 7)
      #expect(!FileManager.default.fileExists(atPath: session.home + "/other"))
      #expect(try session.get(key) == Data("old".utf8))
      return daemon
    }

    @Test(
      "in a folder of mode 0500 tokens are read, and written again once they can be",
      arguments: [SIGTERM, SIGKILL])
    func readOnlyFolder(signal: Int32) throws {
      try ThrowawaySession.with { session in
        let first = try session.daemonWithFile()
        try session.set(key, Data("old".utf8))
        first.kill(signal)
        try first.wait()
        #expect(unsafe chmod(session.data, 0o500) == 0)
        _ = try expectReadOnly(session)
        #expect(unsafe chmod(session.data, 0o700) == 0)
        try session.set(key, Data("new".utf8))
        #expect(try session.get(key) == Data("new".utf8))
      }
    }

    @Test(
      "on a read-only file system tokens are read", .enabled(if: geteuid() == 0, "mounts need root"),
      arguments: [SIGTERM, SIGKILL])
    func readOnlyMount(signal: Int32) throws {
      try ThrowawaySession.with { session in
        let first = try session.daemonWithFile()
        try session.set(key, Data("old".utf8))
        first.kill(signal)
        try first.wait()
        let bound = try Root.run(["mount", "--bind", session.data, session.data])
        try #require(bound.status == 0, "\(bound.errors)")
        defer { _ = try? Root.run(["umount", "-l", session.data]) }
        let remounted = try Root.run(["mount", "-o", "remount,bind,ro", session.data])
        try #require(remounted.status == 0, "\(remounted.errors)")
        try expectReadOnly(session).stop()
        let again = try Root.run(["mount", "-o", "remount,bind,rw", session.data])
        try #require(again.status == 0, "\(again.errors)")
        let daemon = try session.daemon("--store", "file")
        try session.set(key, Data("new".utf8))
        #expect(try session.get(key) == Data("new".utf8))
        try daemon.stop()
      }
    }

    @Test("whatever the umask says, no file was ever looser than 0600, no folder than 0700")
    func umask() throws {
      try ThrowawaySession.with { session in
        let seen = Mutex<Set<String>>([])
        let isOver = Mutex(false)
        let data = session.data
        let watcher = Thread {
          while !isOver.withLock({ $0 }) {
            var paths = [data]
            paths += ((try? FileManager.default.contentsOfDirectory(atPath: data)) ?? []).map {
              "\(data)/\($0)"
            }
            for path in paths {
              var status = stat()
              guard unsafe lstat(path, &status) == 0, status.st_mode & 0o077 != 0 else { continue }
              let mode = String(status.st_mode & 0o777, radix: 8)
              seen.withLock { _ = $0.insert("\(path): \(mode)") }
            }
          }
        }
        watcher.start()
        defer { isOver.withLock { $0 = true } }
        let daemon = try session.daemon(
          command: ["sh", "-c", "umask 000; exec \"$@\"", "sh", Project.vaultd, "--store", "file"])
        expectSuccess(try session.vault("init", "--key-file", session.home + "/new/vault.key"))
        let connection = try daemon.connect()
        for number in 0..<500 {
          let answer = try connection.call(
            "org.vaultd.Vault.Set",
            ["key": "App.k\(number % 7)", "secret": String(repeating: "x", count: number * 7 % 3_000)])
          #expect(answer.error == nil)
        }
        expectSuccess(try session.vault("clear", "App.k1"))
        try daemon.stop()
        #expect(seen.withLock { $0 } == [])
        for (path, mode) in [("/new", 0o700), ("/new/vault.key", 0o600)] {
          let found = try FileManager.default.attributesOfItem(atPath: session.home + path)[.posixPermissions]
          #expect(found as? Int == mode, "\(path)")
        }
      }
    }

    @Test(
      "host name, machine id and home may change; a copy without its key opens nowhere",
      .enabled(if: geteuid() == 0, "needs root"))
    func otherMachine() throws {
      try ThrowawaySession.with { session in
        try session.daemonWithFile().stop()
        var daemon = try session.daemon("--store", "file")
        try session.set(key, Data("value".utf8))
        try daemon.stop()
        let moved = session.folder + "/elsewhere"
        try FileManager.default.moveItem(atPath: session.data, toPath: moved)
        let identity = session.folder + "/machine-id"
        try Data("0123456789abcdef0123456789abcdef\n".utf8).write(to: URL(filePath: identity))
        let elsewhere = [
          "unshare", "-u", "-m", "sh", "-c",
          "hostname elsewhere; [ ! -e /etc/machine-id ] || mount --bind \(identity) /etc/machine-id; exec \"$@\"",
          "sh",
        ]
        daemon = try session.daemon(
          command: elsewhere + [Project.vaultd, "--store", "file", "--data-dir", moved])
        #expect(try session.get(key) == Data("value".utf8))
        try daemon.stop()
        try FileManager.default.removeItem(atPath: session.home + "/vault.key")
        _ = try session.daemon("--store", "file", "--data-dir", moved)
        expectFailure(try session.vault("get", key), 4)
      }
    }

    @Test("thirty commands that set at once leave thirty tokens")
    func thirtyCommands() throws {
      try ThrowawaySession.with { session in
        _ = try session.daemonWithFile()
        let token = session.folder + "/token"
        try Data("value".utf8).write(to: URL(filePath: token))
        let children = try (0..<30).map { number in
          try session.start(
            "set-\(number)",
            ["sh", "-c", "exec \"$@\" <\(token)", "sh", Project.vault, "set", "Many.k\(number)"])
        }
        for child in children { #expect(try child.wait() == 0) }
        let entries = try session.vault("list", "--json", "Many").json["entries"] as? [Any]
        #expect(entries?.count == 30)
        for number in 0..<30 { #expect(try session.get("Many.k\(number)") == Data("value".utf8)) }
      }
    }

    @Test("a second daemon on the data folder gets it when the first is gone")
    func secondLater() throws {
      try ThrowawaySession.with { session in
        let first = try session.daemonWithFile()
        try session.set(key, Data("value".utf8))
        let socket = session.runtime + "/other.sock"
        let second = try session.start("second", [Project.vaultd, "--store", "file", "--socket", socket])
        defer { second.end() }
        #expect(becomesTrue { FileManager.default.fileExists(atPath: socket) })
        let other = ["VAULTD_SOCKET": socket]
        expectFailure(try session.vault("get", key, environment: other), 7)
        try first.stop()
        let read = try eventually { () throws -> Data? in
          let ended = try session.vault("get", key, environment: other)
          return ended.status == 0 ? ended.output : nil
        }
        #expect(read == Data("value".utf8))
        expectSuccess(try session.vault("set", key, input: Data("new".utf8), environment: other))
      }
    }
  }
}
