// Strings as they are written: what must be escaped is, at every place of the words in which text is looked through,
// and everything else goes as it is.

import Foundation
import SecretMemory
import Testing
import VaultModel
import VaultWire

@Suite struct EscapeTests {
  /// The secret between its quotation marks, in a reply.
  private func written(_ bytes: [UInt8]) throws -> [UInt8] {
    let id = EntryID(try Key("a.b"))
    let entry = Entry(
      id: id, version: 1, created: WallTime(seconds: 1), modified: WallTime(seconds: 1), size: bytes.count,
      store: .file)
    let reply = try frame { try Reply.token(Token(entry: entry, secret: try secret(bytes))).write(into: &$0) }
    let head = Array(#"{"parameters":{"secret":""#.utf8)
    #expect(reply.starts(with: head))
    return Array(reply.dropFirst(head.count).prefix { $0 != UInt8(ascii: ",") }.dropLast())
  }

  @Test("each byte of ASCII, at each place of a text of twenty, is written as RFC 8259 wants it")
  func everyPlace() throws {
    for byte in UInt8(1)..<0x80 where byte != UInt8(ascii: ",") {
      let escape: [UInt8] =
        switch byte {
        case 0x0A: Array(#"\n"#.utf8)
        case 0x0D: Array(#"\r"#.utf8)
        case 0x09: Array(#"\t"#.utf8)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
        case 0..<0x20: Array(String(format: #"\u%04x"#, byte).utf8)
        default: [byte]
        }
      for place in 0..<20 {
        var text = [UInt8](repeating: UInt8(ascii: "s"), count: 20)
        text[place] = byte
        let expected = Array(text[..<place]) + escape + Array(text[(place + 1)...])
        #expect(try written(text) == expected, "\(byte) at \(place)")
      }
      #expect(
        try written([UInt8](repeating: byte, count: 17)) == Array(repeatElement(escape, count: 17).joined()))
    }
  }

  @Test("a NUL at any place makes it Base64")
  func nul() throws {
    for place in 0..<20 {
      var text = [UInt8](repeating: 0x81, count: 20)
      for index in text.indices { text[index] = index % 2 == 0 ? 0xC2 : 0x81 }
      text.replaceSubrange(place..<place, with: place % 2 == 0 ? [0] : [])
      let call = Call.set(SetRequest(id: EntryID(try Key("a.b")), secret: try secret(text)))
      let frame = try self.text(call)
      #expect(frame.contains("secretBase64") == (place % 2 == 0), "\(place)")
    }
  }

  private func text(_ call: Call) throws -> String {
    String(decoding: try frame { try call.write(into: &$0) }, as: UTF8.self)
  }
}
