// The rule for the socket's path, which both ends share.

import Testing
import VaultWire

@Suite struct SocketPathTests {
  private func choose(_ explicit: String?, _ runtime: String?, private folder: Bool = true) throws -> String {
    try SocketPath.choose(explicit: explicit, runtimeFolder: runtime, user: 1000) { path in
      #expect(path == "/run/user/1000")
      return folder
    }
  }

  @Test("a path that is given wins, then the runtime folder, then the one of the user")
  func order() throws {
    #expect(try choose("/a/b.sock", "/run/x") == "/a/b.sock")
    #expect(try choose("b.sock", nil) == "b.sock")
    #expect(try choose(nil, "/run/x") == "/run/x/vault/vault.sock")
    #expect(try choose("", "/run/x/") == "/run/x/vault/vault.sock")
    #expect(try choose(nil, nil) == "/run/user/1000/vault/vault.sock")
    #expect(try choose("", "") == "/run/user/1000/vault/vault.sock")
  }

  @Test("a folder of the user that is not the user's alone is not taken")
  func notPrivate() {
    #expect(throws: SocketPathProblem.noRuntimeFolder("/run/user/1000")) {
      try choose(nil, nil, private: false)
    }
  }

  @Test("a runtime folder without a root is refused")
  func relative() {
    #expect(throws: SocketPathProblem.relativeRuntimeFolder("run")) { try choose(nil, "run") }
  }

  @Test("107 bytes are a path, 108 are an error and never cut")
  func limit() throws {
    let path = "/" + String(repeating: "p", count: 106)
    #expect(try choose(path, nil) == path)
    #expect(throws: SocketPathProblem.tooLong(path + "p")) { try choose(path + "p", nil) }
    let folder = "/" + String(repeating: "p", count: 89)
    #expect(try choose(nil, folder).utf8.count == 107)
    #expect(throws: SocketPathProblem.self) { try choose(nil, folder + "p") }
  }
}
