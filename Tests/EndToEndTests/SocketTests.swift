// Who may ask, and who serves: one daemon a socket, one user, and a command that starts a daemon where none is.

import Foundation
import Glibc
import Spawning
import Testing

extension EndToEnd {
  @Suite("The socket and who serves it")
  struct SocketTests {
    @Test("a second daemon says that the socket is served, and ends with 3")
    func second() throws {
      try ThrowawaySession.with { session in
        let first = try session.daemon()
        let second = try session.command([Project.vaultd])
        #expect(second.status == 3)
        #expect(second.output.isEmpty)
        #expect(second.errors.contains(session.socket))
        #expect(
          try first.connect().call("org.vaultd.Vault.Status").parameters["pid"] as? Int == Int(first.pid))
      }
    }

    @Test("of ten daemons started at once one serves and the others end with 3")
    func ten() throws {
      try ThrowawaySession.with { session in
        let all = try (0..<10).map { try session.start("vaultd\($0)", [Project.vaultd]) }
        defer { all.forEach { $0.end() } }
        #expect(becomesTrue(seconds: 20) { all.filter { $0.look() == nil }.count == 1 })
        #expect(all.compactMap { $0.look() } == Array(repeating: 3, count: 9))
        let pid = try RawConnection(session.socket).call("org.vaultd.Vault.Status").parameters["pid"] as? Int
        #expect(all.contains { $0.look() == nil && Int($0.pid) == pid })
      }
    }

    @Test("a socket that a killed daemon left is replaced; one that ends removes its own")
    func stale() throws {
      try ThrowawaySession.with { session in
        let first = try session.daemon()
        first.kill(SIGKILL)
        try first.wait()
        #expect(FileManager.default.fileExists(atPath: session.socket))
        let second = try session.daemon()
        #expect(try second.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: session.socket))
      }
    }

    @Test("what is no socket of ours is not removed")
    func foreignFile() throws {
      try ThrowawaySession.with { session in
        try FileManager.default.createDirectory(
          atPath: session.runtime + "/vault", withIntermediateDirectories: false,
          attributes: [.posixPermissions: 0o700])
        try Data("mine".utf8).write(to: URL(filePath: session.socket))
        let ended = try session.command([Project.vaultd])
        #expect(ended.status != 0)
        #expect(ended.errors.contains(session.socket))
        #expect(FileManager.default.contents(atPath: session.socket) == Data("mine".utf8))
      }
    }

    @Test("two daemons on one data folder: the second has no file and no state, and says so")
    func oneDataFolder() throws {
      try ThrowawaySession.with { session in
        _ = try session.daemonWithFile()
        try session.set("Chat.token", Data("1".utf8))
        let socket = session.runtime + "/other.sock"
        let second = try session.start("second", [Project.vaultd, "--store", "file", "--socket", socket])
        defer { second.end() }
        #expect(becomesTrue { (try? RawConnection(socket)) != nil })
        let other = ["VAULTD_SOCKET": socket]
        expectFailure(try session.vault("get", "Chat.token", environment: other), 7)
        expectFailure(try session.vault("set", "Chat.token", input: Data("2".utf8), environment: other), 7)
        expectSuccess(try session.vault("status", environment: other))
        #expect(try session.get("Chat.token") == Data("1".utf8))
      }
    }

    @Test("the socket is 0600 in a folder 0700, files are 0600, whatever the umask says")
    func modes() throws {
      try ThrowawaySession.with { session in
        let daemon = try session.start(
          "vaultd", ["sh", "-c", "umask 000; exec \(Project.vaultd) --store file"])
        defer { daemon.end() }
        #expect(becomesTrue { (try? RawConnection(session.socket)) != nil })
        expectSuccess(try session.vault("init", "--key-file", session.home + "/vault.key"))
        try session.set("Chat.token", Data("1".utf8))
        var folders = [session.runtime + "/vault", session.data]
        let files = try folders.flatMap { try filesUnder($0) } + [session.home + "/vault.key"]
        #expect(files.contains(session.socket) && files.contains(session.data + "/vault.db"))
        for path in files { #expect(try mode(path) == 0o600, "\(path)") }
        folders.append(session.runtime)
        for path in folders { #expect(try mode(path) == 0o700, "\(path)") }
      }
    }

    @Test(
      "another user is closed before a byte is read, and the command gives another user's daemon nothing",
      .enabled(if: geteuid() == 0, "needs root"))
    func otherUser() throws {
      try StoreUnderTest.file.run { session, daemon in
        try session.set("Chat.token", Data("tok".utf8))
        for folder in [session.folder, session.runtime, session.runtime + "/vault"] {
          unsafe chmod(folder, 0o755)
        }
        unsafe chmod(session.socket, 0o666)
        let program = """
          import socket
          s = socket.socket(socket.AF_UNIX); s.settimeout(10); s.connect('\(session.socket)')
          try:
              s.sendall(b'{"method":"org.vaultd.Vault.Get","parameters":{"key":"Chat.token"}}\\0')
              print(s.recv(65536))
          except (BrokenPipeError, ConnectionResetError): print(b'')
          """
        let stranger = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]
        let raw = try session.command(stranger + ["/usr/bin/python3", "-c", program])
        #expect(raw.text == "b''\n", "\(raw.text)\(raw.errors)")

        // The command under the other uid: whatever it says, it has no secret and no success. It is copied to
        // where that user can run it.
        let copy = "/tmp/vault-e2e-\(getpid())-vault"
        try FileManager.default.copyItem(atPath: Project.vault, toPath: copy)
        defer { try? FileManager.default.removeItem(atPath: copy) }
        unsafe chmod(copy, 0o755)
        let asked = try session.command(
          stranger + [copy, "get", "Chat.token"],
          environment: ["VAULTD_SOCKET": session.socket, "HOME": "/nonexistent"])
        #expect(asked.status == 5 || asked.status == 8, "\(asked.status): \(asked.errors)")
        #expect(asked.output.isEmpty)
        #expect(daemon.isRunning)
        #expect(try session.get("Chat.token") == Data("tok".utf8))
      }
    }

    @Test(
      "the command starts a daemon where none listens: detached, with no descriptor and little environment",
      .enabled(if: Root.isAvailable, "\(Root.wanted)"))
    func autostart() throws {
      try ThrowawaySession.with(.empty) { session in
        let script =
          "exec 7<\(session.home)/marker 8>\(session.home)/other; exec \(Project.vault) get Chat.token"
        try Data().write(to: URL(filePath: session.home + "/marker"))
        let more = [
          "VAULTD_AUTOSTART": "yes", "SECRET": "M4RK3R", "LD_LIBRARY_PATH": "/nonexistent",
          "XDG_SESSION_TYPE": "tty",
          "VAULTD_STORE": "auto", "DISPLAY": ":77",
        ]
        // With no provider and no file there is nothing to get from; but there is a daemon that says so.
        let ended = try session.command(["bash", "-c", script], environment: more)
        #expect(ended.status == 7 || ended.status == 1, "\(ended.status): \(ended.errors)")
        let status = try session.vault("status", "--json").json
        let pid = pid_t(status["pid"] as? Int ?? 0)
        #expect(session.autostarted() == [pid])
        defer { kill(pid, SIGKILL) }

        let environ = try Root.run(["cat", "/proc/\(pid)/environ"]).output.split(separator: 0)
          .map { String(decoding: $0, as: UTF8.self) }
        for entry in environ {
          let name = entry.split(separator: "=")[0]
          let allowed =
            ["HOME", "PATH", "LANG", "DISPLAY", "WAYLAND_DISPLAY"].contains(name)
            || ["XDG_", "DBUS_", "VAULTD_"].contains { name.hasPrefix($0) }
          // The one thing that the command itself adds: Swift's crash handler must print no memory.
          #expect(allowed || entry == "SWIFT_BACKTRACE=enable=no", "\(name)")
        }
        #expect(environ.contains("XDG_SESSION_TYPE=tty") && environ.contains("DISPLAY=:77"))
        #expect(environ.contains("VAULTD_STORE=auto"))
        #expect(!environ.contains { $0.hasPrefix("VAULTD_AUTOSTART=") })

        let descriptors = try Root.run(["ls", "-l", "/proc/\(pid)/fd"]).text
        #expect(!descriptors.contains("/marker") && !descriptors.contains("/other"))
        #expect(!descriptors.contains("pipe:"), "\(descriptors)")
        #expect(getsid(pid) != getsid(0))

        // It answers the next command, and nobody starts a second one.
        _ = try session.vault("get", "Chat.token", environment: ["VAULTD_AUTOSTART": "yes"])
        #expect(session.autostarted() == [pid])
        kill(pid, SIGTERM)
        #expect(becomesTrue { !FileManager.default.fileExists(atPath: session.socket) })
      }
    }

    @Test("twenty commands at once start one daemon", .enabled(if: Root.isAvailable, "\(Root.wanted)"))
    func autostartOnce() throws {
      try ThrowawaySession.with(.empty) { session in
        let commands = try (0..<20).map {
          try session.start(
            "get\($0)", [Project.vault, "get", "Chat.token"], environment: ["VAULTD_AUTOSTART": "yes"])
        }
        for command in commands { #expect([1, 7].contains(try command.wait())) }
        #expect(becomesTrue { session.autostarted().count == 1 })
      }
    }

    @Test("VAULTD_AUTOSTART=no starts nothing, and neither do status, lock and help")
    func noAutostart() throws {
      try ThrowawaySession.with { session in
        expectFailure(try session.vault("get", "Chat.token"), 8)
        for command in ["status", "lock"] {
          expectFailure(try session.vault(command, environment: ["VAULTD_AUTOSTART": "yes"]), 8)
        }
        expectSuccess(try session.vault("help", environment: ["VAULTD_AUTOSTART": "yes"]))
        #expect(!FileManager.default.fileExists(atPath: session.socket))
      }
    }

    @Test("a daemon that listens and is stopped is no reason to start another")
    func stopped() throws {
      try ThrowawaySession.with { session in
        let daemon = try session.daemon("--timeout", "1", "--prompt-timeout", "1")
        daemon.kill(SIGSTOP)
        let ended = try session.vault("get", "Chat.token", environment: ["VAULTD_AUTOSTART": "yes"])
        expectFailure(ended, 8)
        daemon.kill(SIGCONT)
        #expect(session.autostarted().isEmpty)
      }
    }

    @Test("without a runtime folder command and daemon give one clear error", arguments: ["missing", "file"])
    func noRuntimeFolder(name: String) throws {
      try ThrowawaySession.with { session in
        let path = session.folder + "/" + name
        if name == "file" { try Data().write(to: URL(filePath: path)) }
        for program in [[Project.vaultd], [Project.vault, "get", "Chat.token"]] {
          let ended = try session.command(program, environment: ["XDG_RUNTIME_DIR": path])
          #expect(
            ended.status == 2 || ended.status == 8, "\(program[0]) \(path): \(ended.status) \(ended.errors)")
          #expect(ended.output.isEmpty)
          #expect(ended.errors.contains(path), "\(ended.errors)")
        }
      }
    }

    @Test(
      "in somebody else's runtime folder both refuse to be, or both are in the same place",
      .enabled(if: Root.isAvailable, "\(Root.wanted)"))
    func foreignRuntimeFolder() throws {
      try ThrowawaySession.with { session in
        let path = session.folder + "/foreign"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        _ = try Root.run(["chown", geteuid() == 0 ? "65534" : "0", path])
        defer { _ = try? Root.run(["rm", "-rf", path]) }
        let foreign = ["XDG_RUNTIME_DIR": path]
        let daemon = try session.start("vaultd", [Project.vaultd], environment: foreign)
        defer { daemon.end() }
        #expect(
          becomesTrue { daemon.look() != nil || (try? RawConnection(path + "/vault/vault.sock")) != nil })
        let asked = try session.vault("status", environment: foreign)
        if daemon.look() == nil {
          expectSuccess(asked)
        } else {
          expectFailure(asked, 8)
          #expect(session.log("vaultd").contains(path))
        }
      }
    }

    @Test(
      "SIGTERM and SIGINT end the daemon with 0, SIGHUP reads its settings again",
      arguments: [SIGTERM, SIGINT])
    func signals(signal: Int32) throws {
      try ThrowawaySession.with { session in
        let folder = session.home + "/.config/vault"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let daemon = try session.daemon()
        try Data("[vaultd]\nstore=file\n".utf8).write(to: URL(filePath: folder + "/vaultd.conf"))
        daemon.kill(SIGHUP)
        let connection = try daemon.connect()
        #expect(
          try becomesTrue {
            try connection.call("org.vaultd.Vault.Status").parameters["preference"] as? String == "file"
          })
        daemon.kill(signal)
        #expect(try daemon.wait() == 0)
      }
    }

    @Test("the log says which program did what to which key with what outcome, and no secret")
    func log() throws {
      try StoreUnderTest.file.run { session, daemon in
        try session.set("Back4Gram.sessionToken", Data("M4RK3R".utf8), account: "alice")
        expectFailure(try session.vault("get", "Back4Gram.missing"), 1)
        #expect(becomesTrue { daemon.log.contains("Back4Gram.missing") })
        let lines = daemon.log.split(separator: "\n")
        let set = lines.first { $0.contains("Back4Gram.sessionToken") }
        #expect(set?.contains(Project.vault) == true, "\(daemon.log)")
        #expect(set?.contains("alice") == true)
        #expect(lines.contains { $0.contains("Back4Gram.missing") && $0.contains("NotFound") })
        #expect(!daemon.log.contains("M4RK3R"))
      }
    }

    private func mode(_ path: String) throws -> mode_t {
      var about = stat()
      guard unsafe lstat(path, &about) == 0 else { throw HarnessFailure("\(path) is not there") }
      return about.st_mode & 0o777
    }
  }
}
