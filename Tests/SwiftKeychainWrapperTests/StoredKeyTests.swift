// Names to keys and back.

import Testing
import VaultClient

@testable import SwiftKeychainWrapper

@Suite struct StoredKeyTests {
  private static let standard = StoredKey(service: "SwiftKeychainWrapper")

  @Test(
    "the standard wrapper keeps a name with a dot as it is, and one without in a namespace of its own",
    arguments: [
      ("Back4Gram.sessionToken", "Back4Gram.sessionToken"), ("token", "SwiftKeychainWrapper.token"),
      ("a.b.c", "a.b.c"), ("user@example.org", "user@example.org"), ("100% sure.x", "100% sure.x"),
      ("ключ.😀", "ключ.😀"), ("https://u@host/x y", "SwiftKeychainWrapper.https://u@host/x y"),
      // What the rules of keys forbid.
      ("", "SwiftKeychainWrapper.%5F"), (".", "%5F.%5F"), ("a..b", "a.%5F.b"), (".a", "%5F.a"),
      ("a.", "a.%5F"),
      (" a", "SwiftKeychainWrapper.%20a"), ("a .b", "a%20.b"), ("a\u{A0}.b", "a%C2%A0.b"),
      ("a\n", "SwiftKeychainWrapper.a%0A"), ("a\r\nb.c", "a%0D%0Ab.c"), ("\u{85}.x", "%C2%85.x"),
      // What would be taken for one of ours.
      ("a%2Eb", "SwiftKeychainWrapper.a%252Eb"), ("%5F", "SwiftKeychainWrapper.%255F"),
      ("SwiftKeychainWrapper.token", "%53wiftKeychainWrapper.token"), ("_", "SwiftKeychainWrapper._"),
    ])
  func standardKeys(name: String, key: String) throws {
    #expect(Self.standard.key(of: name) == key)
    #expect(Self.standard.name(of: key).map { $0.utf8.elementsEqual(name.utf8) } == true)
    #expect(try Key(key).text == key)
  }

  @Test(
    "another service keeps its names in the namespace of its own name; dots in them are encoded",
    arguments: [
      ("com.example.Chat", "token", "com.example.Chat.token"),
      ("com.example.Chat", "auth.token", "com.example.Chat.auth%2Etoken"), ("Chat", ".", "Chat.%2E"),
      ("Chat", "", "Chat.%5F"), ("", "", "%5F.%5F"), (" My App ", "a", "%20My App%20.a"),
      ("a..b", "c", "a.%5F.b.c"),
    ])
  func otherServices(service: String, name: String, key: String) throws {
    let stored = StoredKey(service: service)
    #expect(stored.key(of: name) == key)
    #expect(stored.name(of: key) == name)
    #expect(try Key(key).namespace.text == stored.namespace)
  }

  @Test("every name has a key of its own, and every key that is made is one")
  func noTwoAlike() throws {
    let pieces = ["", "a", ".", "%", "5F", "%5F", "25", " ", "\u{0}", "S", "_", "SwiftKeychainWrapper"]
    var seen: [String: String] = [:]
    for a in pieces {
      for b in pieces {
        for c in pieces {
          let name = a + b + c
          for service in ["SwiftKeychainWrapper", "Chat"] {
            let stored = StoredKey(service: service)
            let key = stored.key(of: name)
            #expect(throws: Never.self) { try Key(key) }
            #expect(stored.name(of: key) == name)
            let owner = "\(service)/\(name)"
            if service == "SwiftKeychainWrapper" {
              #expect(seen.updateValue(owner, forKey: key) ?? owner == owner)
            }
          }
        }
      }
    }
  }

  @Test(
    "a key that no name of the service has is none of its keys",
    arguments: [
      "Chat.token", "com.example.a%2Fb", "com.example.%41", "com.example.Chat.token", "com.example.%FF",
    ])
  func foreign(key: String) {
    #expect(StoredKey(service: "com.example").name(of: key) == nil)
  }

  @Test("labels tell services apart, also where one's name ends as another's label does")
  func marks() {
    let mark = Mark(service: "Chat", accessibility: .always)
    #expect(mark.label == "SwiftKeychainWrapper: Chat, always")
    #expect(Mark(label: mark.label, of: "Chat") == mark)
    #expect(Mark(label: mark.label, of: "Cha") == nil)
    let other = Mark(service: "Chat, always", accessibility: .always)
    #expect(Mark(label: other.label, of: "Chat") == nil)
    #expect(Mark(label: "Chat", of: "Chat") == nil && Mark(label: nil, of: "Chat") == nil)
    #expect(Mark.isMark(mark.label) && !Mark.isMark("SwiftKeychainWrapper: by hand") && !Mark.isMark(nil))
  }
}
