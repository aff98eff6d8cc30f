// What a shield hides, and what wiping it does.

import SecretMemory
import Testing

@testable import VaultCrypto

@Suite struct ShieldTests {
  @Test("a covered secret is not in what covers it, and comes back whole", arguments: [0, 1, 40, 70_000])
  func coverAndUncover(count: Int) throws {
    var shield = Shield()
    let token = (0..<count).map { UInt8(truncatingIfNeeded: $0 % 251) }
    let covered = try shield.cover(token)
    #expect(covered.count == count)
    #expect(try shield.uncovered(covered) == token)
  }

  @Test("after wiping nothing from before comes back, and the shield serves again")
  func wiped() throws {
    var shield = Shield()
    let before = try shield.cover([1, 2, 3])
    shield.wipe()
    #expect(throws: CryptoError.authentication) { try shield.uncovered(before) }
    let after = try shield.cover([4])
    #expect(try shield.uncovered(after) == [4])
    #expect(throws: CryptoError.authentication) { try shield.uncovered(before) }
  }

  @Test("another shield uncovers nothing")
  func others() throws {
    var one = Shield()
    var other = Shield()
    let covered = try one.cover([1])
    _ = try other.cover([1])
    #expect(throws: CryptoError.authentication) { try other.uncovered(covered) }
  }
}
