// The daemon is killed at one moment after the other of a set over an older token in the keyring: afterwards the key has
// the old secret with all that belongs to it, or the new one.

import Foundation
import Glibc
import Spawning
import Testing

extension EndToEnd {
  @Suite("Sets that are cut off in the keyring")
  struct KeyringCutOffTests {
    private let key = "Back4Gram.sessionToken"

    /// What is set and what is read.
    private struct Value: Equatable {
      var secret: String
      var label: String
      var expires: Int
      var idle: Int

      var parameters: [String: Any] { ["secret": secret, "label": label, "expires": expires, "idle": idle] }
    }

    // Of one size: nothing but the secret itself tells them from each other.
    private let old = Value(secret: "token-1", label: "old", expires: 4_000_000_001, idle: 100_000)
    private let new = Value(secret: "token-2", label: "new", expires: 4_000_000_002, idle: 90_000)

    /// Where the daemon is when it is killed: what the keyring does to which call.
    enum Moment: CaseIterable {
      /// The secret is on its way.
      case beforeSecret
      /// The secret is there, and the daemon does not know.
      case secretUnanswered
      /// Label and attributes are on their way.
      case beforeAttributes
      /// All is there, and was not read back.
      case beforeLook
    }

    private func set(_ value: Value, _ daemon: DaemonUnderTest) throws -> RawConnection {
      let connection = try daemon.connect()
      try connection.send("org.vaultd.Vault.Set", value.parameters.merging(["key": key]) { $1 })
      return connection
    }

    private func get(_ daemon: DaemonUnderTest) throws -> Value? {
      let answer = try daemon.connect().call("org.vaultd.Vault.Get", ["key": key])
      guard let entry = answer.parameters["entry"] as? [String: Any] else { return nil }
      return Value(
        secret: answer.parameters["secret"] as? String ?? "", label: entry["label"] as? String ?? "",
        expires: entry["expires"] as? Int ?? 0, idle: entry["idle"] as? Int ?? 0)
    }

    /// Sets the new value over the old one, kills the daemon at that moment, and starts the next.
    private func cutOff(
      at moment: Moment, _ session: ThrowawaySession, _ keyring: FakeKeyring, meanwhile: () -> Void = {}
    ) throws -> DaemonUnderTest {
      let first = try session.daemon("--store", "secret-service")
      #expect(try set(old, first).answer()?.error == nil)
      switch moment {
      case .beforeSecret: try keyring.fault("SetSecret", "never")
      case .secretUnanswered: try keyring.fault("SetSecret", "answer-lost")
      case .beforeAttributes: try keyring.fault("Properties.Set", "never")
      case .beforeLook: try keyring.fault("GetSecrets", "never")
      }
      let waiting = try set(new, first)
      #expect(try becomesTrue { try keyring.count("faults") > 0 })
      if moment == .beforeLook {
        #expect(try becomesTrue { try keyring.items.first?.attributes["idle"] == "\(new.idle)" })
      }
      first.kill(SIGKILL)
      try first.wait()
      waiting.close()
      try keyring.tell("no-faults")
      meanwhile()
      return try session.daemon("--store", "secret-service")
    }

    @Test("all of it or nothing, at each moment, and so it stays", arguments: Moment.allCases)
    func whole(moment: Moment) throws {
      try ThrowawaySession.with(.empty) { session in
        let keyring = try FakeKeyring(session)
        let daemon = try cutOff(at: moment, session, keyring)
        let expected = moment == .beforeSecret ? old : new
        #expect(try get(daemon) == expected)
        daemon.kill(SIGKILL)
        try daemon.wait()
        #expect(try get(try session.daemon("--store", "secret-service")) == expected)
      }
    }

    @Test("after the end of the login session, which took the key, the earlier end counts")
    func afterLogin() throws {
      try ThrowawaySession.with(.empty) { session in
        let keyring = try FakeKeyring(session)
        let daemon = try cutOff(at: .beforeAttributes, session, keyring) { session.endLogin() }
        let value = try #require(try get(daemon))
        #expect(value.secret == new.secret && value.expires == old.expires && value.idle == new.idle)
      }
    }
  }
}
