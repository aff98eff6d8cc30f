// Every outcome that can occur, produced once by the command: its exit status, one line on standard error, nothing
// on standard output (behaviour.md, "Outcomes").

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("Outcomes and exit statuses")
  struct ExitStatusTests {
    @Test("1: the store was searched and has nothing")
    func notFound() throws {
      try StoreUnderTest.file.run { session, _ in
        expectFailure(try session.vault("get", "Chat.token"), 1)
        expectFailure(try session.vault("get", "Chat.token", "--json"), 1)
      }
    }

    @Test(
      "2: a key, a flag or a number is none",
      arguments: [
        ["get"], ["get", ""], ["get", "nodot"], ["get", "a..b"], ["get", "Chat.token", "Chat.other"],
        ["get", "Chat.token", "--acount", "x"], ["get", "Chat.token", "--account"],
        ["get", "Chat.token", "--min-validity", "1e3"], ["get", "Chat.token", "--account", "line\nend"],
        ["set"], ["set", ""], ["set", "Chat.token", "VALUE"],
        ["set", "Chat.token", "--expires-in", "0"], ["set", "Chat.token", "--expires-in", "-1"],
        ["set", "Chat.token", "--expires-in", "99999999999999999999"],
        ["set", "Chat.token", "--expires-in", "10 "],
        ["set", "Chat.token", "--expires-in", "nan"], ["set", "Chat.token", "--expires-in", ""],
        ["set", "Chat.token", "--expires-at", "2027-01-31"], ["set", "Chat.token", "--if-version", "x"],
        ["clear"], ["clear", ""], ["logout"], ["logout", ""], ["logout", "a..b"],
        ["list", "a..b"], ["slot"], ["slot", "remove"], ["slot", "remove", "x"], ["slot", "bogus"],
        ["unlock", "--key-file"], ["gte", "Chat.token"], ["--bogus"], [],
      ])
    func usage(arguments: [String]) throws {
      try ThrowawaySession.with { session in
        let ended = try session.command([Project.vault] + arguments, input: Data("token".utf8))
        #expect(ended.status == 2, "\(ended.errors)")
        #expect(ended.output.isEmpty)
        #expect(!ended.errors.isEmpty)
        // What is wrong with the words is said without a daemon, and none is started for it.
        #expect(session.autostarted().isEmpty)
      }
    }

    @Test("4: the vault is locked until somebody unlocks it")
    func locked() throws {
      try StoreUnderTest.file.run { session, _ in
        try session.set("Chat.token", Data("token".utf8))
        expectSuccess(try session.vault("lock"))
        expectFailure(try session.vault("get", "Chat.token"), 4)
        expectFailure(try session.vault("set", "Chat.token", input: Data("new".utf8)), 4)
        expectSuccess(try session.vault("unlock"))
        #expect(try session.get("Chat.token") == Data("token".utf8))
      }
    }

    @Test("4: a file with a passphrase is locked after a restart; 10: a wrong passphrase opens nothing")
    func passphrase() throws {
      try ThrowawaySession.with { session in
        let passphrase = session.home + "/passphrase"
        try Data("correct horse\n".utf8).write(to: URL(filePath: passphrase))
        unsafe chmod(passphrase, 0o600)
        let daemon = try session.daemon("--store", "file")
        expectSuccess(try session.vault("init", "--passphrase-file", passphrase))
        try session.set("Chat.token", Data("token".utf8))
        try daemon.stop()
        _ = try session.daemon("--store", "file")
        expectFailure(try session.vault("get", "Chat.token"), 4)
        expectFailure(try session.vault("set", "Chat.token", input: Data("new".utf8)), 4)
        expectFailure(try session.vault("unlock", "--passphrase-file", "-", input: Data("wrong\n".utf8)), 10)
        expectFailure(try session.vault("get", "Chat.token"), 4)
        expectSuccess(
          try session.vault("unlock", "--passphrase-file", "-", input: Data("correct horse\n".utf8)))
        #expect(try session.get("Chat.token") == Data("token".utf8))
        unsafe chmod(passphrase, 0o644)
        expectFailure(try session.vault("unlock", "--passphrase-file", passphrase), 2)
      }
    }

    @Test("4: a locked keyring that nobody can be asked to open")
    func lockedKeyring() throws {
      try StoreUnderTest.secretService.run { session, _ in
        try session.set("Chat.token", Data("token".utf8))
        try session.lockKeyring()
        expectFailure(try session.vault("get", "Chat.token", "--no-prompt"), 4)
        expectFailure(try session.vault("set", "Chat.token", "--no-prompt", input: Data("new".utf8)), 4)
        // Without a display the prompt ends at once: dismissed, and not "nothing there".
        expectFailure(try session.vault("get", "Chat.token"), 4)
      }
    }

    @Test("7: the one store there is can't be reached")
    func unavailable() throws {
      try ThrowawaySession.with { session in
        _ = try session.daemon("--store", "secret-service")
        let start = ContinuousClock.now
        expectFailure(try session.vault("get", "Chat.token"), 7)
        #expect(ContinuousClock.now - start < .seconds(2))
        expectFailure(try session.vault("set", "Chat.token", input: Data("token".utf8)), 7)
        expectFailure(try session.vault("list"), 7)
      }
    }

    @Test("7: nobody provides the Secret Service, and the text names what does")
    func noProvider() throws {
      try ThrowawaySession.with(.empty) { session in
        _ = try session.daemon("--store", "secret-service")
        let ended = try session.vault("get", "Chat.token")
        expectFailure(ended, 7)
        #expect(ended.errors.contains("gnome-keyring"))
      }
    }

    @Test("8: no daemon listens, or it leaves without an answer")
    func noDaemon() throws {
      try ThrowawaySession.with { session in
        for arguments in [
          ["get", "Chat.token"], ["set", "Chat.token"], ["clear", "Chat.token"], ["status"], ["lock"],
          ["list"],
        ] {
          expectFailure(try session.command([Project.vault] + arguments, input: Data("token".utf8)), 8)
        }
        // Something that listens and closes is a daemon that doesn't answer.
        try FileManager.default.createDirectory(
          atPath: session.runtime + "/vault", withIntermediateDirectories: false,
          attributes: [.posixPermissions: 0o700])
        let program = """
          import os, socket
          s = socket.socket(socket.AF_UNIX); s.bind('\(session.socket)'); s.listen()
          while True: s.accept()[0].close()
          """
        let server = try session.start("closer", ["/usr/bin/python3", "-c", program])
        defer { server.end() }
        #expect(becomesTrue { (try? RawConnection(session.socket)) != nil })
        expectFailure(try session.vault("get", "Chat.token", environment: ["VAULTD_AUTOSTART": "yes"]), 8)
        #expect(session.autostarted().isEmpty)
      }
    }

    @Test(
      "9: a vault file that is none, is empty or was changed; it stays as it is, and the daemon runs",
      arguments: [
        Data("not a vault\n".utf8), Data(), randomBytes(8_192),
      ])
    func damaged(file: Data) throws {
      try ThrowawaySession.with { session in
        try FileManager.default.createDirectory(
          atPath: session.data, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let path = session.data + "/vault.db"
        try file.write(to: URL(filePath: path))
        unsafe chmod(path, 0o600)
        let daemon = try session.daemon("--store", "file")
        expectFailure(try session.vault("get", "Chat.token"), 9)
        expectFailure(try session.vault("set", "Chat.token", input: Data("token".utf8)), 9)
        expectFailure(try session.vault("init", "--key-file", session.home + "/vault.key"), 2)
        #expect(FileManager.default.contents(atPath: path) == file)
        expectSuccess(try session.vault("status"))
        #expect(daemon.isRunning)
      }
    }

    @Test("11: a vault file of a newer version, which nothing is done to")
    func newer() throws {
      try ThrowawaySession.with { session in
        let daemon = try session.daemonWithFile()
        try session.set("Chat.token", Data("token".utf8))
        try daemon.stop()
        // docs/vault-file.md: the format's number, and the checksum over it that needs no key.
        let program = """
          import hmac, sqlite3, struct
          file = sqlite3.connect("\(session.data)/vault.db")
          vault, = file.execute("SELECT vault FROM header").fetchone()
          checksum = hmac.digest(b"vault file checksum", struct.pack(">q", 2) + vault, "sha256")[:16]
          file.execute("UPDATE header SET format = 2, checksum = ?", (checksum,)); file.commit()
          file.execute("PRAGMA user_version = 2"); file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
          """
        expectSuccess(try session.command(["/usr/bin/python3", "-c", program]))
        let before = FileManager.default.contents(atPath: session.data + "/vault.db")
        _ = try session.daemon("--store", "file")
        expectFailure(try session.vault("get", "Chat.token"), 11)
        expectFailure(try session.vault("set", "Chat.token", input: Data("new".utf8)), 11)
        expectFailure(try session.vault("unlock", "--key-file", session.home + "/vault.key"), 11)
        #expect(FileManager.default.contents(atPath: session.data + "/vault.db") == before)
      }
    }

    @Test("2: init over a vault file, and a key file inside the data folder")
    func initialise() throws {
      try StoreUnderTest.file.run { session, _ in
        expectFailure(try session.vault("init", "--key-file", session.home + "/other.key"), 2)
        #expect(!FileManager.default.fileExists(atPath: session.home + "/other.key"))
        expectFailure(try session.vault("slot", "add", "key-file", session.data + "/inside.key"), 2)
        let slots = try session.vault("slot", "list")
        expectSuccess(slots)
        expectFailure(try session.vault("slot", "remove", "1"), 2)
      }
    }

    @Test("12: a secret over the limit, which is named")
    func tooLarge() throws {
      try StoreUnderTest.file.run { session, _ in
        let ended = try session.vault(
          "set", "--raw", "Chat.token", input: Data(repeating: 65, count: 1_048_577))
        expectFailure(ended, 12)
        #expect(ended.errors.contains("1048576") || ended.errors.contains("1,048,576"))
      }
    }
  }
}
