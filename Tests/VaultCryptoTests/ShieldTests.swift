// What a shield hides, and what wiping it does.

import SecretMemory
import Testing

@testable import VaultCrypto

@Suite struct ShieldTests {
  @Test(
    "a covered secret is not in what covers it, and comes back whole, as often as it is asked for",
    arguments: [0, 1, 7, 8, 15, 16, 17, 40, 127, 128, 129, 255, 256, 70_000])
  func coverAndUncover(count: Int) throws {
    let shield = Shield()
    let token = (0..<count).map { UInt8(truncatingIfNeeded: $0 % 251) }
    let covered = try shield.cover(token)
    #expect(covered.count == count)
    for _ in 0..<3 { #expect(try covered.uncovered() == token) }
  }

  @Test("after wiping nothing from before comes back, and the shield serves again")
  func wiped() throws {
    let shield = Shield()
    let before = try shield.cover([1, 2, 3])
    shield.wipe()
    #expect(throws: SecretMemoryError.notOpened) { try before.uncovered() }
    let after = try shield.cover([4])
    #expect(try after.uncovered() == [4])
    #expect(throws: SecretMemoryError.notOpened) { try before.uncovered() }
    #expect(try shield.cover([5]).uncovered() == [5])
  }

  @Test("no two secrets of a shield are covered by the same bytes, and none twice by its own")
  func never() throws {
    let shield = Shield()
    var seen: Set<[UInt8]> = []
    for size in [16, 1, 33, 16, 128, 16, 200, 16] {
      let covered = try shield.cover([UInt8](repeating: 0, count: size))
      // Of zeros, what covers them is what is there.
      var mask = [UInt8](repeating: 0, count: size)
      #expect(try covered.uncovered() == mask)
      mask = covered.bytes
      for start in stride(from: 0, to: size - 15, by: 16) { seen.insert(Array(mask[start..<start + 16])) }
    }
    #expect(seen.count == 1 + 2 + 1 + 8 + 1 + 12 + 1)
  }

  @Test("it is AES-256 in counter mode: NIST SP 800-38A, F.5.5, in every division of the message")
  func vectors() throws {
    let key = hex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
    let plain = hex(
      "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
        + "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")
    let cipher = hex(
      "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
        + "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6")
    let mode = try CounterMode(key: key.span)
    for count in 0...plain.count {
      var out = [UInt8](repeating: 0xEE, count: count)
      var span = out.mutableSpan
      #expect(
        mode.turn(
          plain.span.extracting(first: count), into: &span,
          counter: (0xF0F1_F2F3_F4F5_F6F7, 0xF8F9_FAFB_FCFD_FEFF)))
      #expect(out == Array(cipher.prefix(count)))
    }
    var short = [UInt8](repeating: 0, count: 3)
    var span = short.mutableSpan
    #expect(!mode.turn(plain.span, into: &span, counter: (0, 0)), "room for another count")
    #expect(throws: CryptoError.self) { _ = try CounterMode(key: key.span.extracting(first: 16)) }
  }

  @Test("many threads uncover at once, each what it asked for")
  func threads() async throws {
    let shield = Shield()
    let covered = try (0..<64).map { try shield.cover([UInt8](repeating: UInt8($0), count: 40 + $0)) }
    await withTaskGroup(of: Bool.self) { group in
      for task in 0..<4 {
        group.addTask {
          (0..<500).allSatisfy { round in
            let number = (round * 7 + task) % 64
            let bytes = try? covered[number].uncovered()
            return bytes == [UInt8](repeating: UInt8(number), count: 40 + number)
          }
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}

private func hex(_ text: String) -> [UInt8] {
  let digits = Array(text.utf8)
  return stride(from: 0, to: digits.count, by: 2).compactMap {
    UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
  }
}
