// Frames that ask for a token and come again: what is known of them is what reading them again would give.

import SecretMemory
import Testing
import VaultModel

@testable import VaultWire

@Suite("Gets that are known")
struct KnownGetTests {
  @Test("a frame that comes again asks the same, and one that differs by a byte does not")
  func again() throws {
    var reader = RequestReader()
    for _ in 0..<3 {
      for key in ["App.token", "App.tokem", "App.tokenx", #"App.\u0074oken"#] {
        let asked = try get(#"{"key":"\#(key)","account":"a"}"#, &reader)
        #expect(asked.id.key.text == key.replacing(#"\u0074"#, with: "t") && asked.id.account.text == "a")
      }
      #expect(try get(#"{"key":"App.token","interactive":false}"#, &reader).interactive == false)
      #expect(try get(#"{"key":"App.token"}"#, &reader).interactive)
      #expect(try get(#"{"key":"App.token","minValidity":60}"#, &reader).minValidity == 60)
    }
  }

  @Test("of more frames than can be known each is what it is")
  func many() throws {
    var reader = RequestReader()
    for round in 0..<2 {
      for number in 0..<3 * Limits.knownFrames {
        let asked = try get(#"{"key":"App.k\#(number)"}"#, &reader)
        #expect(asked.id.key.text == "App.k\(number)", "round \(round)")
      }
    }
    reader.rest()
    #expect(try get(#"{"key":"App.k1"}"#, &reader).id.key.text == "App.k1")
  }

  @Test("what is refused is refused again, and a longer frame than is kept is read each time")
  func others() throws {
    var reader = RequestReader()
    let long = String(repeating: "a", count: Limits.keyBytes - 4)
    for _ in 0..<3 {
      for parameters in [
        #"{"key":"App"}"#, #"{"key":"App.k","secret":"s"}"#, #"{"key":"App.k"}}"#, #"{"key":1}"#,
      ] {
        #expect(throws: Refusal.self) { try get(parameters, &reader) }
      }
      #expect(
        try get(#"{"key":"App.\#(long)","account":"\#(long)"}"#, &reader).id.account.text == long)
    }
    var frame = Array(#"{"method":"org.vaultd.Vault.Get","parameters":{"key":"App.k"},"oneway":true}"#.utf8)
    for _ in 0..<2 {
      var copy = frame
      var span = copy.mutableSpan
      #expect(try reader.read(&span).oneway)
    }
    frame[2] = 0x4D
    var span = frame.mutableSpan
    #expect(throws: Refusal.self) { try reader.read(&span) }
  }

  /// Reads a call of `Get`.
  private func get(_ parameters: String, _ reader: inout RequestReader) throws -> GetRequest {
    var frame = Array(#"{"method":"org.vaultd.Vault.Get","parameters":\#(parameters)}"#.utf8)
    var span = frame.mutableSpan
    let request = try reader.read(&span)
    guard case .get(let get) = request.call else { throw Unexpected() }
    return get
  }

  private struct Unexpected: Error {}
}
