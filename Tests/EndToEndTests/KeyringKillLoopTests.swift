// kill -9 and SIGSTOP at any moment, of the daemon and of the keyring, while clients set and clear (behaviour.md, rules
// 1 to 4, for the setting auto): what get says is always what was acknowledged last, whole, or all of a set that was
// cut off; and when all is quiet, it is in the keyring, once, and nowhere else.

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("Kill loops of the keyring")
  struct KeyringKillLoopTests {
    /// What befalls daemon and keyring in a round.
    private enum Blow: CaseIterable {
      /// The daemon is killed.
      case daemon
      /// The keyring is killed, and comes back.
      case keyring
      /// The keyring is stopped for a moment.
      case stopped
      /// Both are killed.
      case both
      /// The daemon is killed while the keyring is stopped: what it had sent is carried out later.
      case daemonWhileStopped
      /// The keyring is killed while it is stopped: what it was sent is lost.
      case keyringWhileStopped
      /// The keyring was away in the middle of the round.
      case away
    }

    @Test(
      "300 times killed and stopped, auto says what was acknowledged, and in the end the keyring has it, once"
    )
    func auto() throws {
      try ThrowawaySession.with(.empty) { session in
        let keyring = try FakeKeyring(session)
        let arguments = ["--timeout", "1", "--prompt-timeout", "2"]
        let first = try session.daemon(command: [Project.vaultd] + arguments)
        expectSuccess(try session.vault("init", "--key-file", session.home + "/vault.key"))

        var isAway = false
        let loop = KillLoop(isUncertain: true)
        let acknowledged = try loop.run(
          "kill loop, auto", first,
          disturb: { random in
            guard Int.random(in: 0..<60, using: &random) == 0 else { return }
            isAway.toggle()
            if isAway { keyring.kill() } else { try keyring.restart() }
          },
          kill: { daemon, random in
            func restart() throws -> DaemonUnderTest {
              daemon.kill(SIGKILL)
              try daemon.wait()
              return try session.daemon(command: [Project.vaultd] + arguments)
            }
            defer { isAway = false }
            let blow = isAway ? .away : Blow.allCases.randomElement(using: &random) ?? .both
            switch blow {
            case .daemon: return try restart()
            case .keyring, .away:
              try keyring.restart()
              return daemon
            case .stopped:
              keyring.stop()
              usleep(UInt32.random(in: 0...30_000, using: &random))
              keyring.goOn()
              return daemon
            case .both:
              keyring.kill()
              let daemon = try restart()
              try keyring.restart()
              return daemon
            case .daemonWhileStopped:
              keyring.stop()
              let daemon = try restart()
              keyring.goOn()
              return daemon
            case .keyringWhileStopped:
              keyring.stop()
              usleep(UInt32.random(in: 0...3_000, using: &random))
              try keyring.restart()
              return daemon
            }
          })
        #expect(acknowledged > loop.rounds)
        try expectAllInKeyring(session, keyring, keys: (0..<loop.keys).map { "Killed.k\($0)" })
      }
    }

    /// When all is quiet: every token is in the keyring, one item each, and nothing else is there or in the file.
    private func expectAllInKeyring(
      _ session: ThrowawaySession, _ keyring: FakeKeyring, keys: [String]
    ) throws {
      var tokens: [String: Data] = [:]
      for key in keys { tokens[key] = try session.get(key) }
      let isQuiet = try becomesTrue(seconds: 15) {
        let stores = try session.vault("status", "--json").json["stores"] as? [[String: Any]] ?? []
        return stores.allSatisfy { store in
          store["pending"] as? Int == 0
            && (store["store"] as? String != "file" || store["entries"] as? Int == 0)
        }
      }
      let status = try session.vault("status", "--json").text
      #expect(isQuiet, "\(status)")
      let items = try keyring.items
      let found = items.map {
        (($0.attributes["namespace"] ?? "") + "." + ($0.attributes["name"] ?? ""), $0.secret)
      }
      #expect(Dictionary(found, uniquingKeysWith: { $1 }) == tokens)
      #expect(found.count == tokens.count, "\(found.map(\.0).sorted())")
      for key in keys { #expect(try session.get(key) == tokens[key]) }
    }
  }
}
