// Keys are in secret memory and nowhere else, OpenSSL's own copies included, and not even there once nobody
// holds them: this process's memory is searched.

import SecretMemory
import TestSupport
import Testing

@testable import VaultCrypto

@Suite struct LeakTests {
  @Test("no copy of a key is in ordinary memory while it is used, and none anywhere after that")
  func keys() throws {
    // The needle is the key with every bit turned, so that it is no copy of it; see `find`.
    let needle = try SecretBytes(random: SealingKey.size)
    try use(needle)
    #expect(try find(needle, secret: false) == 0)
    #expect(try find(needle, secret: true) == 0)
  }

  @Test("the search finds a key that lies about")
  func control() throws {
    let needle = try SecretBytes(random: SealingKey.size)
    let careless = turned(needle)
    #expect(try find(needle, secret: false) > 0)
    #expect(careless.count == SealingKey.size)
  }

  /// Makes every kind of use of the key that the needle stands for, and looks while it is in use.
  private func use(_ needle: borrowing SecretBytes) throws {
    let master = try key(needle)
    let sealing = try SealingKey(master)
    let sealed = try sealing.seal([1, 2, 3])
    #expect(try sealing.opened(sealed) == [1, 2, 3])
    let authentication = try AuthenticationKey(master)
    _ = try authentication.code(ofBytes: [1])
    _ = try KeyDerivation.hkdf(from: master, salt: Span(), label: "leak", count: 32)
    _ = try KeyDerivation.scrypt(passphrase: master, salt: Span(), logN: 14, r: 8, p: 1)
    #expect(try find(needle, secret: false) == 0)
    #expect(try find(needle, secret: true) > 0)
    // Held until here.
    _ = try sealing.seal([])
    _ = try authentication.code(ofBytes: [])
  }

  private func key(_ needle: borrowing SecretBytes) throws -> SecretBytes {
    var key = try SecretBytes(zeros: needle.count)
    key.withMutableBytes { key in needle.withBytes { for index in $0.indices { key[index] = ~$0[index] } } }
    return key
  }

  @inline(never) private func turned(_ needle: borrowing SecretBytes) -> [UInt8] {
    needle.withBytes { needle in needle.indices.map { ~needle[$0] } }
  }

  /// How often the key that `needle` stands for is in writable memory of one kind, the searcher's own copy of it
  /// left out.
  private func find(_ needle: borrowing SecretBytes, secret: Bool) throws -> Int {
    let wanted = try key(needle)
    let found = try Mapping.all().filter { $0.isWritable && $0.isSecret == secret }
      .reduce(0) { sum, mapping in sum + (try wanted.withBytes { try mapping.count(of: $0) }) }
    return secret ? found - 1 : found
  }
}
