// Tokens until logout: through every restart of the daemon, and not beyond the runtime folder.

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("Tokens until logout")
  struct VaultFileUntilLogoutTests {
    private let key = "Back4Gram.sessionToken"

    @Test("they survive a restart of the daemon, also by SIGKILL, and go with the runtime folder")
    func restarts() throws {
      try ThrowawaySession.with(runtimeInMemory: true) { session in
        var daemon = try session.daemonWithFile()
        expectSuccess(try session.vault("set", key, "--until-logout", input: Data("r:1".utf8)))
        for signal in [SIGTERM, SIGKILL] {
          daemon.kill(signal)
          try daemon.wait()
          daemon = try session.daemon("--store", "file")
          #expect(try session.get(key) == Data("r:1".utf8))
          let entry = try session.vault("get", "--json", key).json
          #expect(entry["store"] as? String == "session" && entry["untilLogout"] as? Bool == true)
        }
        // Encrypted, and ours alone.
        let folder = session.runtime + "/vault"
        for path in try filesUnder(folder) where !path.hasSuffix(".sock") {
          let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
          #expect(mode == 0o600, "\(path)")
          let bytes = try Data(contentsOf: URL(filePath: path))
          for marker in ["r:1", "Back4Gram", "sessionToken"] {
            #expect(bytes.range(of: Data(marker.utf8)) == nil, "\(path) holds \(marker)")
          }
        }

        // As at the end of the last login session.
        try daemon.stop()
        try FileManager.default.removeItem(atPath: folder)
        _ = try session.daemon("--store", "file")
        expectFailure(try session.vault("get", key), 1)
      }
    }

    @Test("a lock hides them, and unlock brings them back")
    func locked() throws {
      try ThrowawaySession.with(runtimeInMemory: true) { session in
        _ = try session.daemonWithFile()
        expectSuccess(try session.vault("set", key, "--until-logout", input: Data("r:1".utf8)))
        expectSuccess(try session.vault("lock"))
        expectFailure(try session.vault("get", key), 4)
        expectSuccess(try session.vault("unlock"))
        #expect(try session.get(key) == Data("r:1".utf8))
        expectSuccess(try session.vault("clear", key))
        expectFailure(try session.vault("get", key), 1)
      }
    }

    @Test(
      "under the unit they survive a restart and a kill, in the keyring of the user's manager",
      .enabled(if: UserSession.isAvailable, "\(UserSession.wanted)"))
    func unit() throws {
      try UserSession.with(keyring: "none") { session in
        try session.systemctl("start", "vaultd.socket")
        let kind = try Root.run(["stat", "-f", "-c", "%T", session.runtime]).text
        let set = try session.vault("set", "--until-logout", key, input: Data("r:1".utf8))
        guard kind.hasPrefix("tmpfs") else { return expectFailure(set, 7) }
        expectSuccess(set)
        expectSuccess(try session.vault("init", "--key-file", session.home + "/vault.key"))
        try session.systemctl("restart", "vaultd.service")
        #expect(try session.vault("get", key).text == "r:1")
        _ = try Root.run(["kill", "-KILL", String(try session.daemonPID())])
        #expect(try becomesTrue { try session.vault("get", key).text == "r:1" })
        let got = try session.vault("get", key, "--json").json
        #expect(got["store"] as? String == "session")
      }
    }

    @Test("where the runtime folder is on a disk they are refused, and written nowhere")
    func onDisk() throws {
      try ThrowawaySession.with { session in
        _ = try session.daemonWithFile()
        let ended = try session.vault("set", key, "--until-logout", input: Data("M4RK3R".utf8))
        expectFailure(ended, 7)
        #expect(ended.errors.contains(session.runtime))
        expectFailure(try session.vault("get", key), 1)
        #expect(!FileManager.default.fileExists(atPath: session.runtime + "/vault/session.db"))
      }
    }
  }
}
