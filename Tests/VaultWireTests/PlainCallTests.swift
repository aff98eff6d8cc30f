// Calls of `Get` as client libraries write them, which are read without the JSON reader: each asks what that would
// have found, and what differs from them is left to it.

import SecretMemory
import Testing
@testable import VaultModel

@testable import VaultWire

@Suite("Plain calls of Get")
struct PlainCallTests {
  @Test(
    "a frame in plain words asks what the JSON reader finds in it",
    arguments: [
      #"{"key":"App.token"}"#, #"{"key":"App.token","account":"a"}"#, #"{"key":"App.token","account":""}"#,
      #"{"key":"a.b.c d","account":"some body's"}"#,
    ])
  func plain(parameters: String) throws {
    let read = try #require(request(frame(parameters)))
    let (own, other) = (try asked(read), try asked(parsed(parameters)))
    #expect(own == other)
    #expect(!read.oneway && !read.more)
  }

  @Test(
    "what is written otherwise, or asks for more, is left to the JSON reader, and read by it",
    arguments: [
      #"{"key":"App.\u0074oken"}"#, #"{"key":"App.tøken"}"#, #"{ "key":"App.token"}"#,
      #"{"account":"a","key":"App.token"}"#,
      #"{"key":"App.token","interactive":false}"#, #"{"key":"App.token","minValidity":60}"#,
      #"{"key":"App.token","account":"a","minValidity":60}"#, #"{"key":"App.token","account":"\u0061"}"#,
    ])
  func others(parameters: String) throws {
    #expect(request(frame(parameters)) == nil)
    _ = try parsed(parameters)
  }

  @Test(
    "what is wrong is left to the JSON reader, and refused by it",
    arguments: [
      #"{"key":"App"}"#, #"{"key":"App..k"}"#, #"{"key":".k"}"#, #"{"key":" App.k"}"#,
      #"{"key":"App.k ","account":"a"}"#,
      #"{"key":"App.k","secret":"s"}"#, #"{"key":"App.k"}}"#, #"{"key":"App.k"}}""#, #"{"key":1}"#,
      #"{"key":""}"#, #"{"key":"App.k"#,
      #"{"key":"App.k","account":"a""#,
    ])
  func wrong(parameters: String) throws {
    #expect(request(frame(parameters)) == nil)
    #expect(throws: Refusal.self) { try parsed(parameters) }
  }

  @Test("of a plain frame that is cut off anywhere nothing is read, and nothing with a byte too much")
  func cut() {
    let whole = frame(#"{"key":"App.token","account":"a"}"#)
    for count in whole.indices { #expect(request(Array(whole.prefix(count))) == nil) }
    #expect(request(whole + [0x20]) == nil)
    #expect(request(whole + [0]) == nil)
  }

  @Test("a key or an account of the greatest length is read, and one past it is not")
  func limits() {
    let name = String(repeating: "k", count: Limits.keyBytes - 4)
    let account = String(repeating: "a", count: Limits.accountBytes)
    #expect(request(frame(#"{"key":"App.\#(name)","account":"\#(account)"}"#)) != nil)
    #expect(request(frame(#"{"key":"App.\#(name)k"}"#)) == nil)
    #expect(request(frame(#"{"key":"App.k","account":"\#(account)a"}"#)) == nil)
  }

  @Test("what says something beside its parameters is left to the JSON reader")
  func beside() throws {
    var frame = Array(#"{"method":"org.vaultd.Vault.Get","parameters":{"key":"App.k"},"oneway":true}"#.utf8)
    #expect(request(frame) == nil)
    var reader = RequestReader()
    var span = frame.mutableSpan
    #expect(try reader.read(&span).oneway)
  }

  @Test("a name that was asked for before is the same, and each of many that meet in the table is its own")
  func names() throws {
    var names = NameTable()
    func id(_ key: String, _ account: String = "") throws -> EntryID {
      let frame = frame(#"{"key":"\#(key)","account":"\#(account)"}"#)
      guard case .get(let get) = try #require(PlainCall.request(frame.span, &names)).call else {
        throw Unexpected()
      }
      return get.id
    }
    for round in 0..<2 {
      for number in 0..<4 * Limits.namesKept {
        let (key, account) = ("a.k\(number)", number % 3 == 0 ? "" : "\(number % 7)")
        let found = try id(key, account)
        #expect(found.key.text == key && found.account.text == account, "round \(round)")
      }
    }
    // A key that ends where an account begins is another name.
    #expect(try id("a.bc", "d") != id("a.b", "cd"))
    let once = try id("a.b")
    #expect(try id("a.b").isIdentical(to: once), "known again")
    #expect(names.shared(EntryID(try Key("a.b"))).isIdentical(to: once))
    names.forgetAll()
    #expect(try !id("a.b").isIdentical(to: once))
    #expect(try id("a.b") == once)
  }

  @Test("a name that was stored is known when it is asked for, whatever its bytes")
  func stored() throws {
    var reader = RequestReader()
    func read(_ text: String) throws -> Call {
      var bytes = Array(text.utf8)
      var span = bytes.mutableSpan
      return try reader.read(&span).call
    }
    for key in ["a.b", "a.\u{E9}", "\u{E9}\u{301}.c", "a.b c"] {
      let parameters = #""key":"\#(key)","account":"x""#
      let set = try read(#"{"method":"org.vaultd.Vault.Set","parameters":{\#(parameters),"secret":"s"}}"#)
      let get = try read(#"{"method":"org.vaultd.Vault.Get","parameters":{\#(parameters)}}"#)
      guard case .set(let stored) = set, case .get(let asked) = get else { throw Unexpected() }
      #expect(asked.id.isIdentical(to: stored.id))
      #expect(asked.id.key.text == key && asked.id.account.text == "x")
    }
  }

  private func request(_ frame: [UInt8]) -> Request? {
    var names = NameTable()
    let read = PlainCall.request(frame.span, &names)
    // And once more, with its names known.
    let again = PlainCall.request(frame.span, &names)
    #expect((read == nil) == (again == nil))
    return again
  }

  private func frame(_ parameters: String) -> [UInt8] {
    Array(#"{"method":"org.vaultd.Vault.Get","parameters":\#(parameters)}"#.utf8)
  }

  /// What the JSON reader finds: it reads the same behind a space.
  private func parsed(_ parameters: String) throws -> Request {
    var bytes = [0x20] + frame(parameters)
    var reader = RequestReader()
    var span = bytes.mutableSpan
    return try reader.read(&span)
  }

  private func asked(_ request: Request) throws -> [String] {
    guard case .get(let get) = request.call else { throw Unexpected() }
    return [get.id.key.text, get.id.account.text, "\(get.interactive)", "\(get.minValidity ?? -1)"]
  }

  private struct Unexpected: Error {}
}
