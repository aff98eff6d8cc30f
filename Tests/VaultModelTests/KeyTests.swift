// The rules for keys and accounts (behaviour.md, "Keys, accounts, secrets").

import Testing
import VaultModel

@Suite struct KeyTests {
  @Test(
    "a key is split at its last dot",
    arguments: [
      ("Back4Gram.sessionToken", "Back4Gram", "sessionToken"),
      ("com.example.Chat.refreshToken", "com.example.Chat", "refreshToken"),
      ("a b.c/d:e@f", "a b", "c/d:e@f"),
      ("🔑.🪙", "🔑", "🪙"),
    ])
  func split(text: String, namespace: String, name: String) throws {
    let key = try Key(text)
    #expect(key.namespace.text == namespace)
    #expect(key.name == name)
  }

  @Test(
    "what the rules forbid is refused",
    arguments: [
      "", ".", "..", "nodot", ".a", "a.", "a..b", " a.b", "a.b ", "a .b", "a. b", "a\n.b", "a.b\u{7F}",
      "a.b\u{85}c",
      "a.\u{A0}b", String(repeating: "k", count: 254) + ".n",
    ])
  func refused(text: String) {
    #expect(throws: VaultError.self) { try Key(text) }
  }

  @Test("255 bytes are a key, 256 are none")
  func length() throws {
    _ = try Key(String(repeating: "k", count: 253) + ".n")
    #expect(throws: VaultError.self) { try Key(String(repeating: "k", count: 254) + ".n") }
  }

  @Test("keys are their bytes: NFC and NFD are two")
  func normalForms() throws {
    let composed = try Key("caf\u{E9}.t")
    let decomposed = try Key("cafe\u{301}.t")
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
  }

  @Test(
    "entries whose names are the same bytes, divided otherwise, are others, and looked for in other places")
  func divided() throws {
    let ids = try [("a.bcd", ""), ("a.bc", "d"), ("a.b", "cd")].map { key, account in
      EntryID(try Key(key), try Account(account))
    }
    #expect(Set(ids).count == 3)
    #expect(Set(ids.map(\.nameHash)).count == 3)
    #expect(Set(ids.map(\.hashValue)).count == 3)
  }
}
