// HKDF and scrypt against published vectors, and the bounds.

import Foundation
import SecretMemory
import Testing
import VaultModel

@testable import VaultCrypto

@Suite struct DerivationTests {
  struct Expansion: Sendable {
    let key, salt, info, derived: String
  }

  // RFC 5869, appendix A, test cases 1 to 3.
  static let expansions = [
    Expansion(
      key: "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", salt: "000102030405060708090a0b0c",
      info: "f0f1f2f3f4f5f6f7f8f9",
      derived: "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"),
    Expansion(
      key: (0...0x4f).map(hex).joined(), salt: (0x60...0xaf).map(hex).joined(),
      info: (0xb0...0xff).map(hex).joined(),
      derived: """
        b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09
        da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87
        """),
    Expansion(
      key: "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", salt: "", info: "",
      derived: "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"),
  ]

  @Test("HKDF-SHA256 gives what RFC 5869 says", arguments: expansions)
  func hkdf(vector: Expansion) throws {
    let expected = bytes(vector.derived)
    let key = try derived(
      bytes(vector.key), salt: bytes(vector.salt), info: bytes(vector.info), count: expected.count)
    #expect(key == expected)
  }

  @Test("two labels, two salts and two keys make different keys; the same make the same")
  func labels() throws {
    let one = [UInt8](repeating: 1, count: 32)
    let two = [UInt8](repeating: 2, count: 32)
    let keys = [
      try derived(one, salt: [1], label: "entries", count: 32),
      try derived(one, salt: [1], label: "secrets", count: 32),
      try derived(one, salt: [2], label: "entries", count: 32),
      try derived(two, salt: [1], label: "entries", count: 32),
    ]
    #expect(Set(keys).count == 4)
    #expect(try derived(one, salt: [1], label: "entries", count: 32) == keys[0])
  }

  @Test("HKDF gives 1 to 8,160 bytes and nothing else")
  func hkdfLengths() throws {
    for count in [1, 8_160] {
      #expect(try derived([1], salt: [], label: "x", count: count).count == count)
    }
    for count in [Int.min, -1, 0, 8_161, Int.max] {
      #expect(throws: CryptoError.self) { try derived([1], salt: [], label: "x", count: count) }
    }
    #expect(throws: CryptoError.self) { try derived([], salt: [], label: "x", count: 32) }
  }

  struct Stretching: Sendable {
    let passphrase, salt: String
    let n: UInt64
    let r, p: UInt32
    let derived: String
  }

  // RFC 7914, section 12; the fourth of them takes a gigabyte.
  static let stretchings = [
    Stretching(
      passphrase: "", salt: "", n: 16, r: 1, p: 1,
      derived: """
        77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442
        fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906
        """),
    Stretching(
      passphrase: "password", salt: "NaCl", n: 1_024, r: 8, p: 16,
      derived: """
        fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162
        2eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640
        """),
    Stretching(
      passphrase: "pleaseletmein", salt: "SodiumChloride", n: 16_384, r: 8, p: 1,
      derived: """
        7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2
        d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887
        """),
  ]

  @Test("scrypt gives what RFC 7914 says", arguments: stretchings)
  func scrypt(vector: Stretching) throws {
    let derived = try KeyDerivation.unboundedScrypt(
      passphrase: try secret(Array(vector.passphrase.utf8)), salt: Array(vector.salt.utf8).span, n: vector.n,
      r: vector.r, p: vector.p, count: 64)
    #expect(contents(derived) == bytes(vector.derived))
  }

  @Test("within the bounds scrypt gives the first 32 bytes of the same")
  func bounded() throws {
    let derived = try KeyDerivation.scrypt(
      passphrase: try secret(Array("pleaseletmein".utf8)), salt: Array("SodiumChloride".utf8).span, logN: 14,
      r: 8, p: 1)
    #expect(contents(derived) == Array(bytes(Self.stretchings[2].derived).prefix(32)))
  }

  @Test("the memory that scrypt works in is the system's again when it returns")
  func memoryGivenBack() throws {
    // Nothing else in these tests takes megabytes; what is on their way elsewhere is far below half of 128.
    func resident() throws -> Int {
      let words = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
      return try #require(Int(words[1])) * 4_096
    }
    let before = try resident()
    _ = try KeyDerivation.scrypt(
      passphrase: try secret([1]), salt: [1].span, logN: Limits.scryptLogN, r: Limits.scryptR,
      p: Limits.scryptP)
    #expect(try resident() - before < 64 << 20)
  }

  @Test(
    "costs outside the bounds are refused before any work is done",
    arguments: [
      (13, 8, 1), (19, 8, 1), (63, 8, 1), (64, 8, 1), (Int.max, 8, 1), (Int.min, 8, 1), (-1, 8, 1),
      (17, 7, 1), (17, 9, 1), (17, 0, 1), (17, Int.max, 1), (17, 8, 0), (17, 8, 5), (17, 8, -1),
      (17, 8, Int.max),
    ])
  func outOfBounds(logN: Int, r: Int, p: Int) throws {
    let passphrase = try secret([1])
    #expect(throws: CryptoError.self) {
      _ = try KeyDerivation.scrypt(passphrase: passphrase, salt: [1].span, logN: logN, r: r, p: p)
    }
  }
}

private func hex(_ byte: Int) -> String {
  let text = String(byte, radix: 16)
  return text.count == 1 ? "0" + text : text
}
