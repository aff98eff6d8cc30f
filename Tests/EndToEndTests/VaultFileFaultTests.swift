// Each call by which a change gets to the disk fails once, in the daemon as it is shipped: the outcome is an error or
// success, the key has the old value or the new, the file opens, and the next set works. Whether the value waits in
// the file for a keyring, which writes the state as well, makes no difference (behaviour.md, rules 1 and 2).

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("Calls that fail")
  struct VaultFileFaultTests {
    /// What a daemon is asked while a call fails.
    enum Change: CaseIterable {
      /// The first change after a start, which opens what writing needs.
      case first
      case small
      /// Of many pages.
      case large
      case clear
    }

    private static let calls = [
      "pwrite64", "fdatasync", "fsync", "ftruncate", "openat", "unlink", "unlinkat",
    ]

    @Test(
      "a change one of whose calls fails is made or not, what was acknowledged stays, and the next one works",
      .enabled(if: CallTracer.isAvailable, "\(CallTracer.wanted)"), arguments: ["file", "auto"])
    func everyCall(mode: String) throws {
      try ThrowawaySession.with { session in
        try session.daemonWithFile().stop()
        var bench = try Bench(session: session, mode: mode)
        for change in Change.allCases {
          let counts = try bench.attempt(change, failing: nil)
          #expect(counts["pwrite64", default: 0] > 0)
          for (call, count) in counts.sorted(by: { $0.key < $1.key }) {
            // Of many that are alike some.
            for place in stride(from: 1, through: count, by: 1 + count / 12) {
              let error = call == "openat" ? "EMFILE" : place.isMultiple(of: 2) ? "EIO" : "ENOSPC"
              try bench.attempt(
                change, failing: CallTracer.Failure(call: call, place: place, error: error))
            }
          }
        }
        let verified = try session.vault("verify")
        #expect(verified.status == 0, "\(verified.text)\(verified.errors)")
        #expect(bench.refused > 0 && bench.taken > 0)
        print("calls that fail, \(mode): \(bench.taken) taken, \(bench.refused) refused")
      }
    }

    private struct Bench {
      let session: ThrowawaySession
      let mode: String
      var daemon: DaemonUnderTest
      /// What the key holds; `nil` for nothing.
      var value: String?
      var (number, taken, refused) = (0, 0, 0)

      init(session: ThrowawaySession, mode: String) throws {
        self.session = session
        self.mode = mode
        daemon = try session.daemon("--store", mode)
      }

      private mutating func newValue(_ size: Int = 0) -> String {
        number += 1
        return "\(number):" + String(repeating: "x", count: size)
      }

      private func set(_ value: String) throws -> Answer {
        try daemon.connect().call("org.vaultd.Vault.Set", ["key": "App.token", "secret": value])
      }

      /// What the key holds. A clear that took effect and was refused all the same may leave the key without an answer
      /// until it is tried again: `nil`, then, stands for that, too.
      private func get(_ comment: Comment, afterRefusedClear: Bool = false) throws -> String? {
        let answer = try daemon.connect().call("org.vaultd.Vault.Get", ["key": "App.token"])
        if answer.error == "org.vaultd.Vault.NotFound" { return nil }
        if afterRefusedClear, answer.error == "org.vaultd.Vault.Unavailable" { return nil }
        guard answer.error == nil else {
          throw HarnessFailure("\(comment): it can't be read: \(answer.object)")
        }
        return answer.parameters["secret"] as? String
      }

      private mutating func restart() throws {
        daemon.kill(SIGKILL)
        try daemon.wait()
        daemon = try session.daemon("--store", mode)
      }

      /// Makes a change while a call fails, and looks what came of it.
      @discardableResult
      mutating func attempt(_ change: Change, failing failure: CallTracer.Failure?) throws -> [String: Int] {
        let comment: Comment = "\(change), \(failure.map { "\($0)" } ?? "nothing fails")"
        if change == .first { try restart() }
        let new: String? =
          switch change {
          case .first, .small: newValue()
          case .large: newValue(20_000)
          case .clear: nil
          }
        let tracer = try CallTracer(daemon, in: session, VaultFileFaultTests.calls, failing: failure)
        let answer =
          if let new {
            try set(new)
          } else {
            try daemon.connect().call("org.vaultd.Vault.Clear", ["key": "App.token"])
          }
        let counts = try tracer.end()

        var mayStillBe = value
        if let error = answer.error {
          refused += 1
          #expect(failure != nil && error == "org.vaultd.Vault.Unavailable", "\(comment): \(answer.object)")
          let found = try get(comment, afterRefusedClear: change == .clear)
          #expect(found == value || found == new, "\(comment): \(found as Any)")
          value = found
          // A change that could not be synced is in the log, and counts where it is read from there.
          if "\(answer.object)".contains("may still take effect") { mayStillBe = new }
        } else {
          taken += 1
          value = new
          #expect(try get(comment) == new, "\(comment)")
        }
        // A daemon that is killed now has lost nothing.
        try restart()
        let found = try get(comment, afterRefusedClear: change == .clear && answer.error != nil)
        #expect(found == value || found == mayStillBe, "\(comment), restarted: \(answer.object)")
        let next = newValue()
        let after = try set(next)
        #expect(after.error == nil, "\(comment), afterwards: \(after.object)")
        value = next
        #expect(try get(comment) == next, "\(comment), afterwards")
        return counts
      }
    }
  }
}
