// Which store a key is in, and what is said when that one can't be asked (behaviour.md, "The two stores").

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("Which store")
  struct WhichStoreTests {
    private let key = "Back4Gram.sessionToken"

    private func store(_ session: ThrowawaySession, _ key: String) throws -> String? {
      try session.vault("get", key, "--json").json["store"] as? String
    }

    private func initialise(_ session: ThrowawaySession) throws {
      expectSuccess(try session.vault("init", "--key-file", session.home + "/vault.key"))
    }

    @Test("auto: the Secret Service where one answers")
    func provider() throws {
      try ThrowawaySession.with(.keyring) { session in
        _ = try session.daemon()
        try initialise(session)
        try session.set(key, Data("1".utf8))
        #expect(try store(session, key) == "secret_service")
      }
    }

    @Test("auto: the initialised file where none does, with a bus and without", arguments: [false, true])
    func noProvider(bus: Bool) throws {
      try ThrowawaySession.with(bus ? .empty : .none) { session in
        let daemon = try session.daemon()
        try initialise(session)
        try session.set(key, Data("1".utf8))
        #expect(try store(session, key) == "file")
        expectFailure(try session.vault("get", "Back4Gram.other"), 1)
        try daemon.stop()
        _ = try session.daemon()
        #expect(try session.get(key) == Data("1".utf8))
        expectSuccess(try session.vault("clear", key))
        #expect(try session.get(key) == nil)
      }
    }

    @Test("auto: neither store is there: the write fails, says what to run, and is on no disk")
    func nowhere() throws {
      try ThrowawaySession.with(.empty) { session in
        _ = try session.daemon()
        let marker = "M4RK3R" + UUID().uuidString
        let ended = try session.vault("set", key, input: Data(marker.utf8))
        expectFailure(ended, 7)
        #expect(ended.errors.contains("vault init"))
        for path in try filesUnder(session.folder) {
          #expect(FileManager.default.contents(atPath: path)?.range(of: Data(marker.utf8)) == nil, "\(path)")
        }
      }
    }

    @Test("auto: the owner of a key is remembered; without it the answer is never 'nothing stored'")
    func ownerIsRemembered() throws {
      try ThrowawaySession.with(.keyring) { session in
        let first = try session.daemon()
        try initialise(session)
        try session.set(key, Data("1".utf8))

        session.stopKeyring()
        expectFailure(try session.vault("get", key), 7)
        expectFailure(try session.vault("get", "Back4Gram.neverSet"), 7)
        try first.stop()
        let second = try session.daemon()
        expectFailure(try session.vault("get", key), 7)
        expectFailure(try session.vault("get", "Back4Gram.neverSet"), 7)
        let text = try session.vault("get", key).errors.lowercased()
        #expect(!text.contains("log in again") && !text.contains("login again"))

        try session.startKeyring()
        #expect(try becomesTrue { try session.vault("get", key).output == Data("1".utf8) })
        expectFailure(try session.vault("get", "Back4Gram.neverSet"), 1)
        #expect(second.isRunning)
      }
    }

    @Test("auto: a value set while the Secret Service was away counts, also when that is back")
    func pendingValue() throws {
      try ThrowawaySession.with(.keyring) { session in
        let daemon = try session.daemon()
        try initialise(session)
        try session.set(key, Data("old".utf8))
        session.stopKeyring()
        try session.set(key, Data("new".utf8))
        #expect(try session.get(key) == Data("new".utf8))
        try session.startKeyring()
        for _ in 0..<20 { #expect(try session.get(key) == Data("new".utf8)) }
        let lookUp = ["secret-tool", "lookup", "namespace", "Back4Gram", "name", "sessionToken"]
        #expect(
          try becomesTrue { try session.command(lookUp).output == Data("new".utf8) }, "it moves by itself")
        #expect(try becomesTrue { try store(session, key) == "secret_service" })
        try daemon.stop()
        _ = try session.daemon()
        #expect(try session.get(key) == Data("new".utf8))
      }
    }

    @Test("auto: a clear while the Secret Service is away is pending, says so, and is kept")
    func pendingClear() throws {
      try ThrowawaySession.with(.keyring) { session in
        let daemon = try session.daemon()
        try session.set(key, Data("old".utf8))
        session.stopKeyring()
        let cleared = try session.vault("clear", key, "--json")
        #expect(cleared.status == 7)
        #expect(cleared.json["pending"] as? Bool == true)
        expectFailure(try session.vault("get", key), 1)
        try daemon.stop()
        try session.startKeyring()
        _ = try session.daemon()
        expectFailure(try session.vault("get", key), 1)
        let lookUp = ["secret-tool", "lookup", "namespace", "Back4Gram", "name", "sessionToken"]
        #expect(try becomesTrue { try session.command(lookUp).status == 1 })
      }
    }

    @Test("auto: a provider that lost what was stored in it is not believed to have nothing")
    func resetProvider() throws {
      try ThrowawaySession.with(.keyring) { session in
        _ = try session.daemon()
        try session.set(key, Data("old".utf8))
        session.stopKeyring()
        try FileManager.default.removeItem(atPath: session.home + "/.local/share/keyrings")
        try session.startKeyring()
        let ended = try session.vault("get", key)
        expectFailure(ended, 7)
        #expect(ended.errors.contains("20"), "no date: \(ended.errors)")
        try session.set(key, Data("new".utf8))
        #expect(try session.get(key) == Data("new".utf8))
      }
    }

    @Test("a state that is damaged is moved aside, the log says so, and the keyring is believed")
    func damagedState() throws {
      try ThrowawaySession.with(.keyring) { session in
        let daemon = try session.daemon()
        try session.set(key, Data("kept".utf8))
        try daemon.stop()
        let data = session.home + "/.local/share/vault"
        try Data(repeating: 0x5A, count: 4_096).write(to: URL(fileURLWithPath: data + "/state.db"))
        let again = try session.daemon()
        #expect(try session.get(key) == Data("kept".utf8))
        #expect(becomesTrue { again.log.contains("state.db.damaged-") }, "\(again.log)")
        #expect(
          try FileManager.default.contentsOfDirectory(atPath: data).contains { $0.contains("damaged-") })
      }
    }

    @Test("a locked keyring delays no other request, and clear asks nobody")
    func lockedKeyring() throws {
      try ThrowawaySession.with(.keyring) { session in
        _ = try session.daemon()
        try session.set(key, Data("old".utf8))
        try session.lockKeyring()
        expectFailure(try session.vault("get", key, "--no-prompt"), 4)
        let start = ContinuousClock.now
        expectSuccess(try session.vault("status"))
        #expect(ContinuousClock.now - start < .milliseconds(500))
        let cleared = try session.vault("clear", key)
        #expect(cleared.status == 7)
        #expect(!cleared.output.isEmpty)
        expectFailure(try session.vault("get", key, "--no-prompt"), 1)
      }
    }

    @Test("after an orderly end the file is complete without its log")
    func logAtTheEnd() throws {
      try ThrowawaySession.with { session in
        let daemon = try session.daemonWithFile()
        try session.set(key, Data("1".utf8))
        try daemon.stop()
        let log = session.home + "/.local/share/vault/vault.db-wal"
        #expect(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int == 0)
        try FileManager.default.removeItem(atPath: log)
        _ = try session.daemon("--store", "file")
        #expect(try session.get(key) == Data("1".utf8))
      }
    }

    @Test("a store that is chosen is the only one")
    func chosen() throws {
      try ThrowawaySession.with(.keyring) { session in
        let daemon = try session.daemonWithFile()
        try session.set(key, Data("1".utf8))
        #expect(try store(session, key) == "file")
        let lookUp = ["secret-tool", "lookup", "namespace", "Back4Gram", "name", "sessionToken"]
        #expect(try session.command(lookUp).status == 1)
        try daemon.stop()
        session.stopKeyring()
        _ = try session.daemon("--store", "secret-service")
        expectFailure(try session.vault("set", key, input: Data("2".utf8)), 7)
      }
    }

    @Test("--store file without a file says what to run")
    func notInitialised() throws {
      try ThrowawaySession.with { session in
        _ = try session.daemon("--store", "file")
        for arguments in [["get", key], ["set", key]] {
          let ended = try session.command([Project.vault] + arguments, input: Data("1".utf8))
          #expect(ended.status == 7 || (ended.status == 1 && arguments[0] == "get"), "\(ended.errors)")
          #expect(ended.output.isEmpty)
          if ended.status == 7 { #expect(ended.errors.contains("vault init")) }
        }
      }
    }
  }
}
