// Calls of `Get` and `Set` as client libraries write them, which are read without the JSON reader: each asks what that
// would have found, and what differs from them is left to it.

import SecretMemory
import Testing
@testable import VaultModel

@testable import VaultWire

@Suite("Plain calls")
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
    "a plain call of Set stores what the JSON reader finds in it",
    arguments: [
      #""key":"App.token","secret":"s""#, #""key":"App.token","secret":"""#,
      #""key":"App.token","account":"a","secret":"a b\#u{7F}}{:,""#,
      #""key":"App.token","account":"","secret":"\#(String(repeating: "x", count: 70_000))""#,
    ])
  func plainSet(parameters: String) throws {
    let read = try #require(request(setFrame(parameters)))
    let (own, other) = (try stored(read), try stored(parsed(setFrame(parameters))))
    #expect(own == other)
    #expect(!read.oneway && !read.more)
  }

  @Test(
    "a call of Set that says more, or otherwise, is left to the JSON reader",
    arguments: [
      #""key":"App.token","secret":"\u0061""#, #""key":"App.token","secret":"\"""#,
      #""key":"App.token","secret":"é""#,
      #""secret":"s","key":"App.token""#, #""key":"App.token","secretBase64":"YQ==""#,
      #""key":"App.token","secret":"s","idle":60"#, #""key":"App.token","secret": "s""#,
      #""key":"App.token","secret":"s" "#, #""key":"App.tøken","secret":"s""#,
    ])
  func otherSets(parameters: String) throws {
    #expect(request(setFrame(parameters)) == nil)
    _ = try parsed(setFrame(parameters))
  }

  @Test(
    "a call of Set with something wrong is refused by the JSON reader",
    arguments: [
      #""key":"App.token""#, #""key":"App","secret":"s""#, #""key":"App.token","secret":"s","secret":"t""#,
      #""key":"App.token","secret":"s","account":"a","account":"b""#, #""key":"App.token","secret":s"#,
      #""key":"App.token","secret":"s"}"#,
      #""key":"App.token","secret":"\#(String(repeating: "x", count: Limits.secretBytes + 1))""#,
    ])
  func wrongSets(parameters: String) throws {
    #expect(request(setFrame(parameters)) == nil)
    #expect(throws: Refusal.self) { try parsed(setFrame(parameters)) }
  }

  @Test(
    "of a call of Set that is cut off anywhere nothing is stored, and nothing with bytes that are no text")
  func cutSet() {
    let whole = setFrame(#""key":"App.token","account":"a","secret":"s3cret token""#)
    #expect(request(whole) != nil)
    for count in whole.indices { #expect(request(Array(whole.prefix(count))) == nil) }
    for place in whole.indices {
      for byte: UInt8 in [0, 0x1F, 0x22, 0x5C, 0x80, 0xC3, 0xFF] {
        var other = whole
        other[place] = byte
        guard other != whole, let read = request(other) else { continue }
        Issue.record("with \(byte) at \(place) it is read as \(read.call)")
      }
    }
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

  private func setFrame(_ parameters: String) -> [UInt8] {
    Array(#"{"method":"org.vaultd.Vault.Set","parameters":{\#(parameters)}}"#.utf8)
  }

  private func stored(_ request: Request) throws -> [String] {
    guard case .set(let set) = request.call else { throw Unexpected() }
    return [
      set.id.key.text, set.id.account.text, String(decoding: set.secret.array, as: UTF8.self),
      "\(set.interactive)",
      "\(set.untilLogout)", "\(set.expires ?? -1)", "\(set.expiresIn ?? -1)", "\(set.idle ?? -1)",
      set.label ?? "none",
      "\(set.ifVersion ?? -1)", set.lease ?? "none",
    ]
  }

  private func parsed(_ parameters: String) throws -> Request { try parsed(frame(parameters)) }

  /// What the JSON reader finds: it reads the same behind a space.
  private func parsed(_ frame: [UInt8]) throws -> Request {
    var bytes = [0x20] + frame
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
