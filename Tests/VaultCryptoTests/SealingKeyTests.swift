// AES-256-GCM against published vectors, and what must not open.

import SecretMemory
import Testing

@testable import VaultCrypto

@Suite struct SealingKeyTests {
  struct Vector: Sendable {
    let key, nonce, associated, plain, sealed, tag: String
  }

  // D. McGrew, J. Viega, "The Galois/Counter Mode of Operation (GCM)", appendix B, test cases 13 to 16.
  static let vectors = [
    Vector(
      key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12), associated: "",
      plain: "", sealed: "", tag: "530f8afbc74536b9a963b4f1c4cb738b"),
    Vector(
      key: String(repeating: "00", count: 32), nonce: String(repeating: "00", count: 12), associated: "",
      plain: String(repeating: "00", count: 16), sealed: "cea7403d4d606b6e074ec5d3baf39d18",
      tag: "d0d1c8a799996bf0265b98b5d48ab919"),
    Vector(
      key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
      nonce: "cafebabefacedbaddecaf888", associated: "",
      plain: """
        d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
        1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255
        """,
      sealed: """
        522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
        8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662898015ad
        """, tag: "b094dac5d93471bdec1a502270e3cc6c"),
    Vector(
      key: "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
      nonce: "cafebabefacedbaddecaf888", associated: "feedfacedeadbeeffeedfacedeadbeefabaddad2",
      plain: """
        d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72
        1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39
        """,
      sealed: """
        522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa
        8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662
        """, tag: "76fc6ece0f4e1768cddf8853bb2d551b"),
  ]

  @Test("published vectors are sealed and opened as published", arguments: vectors)
  func published(vector: Vector) throws {
    let key = try SealingKey(try secret(bytes(vector.key)))
    let fixed = try #require(nonce(bytes(vector.nonce)))
    let associated = bytes(vector.associated)
    let sealed = try key.seal(bytes(vector.plain), to: associated, nonce: fixed)
    #expect(sealed == bytes(vector.nonce) + bytes(vector.sealed) + bytes(vector.tag))
    #expect(try key.opened(sealed, to: associated) == bytes(vector.plain))
  }

  @Test(
    "what was sealed opens to what it was",
    arguments: [0, 1, 15, 16, 17, 1_000, 65_536, 65_537, 1_048_576, 1_048_577])
  func roundTrip(count: Int) throws {
    let key = try SealingKey()
    let plain = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let sealed = try key.seal(plain, to: [1, 2, 3])
    #expect(sealed.count == count + SealingKey.overhead)
    #expect(try key.opened(sealed, to: [1, 2, 3]) == plain)
  }

  @Test("a sealed value with any one bit flipped does not open, and the key works after that")
  func flippedBits() throws {
    let key = try SealingKey()
    let plain = Array("r:cbca71d29d7601761b48ed01bbe9638d".utf8)
    let sealed = try key.seal(plain, to: [7])
    for bit in 0..<sealed.count * 8 {
      var changed = sealed
      changed[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(throws: CryptoError.authentication) { try key.opened(changed, to: [7]) }
    }
    #expect(try key.opened(sealed, to: [7]) == plain)
  }

  @Test("every length but its own fails")
  func cutAndLengthened() throws {
    let key = try SealingKey()
    let sealed = try key.seal([1, 2, 3, 4, 5])
    for count in 0..<sealed.count {
      let cut = Array(sealed.prefix(count))
      #expect(throws: CryptoError.authentication) { try key.opened(cut) }
    }
    #expect(throws: CryptoError.authentication) { try key.opened((sealed + [0])) }
  }

  @Test("with other associated data, or none, or under another key it does not open")
  func bindings() throws {
    let key = try SealingKey()
    let sealed = try key.seal([1, 2, 3], to: [1, 2])
    #expect(throws: CryptoError.authentication) { try key.opened(sealed, to: [1, 3]) }
    #expect(throws: CryptoError.authentication) { try key.opened(sealed, to: [1]) }
    #expect(throws: CryptoError.authentication) { try key.opened(sealed, to: [1, 2, 0]) }
    #expect(throws: CryptoError.authentication) { try key.opened(sealed) }
    let other = try SealingKey()
    #expect(throws: CryptoError.authentication) { try other.opened(sealed, to: [1, 2]) }
    let bare = try key.seal([1, 2, 3])
    #expect(throws: CryptoError.authentication) { try key.opened(bare, to: [0]) }
  }

  @Test("no two of many seals share a nonce, across batches")
  func nonces() throws {
    let key = try SealingKey()
    var seen: Set<[UInt8]> = []
    for _ in 0..<5_000 { seen.insert(Array(try key.seal([]).prefix(Nonce.size))) }
    #expect(seen.count == 5_000)
  }

  @Test("a key seals 2^32 values and not one more, and opens after that")
  func worn() throws {
    let bytes = try SecretBytes(random: SealingKey.size)
    let key = try SealingKey(bytes, sealed: SealingKey.mostSeals - 1)
    let last = try key.seal([9])
    #expect(throws: CryptoError.worn) { _ = try key.seal([9]) }
    #expect(try key.opened(last) == [9])
  }

  @Test("a key of any size but 32 bytes is refused", arguments: [0, 16, 24, 31, 33, 64])
  func sizes(count: Int) {
    #expect(throws: CryptoError.self) { _ = try SealingKey(try SecretBytes(zeros: count)) }
  }

  @Test("threads that share a key get their own values back")
  func threads() async throws {
    let key = SharedKey(try SealingKey())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in UInt8(0)..<8 {
        group.addTask {
          for round in UInt8(0)..<100 {
            let plain = [UInt8](repeating: thread, count: 200) + [round]
            let sealed = try key.key.seal(plain, to: [thread])
            #expect(try key.key.opened(sealed, to: [thread]) == plain)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private final class SharedKey: Sendable {
    let key: SealingKey
    init(_ key: consuming SealingKey) { self.key = key }
  }
}
