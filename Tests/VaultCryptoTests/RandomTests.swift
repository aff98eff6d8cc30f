// Random bytes and comparing.

import SecretMemory
import Testing
import VaultModel

@testable import VaultCrypto

@Suite struct RandomTests {
  @Test("two draws differ, and no draw leaves its bytes as they were")
  func draws() throws {
    var one = [UInt8](repeating: 0, count: 32)
    var other = [UInt8](repeating: 0, count: 32)
    var span = one.mutableSpan
    try randomBytes(into: &span)
    var otherSpan = other.mutableSpan
    try randomBytes(into: &otherSpan)
    #expect(one != other)
    #expect(one != [UInt8](repeating: 0, count: 32))
    #expect(contents(try SecretBytes(random: 32)) != contents(try SecretBytes(random: 32)))
  }

  @Test("drawing no bytes is no error")
  func none() throws {
    var nothing: [UInt8] = []
    var span = nothing.mutableSpan
    try randomBytes(into: &span)
    #expect(try SecretBytes(random: 0).count == 0)
  }

  @Test("runs of bytes are equal where every bit and the length are")
  func comparing() {
    let one: [UInt8] = [1, 2, 3]
    #expect(equal(one, [1, 2, 3]))
    #expect(!equal(one, [1, 2]))
    #expect(!equal(one, [1, 2, 0x83]))
    #expect(!equal(one, []))
    #expect(equal([], []))
  }

  @Test("each failure becomes the outcome that it is")
  func outcomes() {
    #expect(VaultError(CryptoError.authentication, in: .file).outcome == .damaged)
    #expect(VaultError(CryptoError.worn, in: .file).outcome == .unavailable)
    #expect(VaultError(CryptoError.exhausted(bytes: 1), in: .file).outcome == .unavailable)
    #expect(VaultError(CryptoError.parameter("x"), in: .file).outcome == .internal)
    #expect(VaultError(CryptoError.library(code: 1, text: "x"), in: .file).outcome == .internal)
  }

  @Test("OpenSSL keeps its keys in secret memory")
  func libraryMemory() throws {
    _ = try SealingKey()
    #expect(CryptoMemory.isSecret)
  }
}
