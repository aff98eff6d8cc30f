// Strict Base64: the vectors of RFC 4648, every byte, every length, and everything that is not the one way to
// write given bytes.

import Foundation
import SecretMemory
import Testing

@Suite struct Base64Tests {
  private func decode(_ text: String) throws -> [UInt8] { try decode(Array(text.utf8)) }

  private func decode(_ text: [UInt8]) throws -> [UInt8] {
    try Base64.decode(text.span).withBytes { bytes in bytes.indices.map { bytes[$0] } }
  }

  private func isBase64(_ text: [UInt8]) -> Bool { (try? decode(text)) != nil }

  private func encode(_ bytes: [UInt8]) throws -> String {
    var buffer = try SecretBuffer(capacity: 64, limit: 1 << 22)
    try Base64.encode(bytes.span, into: &buffer)
    return buffer.withBytes { text in String(decoding: text.indices.map { text[$0] }, as: UTF8.self) }
  }

  @Test(
    "the vectors of RFC 4648, section 10",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ])
  func vectors(plain: String, encoded: String) throws {
    #expect(try encode(Array(plain.utf8)) == encoded)
    #expect(try decode(encoded) == Array(plain.utf8))
    #expect(Base64.encodedCount(plain.utf8.count) == encoded.utf8.count)
    #expect(Base64.decodedCount(Array(encoded.utf8).span) == plain.utf8.count)
  }

  @Test("every byte at every place, and every length, is as Foundation has it")
  func likeFoundation() throws {
    for byte in UInt8.min...UInt8.max {
      for bytes in [[byte], [0, byte], [byte, byte, byte], [0xFF, 0xFF, byte]] {
        let encoded = try encode(bytes)
        #expect(encoded == Data(bytes).base64EncodedString())
        #expect(try decode(encoded) == bytes)
      }
    }
    for count in 0..<300 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ count) }
      let encoded = try encode(bytes)
      #expect(encoded == Data(bytes).base64EncodedString())
      #expect(try decode(encoded) == bytes)
    }
  }

  @Test("each character is taken where it is in the alphabet, and refused where it is not, at each place")
  func alphabet() throws {
    let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    for character in UInt8.min...UInt8.max {
      // What is decoded in blocks, and what is left over behind them.
      for place in 0..<40 {
        var text = [UInt8](repeating: UInt8(ascii: "A"), count: 40)
        text[place] = character
        // One equals sign at the very end is padding, and the last character before it is zero.
        let isTaken =
          alphabet.contains(character) || (place == 39 && character == UInt8(ascii: "="))
        #expect(isBase64(text) == isTaken, "\(character) at \(place)")
        if isTaken { #expect(try decode(text) == Array(try #require(Data(base64Encoded: Data(text))))) }
      }
    }
  }

  @Test(
    "what is not padded, padded too much, padded in the middle or spaced is refused",
    arguments: [
      "Z", "Zg", "Zg=", "Zg===", "Zg====", "=", "==", "===", "====", "Z===", "Zm8", "Zm9vY", "Zm9vYg",
      "Zg==Zg==",
      "Zm=v", "Z=9v", "=m9v", "Zg= =", " Zg==", "Zg== ", "Zg==\n", "Zm9v\n", "Zm9v\r\nYmFy", "Zm-v", "Zm_v",
      "Zm9v\u{0}",
      "Zm9vYmF\u{E9}", "Zg=A",
    ])
  func refused(text: String) {
    #expect(throws: SecretMemoryError.notBase64) { _ = try decode(text) }
  }

  @Test("bits that padding leaves over must be zero")
  func leftOver() throws {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    for (value, character) in alphabet.enumerated() {
      let one = [UInt8(ascii: "A"), character, UInt8(ascii: "="), UInt8(ascii: "=")]
      #expect(isBase64(one) == (value % 16 == 0))
      let two = [UInt8(ascii: "A"), UInt8(ascii: "A"), character, UInt8(ascii: "=")]
      #expect(isBase64(two) == (value % 4 == 0))
    }
  }

  @Test("a buffer without room takes nothing")
  func noRoom() throws {
    var buffer = try SecretBuffer(capacity: 4, limit: 7)
    #expect(throws: SecretMemoryError.self) { try Base64.encode([1, 2, 3, 4].span, into: &buffer) }
    let count = buffer.count
    #expect(count == 0)
    try Base64.encode([1, 2, 3].span, into: &buffer)
    let four = buffer.count
    #expect(four == 4)
  }
}
