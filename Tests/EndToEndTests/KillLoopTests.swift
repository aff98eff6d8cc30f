// kill -9 at any moment: nothing that was acknowledged is lost, nothing that was not appears out of nowhere, and no
// set is there in part (behaviour.md, rule 2).

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("Kill loops")
  struct KillLoopTests {
    @Test("300 times killed while four clients set and clear, the file holds all that was acknowledged")
    func file() throws {
      try ThrowawaySession.with { session in
        let daemon = try session.daemonWithFile()
        let loop = KillLoop()
        let acknowledged = try loop.run("kill loop, file", daemon) { daemon, _ in
          daemon.kill(SIGKILL)
          try daemon.wait()
          return try session.daemon("--store", "file")
        }
        #expect(acknowledged > loop.rounds * loop.answers / 4)
        let verified = try session.vault("verify")
        #expect(verified.status == 0, "\(verified.text)\(verified.errors)")
      }
    }
  }
}
