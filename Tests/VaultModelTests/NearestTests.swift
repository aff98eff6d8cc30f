// Guessing the name that was meant.

import Testing
import VaultModel

@Suite struct NearestTests {
  static let names = [
    "get", "set", "clear", "logout", "list", "status", "init", "lock", "unlock", "--account",
  ]

  @Test(
    "a slip of the finger finds its name",
    arguments: [
      ("gte", "get"), ("claer", "clear"), ("stauts", "status"), ("lits", "list"), ("inti", "init"),
      ("unlcok", "unlock"), ("--acount", "--account"), ("--accounts", "--account"), ("logut", "logout"),
    ])
  func near(text: String, name: String) {
    #expect(nearest(to: text, among: Self.names) == name)
  }

  @Test("what is like nothing finds nothing", arguments: ["", "frobnicate", "x", "zzz", "--zzzzzz"])
  func far(text: String) {
    #expect(nearest(to: text, among: Self.names) == nil)
  }
}
