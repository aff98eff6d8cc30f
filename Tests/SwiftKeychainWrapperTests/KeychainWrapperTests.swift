// The wrapper as programs written for the original use it: each in the words of such a program.

import Foundation
import ScriptedDaemon
import SwiftKeychainWrapper
import TestSupport
import Testing
import VaultClient
import VaultModel

extension KeychainWrapper.Key {
  fileprivate static let sessionToken: KeychainWrapper.Key = "Back4Gram.sessionToken"
}

/// An object as programs archive it.
final class Login: NSObject, NSCoding {
  let user: String

  init(user: String) {
    self.user = user
  }

  init?(coder: NSCoder) {
    guard let user = coder.decodeObject(forKey: "user") as? String else { return nil }
    self.user = user
  }

  func encode(with coder: NSCoder) {
    coder.encode(user, forKey: "user")
  }
}

@Suite(.serialized) final class KeychainWrapperTests {
  /// The standard wrapper reads the environment once, so all tests have one place for the socket.
  private static let folder = try? TemporaryFolder()

  private let vault = MemoryVault()
  private let daemon: ScriptedDaemon
  private let before: String?

  init() throws {
    let path = try #require(Self.folder?.path) + "/vault.sock"
    before = ProcessInfo.processInfo.environment["VAULTD_SOCKET"]
    unsafe setenv("VAULTD_SOCKET", path, 1)
    let vault = vault
    daemon = try ScriptedDaemon(path) { vault.answer($0) }
  }

  deinit {
    daemon.stop()
    if let before { unsafe setenv("VAULTD_SOCKET", before, 1) } else { unsafe unsetenv("VAULTD_SOCKET") }
  }

  @Test("log in, stay logged in, log out: the code of a chat client")
  func chatClient() {
    #expect(KeychainWrapper.standard.string(forKey: "Back4Gram.sessionToken") == nil)
    let saved: Bool = KeychainWrapper.standard.set("r:cbca71d29d76", forKey: "Back4Gram.sessionToken")
    #expect(saved)
    #expect(KeychainWrapper.standard.string(forKey: "Back4Gram.sessionToken") != nil)
    #expect(vault.keys == ["Back4Gram.sessionToken"])
    KeychainWrapper.standard.set("", forKey: "Back4Gram.sessionToken")
    #expect(KeychainWrapper.standard.string(forKey: "Back4Gram.sessionToken") == "")
    #expect(KeychainWrapper.standard.hasValue(forKey: "Back4Gram.sessionToken"))
    let removed: Bool = KeychainWrapper.standard.removeObject(forKey: "Back4Gram.sessionToken")
    #expect(removed)
    #expect(KeychainWrapper.standard.removeObject(forKey: "Back4Gram.sessionToken") == false)
    #expect(!KeychainWrapper.standard.hasValue(forKey: "Back4Gram.sessionToken"))
  }

  @Test("values of every type come back; numbers are read as any kind of number")
  func types() throws {
    let wrapper = KeychainWrapper(serviceName: "com.example.Chat", accessGroup: "group.example")
    #expect(wrapper.serviceName == "com.example.Chat" && wrapper.accessGroup == "group.example")
    #expect(wrapper.set(42, forKey: "n") && wrapper.integer(forKey: "n") == 42)
    #expect(wrapper.set(Int.min, forKey: "n") && wrapper.integer(forKey: "n") == .min)
    #expect(wrapper.set(Float(5.25), forKey: "f") && wrapper.float(forKey: "f") == 5.25)
    #expect(wrapper.set(10.75, forKey: "d") && wrapper.double(forKey: "d") == 10.75)
    #expect(wrapper.set(false, forKey: "b") && wrapper.bool(forKey: "b") == false)
    #expect(wrapper.set(true, forKey: "b") && wrapper.bool(forKey: "b") == true)
    #expect(wrapper.integer(forKey: "d") == 10 && wrapper.double(forKey: "f") == 5.25)
    #expect(wrapper.bool(forKey: "n") == true && wrapper.integer(forKey: "b") == 1)
    let bytes = Data((0...255).map { UInt8($0) })
    #expect(wrapper.set(bytes, forKey: "raw") && wrapper.data(forKey: "raw") == bytes)
    #expect(wrapper.string(forKey: "raw") == nil && wrapper.integer(forKey: "raw") == nil)
    #expect(wrapper.set(Login(user: "alice"), forKey: "o"))
    #expect((wrapper.object(forKey: "o") as? Login)?.user == "alice")
    #expect(
      wrapper.set("text", forKey: "s") && wrapper.object(forKey: "s") == nil
        && wrapper.bool(forKey: "s") == nil)
    #expect(wrapper.dataRef(forKey: "s") == Data("com.example.Chat.s".utf8))
    #expect(wrapper.dataRef(forKey: "none") == nil)
    #expect(wrapper.allKeys() == ["n", "f", "d", "b", "raw", "o", "s"])
  }

  @Test(
    "bytes that only begin like an archive are no object",
    arguments: ["bplist", "bplist00", "bplist00\u{0}x", ""])
  func noArchive(text: String) {
    let wrapper = KeychainWrapper(serviceName: "Chat")
    wrapper.set(text, forKey: "x")
    #expect(wrapper.object(forKey: "x") == nil && wrapper.integer(forKey: "x") == nil)
    #expect(wrapper.string(forKey: "x") == text)
  }

  @Test("an archive that was cut off, and a property list that is none, are no objects")
  func brokenArchive() throws {
    let wrapper = KeychainWrapper(serviceName: "Chat")
    for object in [NSNumber(value: 7), Login(user: "alice")] as [any NSCoding] {
      wrapper.set(object, forKey: "o")
      let whole = try #require(wrapper.data(forKey: "o"))
      for count in 0..<whole.count {
        wrapper.set(whole.prefix(count), forKey: "o")
        #expect(wrapper.object(forKey: "o") == nil)
      }
    }
    for list in [["a": 1], ["$archiver": 1, "$version": 1]] {
      wrapper.set(try PropertyListEncoder().encode(list), forKey: "o")
      #expect(wrapper.object(forKey: "o") == nil && wrapper.integer(forKey: "o") == nil)
    }
  }

  @Test(
    "keys that apps declare, and subscripts by them; assigning nothing changes nothing, as in the original")
  func keys() {
    let wrapper = KeychainWrapper.standard
    wrapper[.sessionToken] = "r:1"
    let text: String? = wrapper[.sessionToken]
    #expect(text == "r:1" && wrapper.string(forKey: .sessionToken) == "r:1")
    wrapper[.sessionToken] = String?.none
    #expect(wrapper.string(forKey: .sessionToken) == "r:1")
    wrapper[.sessionToken] = 7
    let number: Int? = wrapper[.sessionToken]
    #expect(number == 7 && wrapper.integer(forKey: .sessionToken) == 7)
    wrapper[.sessionToken] = 2.5
    let double: Double? = wrapper[.sessionToken]
    #expect(double == 2.5 && wrapper.double(forKey: .sessionToken) == 2.5)
    wrapper[.sessionToken] = Float(1.5)
    let float: Float? = wrapper[.sessionToken]
    #expect(float == 1.5 && wrapper.float(forKey: .sessionToken) == 1.5)
    wrapper[.sessionToken] = true
    let bool: Bool? = wrapper[.sessionToken]
    #expect(bool == true && wrapper.bool(forKey: .sessionToken) == true)
    wrapper[.sessionToken] = Data([1, 0, 255])
    let data: Data? = wrapper[.sessionToken]
    #expect(data == Data([1, 0, 255]) && wrapper.data(forKey: .sessionToken) == data)
    wrapper.remove(forKey: .sessionToken)
    #expect(!wrapper.hasValue(forKey: "Back4Gram.sessionToken"))
    wrapper.set("x", forKey: "Back4Gram.sessionToken")
    wrapper.remove(forKey: "Back4Gram.sessionToken")
    #expect(wrapper.string(forKey: .sessionToken) == nil)
  }

  @Test("what means nothing on Linux is accepted and has no effect, but is remembered")
  func accessibility() {
    let wrapper = KeychainWrapper.standard
    #expect(wrapper.accessibilityOfKey("k") == nil)
    wrapper.set("v", forKey: "k", withAccessibility: .afterFirstUnlockThisDeviceOnly, isSynchronizable: true)
    #expect(wrapper.accessibilityOfKey("k") == .afterFirstUnlockThisDeviceOnly)
    #expect(wrapper.string(forKey: "k", withAccessibility: .always) == "v")
    #expect(wrapper.hasValue(forKey: "k", withAccessibility: .whenUnlocked, isSynchronizable: false))
    wrapper.set("w", forKey: "k")
    #expect(wrapper.accessibilityOfKey("k") == .whenUnlocked)
    #expect(wrapper.removeObject(forKey: "k", withAccessibility: .always, isSynchronizable: true))
  }

  @Test("allKeys and removeAllKeys reach what this service stored through a wrapper, and nothing else")
  func ownKeys() throws {
    let client = try Client()
    try client.set("Back4Gram.refreshToken", to: "by another program")
    try client.set("Chat.cookie", to: "by another program")
    try client.set("Chat.token", account: "alice", to: "by another program")
    let (standard, chat) = (KeychainWrapper.standard, KeychainWrapper(serviceName: "Chat"))
    let sub = KeychainWrapper(serviceName: "Chat.sub")
    #expect(standard.allKeys().isEmpty && standard.removeAllKeys() == false)
    for name in ["Back4Gram.sessionToken", "plain", "a..b"] { standard.set("s", forKey: name) }
    for name in ["token", "auth.token"] { chat.set("c", forKey: name) }
    sub.set("t", forKey: "token")
    #expect(standard.allKeys() == ["Back4Gram.sessionToken", "plain", "a..b"])
    #expect(chat.allKeys() == ["token", "auth.token"])
    // What another program stores in place of it is no longer the wrapper's.
    try client.set("Chat.token", to: "by another program")
    #expect(chat.allKeys() == ["auth.token"])
    #expect(chat.removeAllKeys() && chat.allKeys().isEmpty && sub.allKeys() == ["token"])
    #expect(standard.removeAllKeys() && standard.allKeys().isEmpty && sub.string(forKey: "token") == "t")
    #expect(chat.string(forKey: "token") == "by another program")
    standard.set("s", forKey: "plain")
    KeychainWrapper.wipeKeychain()
    #expect(vault.keys == ["Back4Gram.refreshToken", "Chat.cookie", "Chat.token"])
    #expect(try client.text("Chat.token", account: "alice") == "by another program")
  }

  @Test("a name whose key is too long is refused; one of 255 bytes is not")
  func longNames() {
    let longest = String(repeating: "k", count: 255 - "SwiftKeychainWrapper.".utf8.count)
    #expect(KeychainWrapper.standard.set("v", forKey: longest))
    #expect(KeychainWrapper.standard.string(forKey: longest) == "v")
    #expect(KeychainWrapper.standard.set("v", forKey: longest + "k") == false)
    #expect(KeychainWrapper.standard.string(forKey: longest + "k") == nil)
    #expect(KeychainWrapper.standard.set(Data(count: 1_048_577), forKey: "k") == false)
  }

  @Test(
    "while the vault cannot be read nothing is there, nothing is stored and nothing is removed; then it is as before"
  )
  func locked() {
    let wrapper = KeychainWrapper.standard
    wrapper.set("v", forKey: "k")
    vault.fail(with: .locked(store: .file, reason: "locked"))
    #expect(wrapper.string(forKey: "k") == nil && !wrapper.hasValue(forKey: "k") && wrapper.allKeys().isEmpty)
    #expect(wrapper.set("w", forKey: "k") == false && wrapper.removeObject(forKey: "k") == false)
    #expect(wrapper.removeAllKeys() == false && wrapper.accessibilityOfKey("k") == nil)
    vault.fail(with: nil)
    #expect(wrapper.string(forKey: "k") == "v")
  }

  @Test("wrappers and keys go from task to task")
  func sendable() async {
    let wrapper = KeychainWrapper(serviceName: "Chat")
    await withTaskGroup(of: Bool.self) { group in
      for number in 0..<20 { group.addTask { wrapper.set(number, forKey: "n\(number)") } }
      for await stored in group { #expect(stored) }
    }
    #expect(wrapper.allKeys().count == 20)
  }
}
