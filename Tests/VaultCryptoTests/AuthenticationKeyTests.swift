// HMAC-SHA256 against published vectors.

import SecretMemory
import Testing

@testable import VaultCrypto

@Suite struct AuthenticationKeyTests {
  struct Vector: Sendable {
    let key, message, code: String
  }

  // RFC 4231, sections 4.2 to 4.5, 4.7 and 4.8 (4.6 is cut short, which we don't do).
  static let vectors = [
    Vector(
      key: String(repeating: "0b", count: 20), message: "4869205468657265",
      code: "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
    Vector(
      key: "4a656665", message: "7768617420646f2079612077616e7420666f72206e6f7468696e673f",
      code: "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
    Vector(
      key: String(repeating: "aa", count: 20), message: String(repeating: "dd", count: 50),
      code: "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
    Vector(
      key: "0102030405060708090a0b0c0d0e0f10111213141516171819", message: String(repeating: "cd", count: 50),
      code: "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
    Vector(
      key: String(repeating: "aa", count: 131),
      message: """
        54657374205573696e67204c6172676572205468616e20426c6f636b2d53697a
        65204b6579202d2048617368204b6579204669727374
        """, code: "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"),
    Vector(
      key: String(repeating: "aa", count: 131),
      message: """
        5468697320697320612074657374207573696e672061206c6172676572207468
        616e20626c6f636b2d73697a65206b657920616e642061206c61726765722074
        68616e20626c6f636b2d73697a6520646174612e20546865206b6579206e6565
        647320746f20626520686173686564206265666f7265206265696e6720757365
        642062792074686520484d414320616c676f726974686d2e
        """, code: "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"),
  ]

  @Test("HMAC-SHA256 gives what RFC 4231 says, again and again", arguments: vectors)
  func published(vector: Vector) throws {
    let key = try AuthenticationKey(try secret(bytes(vector.key)))
    for _ in 0..<3 {
      #expect(contents(try key.code(ofBytes: bytes(vector.message))) == bytes(vector.code))
    }
  }

  @Test("a message in parts has the code of the whole")
  func parts() throws {
    let key = try AuthenticationKey(try secret(Array(repeating: 5, count: 32)))
    let inParts = try key.code { message in
      message.add([1, 2].span)
      message.add(Span())
      message.add(0x0304_0506_0708_090A)
      message.add(text: "né")
    }
    let whole: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 0, 0, 0, 0, 0, 0, 3, 0x6E, 0xC3, 0xA9]
    #expect(try key.code(ofBytes: whole) == inParts)
  }

  @Test("where one text ends and the next begins is part of the message")
  func lengths() throws {
    let key = try AuthenticationKey(try SecretBytes(random: 32))
    let one = try key.code {
      $0.add(text: "ab"); $0.add(text: "c")
    }
    let other = try key.code {
      $0.add(text: "a"); $0.add(text: "bc")
    }
    #expect(one != other)
  }

  @Test("a digest is 32 bytes, and equal where all of them are")
  func digests() throws {
    let all = (0..<32).map { UInt8($0) }
    let whole = try #require(digest(all))
    #expect(contents(whole) == all)
    for position in 0..<32 {
      var changed = all
      changed[position] ^= 0x80
      #expect(digest(changed) != whole)
    }
    #expect(digest(Array(all.prefix(31))) == nil)
    #expect(digest(all + [0]) == nil)
  }
}
