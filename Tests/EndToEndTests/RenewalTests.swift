// Renewal with real processes: of all who find the token over one renews it, whoever is killed meanwhile.

import Foundation
import Glibc
import Spawning
import Testing

extension EndToEnd {
  @Suite("Renewal")
  struct RenewalTests {
    private let key = "Chat.token"

    /// Holds a token that is over.
    private func expire(_ session: ThrowawaySession) throws {
      expectSuccess(
        try session.vault(
          "set", key, "--expires-in", "1s", "--idle", "7d", "--label", "Chat", input: Data("old".utf8)))
      #expect(try becomesTrue { try session.vault("get", key).status == 3 })
    }

    /// Starts `vault renew` with a command that says that it ran, as a chat server would count it.
    private func renew(_ session: ThrowawaySession, _ name: String, _ command: String) throws -> Child {
      let script = "echo \(name) >>\(session.home)/renewals; \(command)"
      return try session.start(
        name, [Project.vault, "renew", key, "--expires-in", "1h", "--", "sh", "-c", script])
    }

    private func renewals(_ session: ThrowawaySession) -> [String] {
      let text = try? String(contentsOfFile: session.home + "/renewals", encoding: .utf8)
      return (text ?? "").split(separator: "\n").map(String.init)
    }

    @Test(
      "twenty clients with one token that is over cause exactly one renewal, and all have its outcome",
      arguments: StoreUnderTest.allCases)
    func once(store: StoreUnderTest) throws {
      try store.run { session, _ in
        try expire(session)
        let clients = try (0..<20).map { try renew(session, "client\($0)", "printf new") }
        for client in clients { #expect(try client.wait(seconds: 60) == 0) }
        #expect(renewals(session).count == 1)
        for number in 0..<20 { #expect(session.log("client\(number)") == "new") }
        let entry = try session.vault("get", key, "--json").json
        #expect(entry["secret"] as? String == "new")
        #expect(entry["label"] as? String == "Chat" && entry["idle"] as? Int == 604_800)
      }
    }

    @Test("holders that are killed before they have renewed leave it to the next one, at once")
    func killed() throws {
      try StoreUnderTest.file.run { session, _ in
        try expire(session)
        var holders = [try renew(session, "holder0", "echo $$ >\(session.home)/holder0.pid; exec sleep 1000")]
        #expect(becomesTrue { renewals(session) == ["holder0"] })
        for number in 1..<3 {
          let name = "holder\(number)"
          holders.append(try renew(session, name, "echo $$ >\(session.home)/\(name).pid; exec sleep 1000"))
        }
        let begin = ContinuousClock.now
        var clients: [Child] = []
        for (number, name) in ["holder0", "holder1", "holder2"].enumerated() {
          // Which of those that wait comes next is not said; each of the holders that holds is killed.
          #expect(becomesTrue { renewals(session).count == number + 1 })
          if number == 2 {
            clients = try (0..<20).map { try renew(session, "client\($0)", "printf new") }
          }
          let holding = renewals(session).last ?? name
          if let index = Int(holding.dropFirst("holder".count)), holders.indices.contains(index) {
            holders[index].kill(SIGKILL)
          }
        }
        for client in clients { #expect(try client.wait(seconds: 60) == 0) }
        #expect(ContinuousClock.now - begin < .seconds(30), "somebody waited for the end of a lease")
        #expect(renewals(session).filter { $0.hasPrefix("client") }.count == 1)
        for number in 0..<20 { #expect(session.log("client\(number)") == "new") }
        for name in ["holder0", "holder1", "holder2"] {
          let pid = try? String(contentsOfFile: "\(session.home)/\(name).pid", encoding: .utf8)
          if let pid = pid.flatMap({ pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines)) }), pid > 1 {
            kill(pid, SIGKILL)
          }
        }
      }
    }

    @Test("what is set under a lease counts, after the end of the lease it is a conflict and changes nothing")
    func lease() throws {
      try StoreUnderTest.file.run { session, daemon in
        let holder = try daemon.connect()
        let granted = try holder.call("org.vaultd.Vault.Refresh", ["key": key])
        #expect(granted.error == nil && granted.parameters["entry"] == nil)
        let lease = try #require(granted.parameters["lease"] as? String)

        let waiter = try daemon.connect()
        try waiter.send("org.vaultd.Vault.Refresh", ["key": key])
        // Others go on meanwhile.
        expectFailure(try session.vault("get", key), 1)
        #expect(
          try holder.call("org.vaultd.Vault.Set", ["key": key, "secret": "new", "lease": lease]).error == nil)
        #expect(try waiter.answer()?.parameters["secret"] as? String == "new")

        let late = try holder.call("org.vaultd.Vault.Set", ["key": key, "secret": "late", "lease": lease])
        #expect(late.error == "org.vaultd.Vault.Conflict")
        #expect(try session.get(key) == Data("new".utf8))
        #expect(try holder.call("org.vaultd.Vault.GiveUp", ["lease": lease]).error == nil)
      }
    }

    @Test("a holder that gives up, again and again, keeps nobody beyond the time that he gave")
    func givesUp() throws {
      try StoreUnderTest.file.run { session, daemon in
        let holders = try (0..<3).map { _ in try daemon.connect() }
        let waiter = try daemon.connect()
        var lease = try #require(
          holders[0].call("org.vaultd.Vault.Refresh", ["key": key]).parameters["lease"] as? String)
        for round in 1...30 {
          try holders[round % 3].send("org.vaultd.Vault.Refresh", ["key": key])
          #expect(
            try holders[(round + 2) % 3].call("org.vaultd.Vault.GiveUp", ["lease": lease]).error == nil)
          lease = try #require(try holders[round % 3].answer()?.parameters["lease"] as? String)
        }
        let begin = ContinuousClock.now
        let answer = try waiter.call("org.vaultd.Vault.Refresh", ["key": key, "wait": 1])
        #expect(answer.error == "org.vaultd.Vault.Unavailable")
        #expect(ContinuousClock.now - begin < .seconds(5))
      }
    }
  }
}
