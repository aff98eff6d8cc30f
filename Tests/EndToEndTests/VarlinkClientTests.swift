// A client that nobody of this project wrote: the Python package `varlink`, in a virtual environment that is made
// once and kept with the build.

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("A client of the protocol that is not ours")
  struct VarlinkClientTests {
    /// A Python with the package; made on the first use.
    private func python() throws -> String {
      let folder = Project.root + "/.build/varlink-client"
      let python = folder + "/bin/python3"
      let environment = ProcessInfo.processInfo.environment
      let has = ["-c", "import varlink"]
      if (try? run([python] + has, environment: environment))?.status == 0 { return python }
      for command in [
        ["/usr/bin/python3", "-m", "venv", "--clear", folder],
        [python, "-m", "pip", "install", "--quiet", "varlink"],
      ] {
        let ended = try run(command, environment: environment, seconds: 300)
        guard ended.status == 0 else { throw HarnessFailure("\(command): \(ended.errors)") }
      }
      return python
    }

    @Test("it reads the interface, and sets, gets and clears a token", arguments: StoreUnderTest.allCases)
    func client(store: StoreUnderTest) throws {
      let python = try python()
      try store.run { session, _ in
        let ended = try session.command([
          python, Project.support("varlink-client.py"), "unix:" + session.socket,
        ])
        #expect(ended.status == 0, "\(ended.text)\(ended.errors)")
        #expect(ended.text.hasSuffix("OK\n"))
      }
    }

    @Test("the daemon serves the interface file of the project, byte for byte")
    func description() throws {
      try ThrowawaySession.with { session in
        let connection = try session.daemon().connect()
        let answer = try connection.call(
          "org.varlink.service.GetInterfaceDescription", ["interface": "org.vaultd.Vault"])
        let file = try Project.text("Sources/VaultWire/org.vaultd.Vault.varlink")
        #expect((answer.parameters["description"] as? String).map { Data($0.utf8) } == Data(file.utf8))
        let info = try connection.call("org.varlink.service.GetInfo").parameters
        #expect(Set(info["interfaces"] as? [String] ?? []) == ["org.varlink.service", "org.vaultd.Vault"])
        for member in ["vendor", "product", "version", "url"] { #expect(info[member] is String, "\(member)") }
      }
    }
  }
}
