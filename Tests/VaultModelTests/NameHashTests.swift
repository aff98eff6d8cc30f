// The numbers by which names are found again: of their bytes and nothing else, and seldom the same.

import SecretMemory
import Testing
import VaultModel

@Suite struct NameHashTests {
  private func number(_ key: [UInt8], _ account: [UInt8] = []) -> Int { NameHash.of(key.span, account.span) }

  @Test("names of the usual kind have numbers of their own, in all of their bits")
  func apart() {
    var numbers: Set<Int> = []
    var halves: Set<Int> = []
    for index in 0..<20_000 {
      for account in ["", "a", "somebody@example.org"] {
        let hash = number(Array("Chat.key\(index)".utf8), Array(account.utf8))
        numbers.insert(hash)
        halves.insert(hash >> 32)
      }
    }
    #expect(numbers.count == 60_000)
    // Of so many random numbers of 32 bits less than one in a thousand is there before.
    #expect(halves.count > 59_900)
  }

  @Test("each byte of a name counts, and so does where the key ends")
  func everyByte() {
    for count in 1..<40 {
      let name = [UInt8](repeating: UInt8(ascii: "k"), count: count)
      var numbers: Set<Int> = [number(name)]
      for place in name.indices {
        var other = name
        other[place] = UInt8(ascii: "l")
        numbers.insert(number(other))
        numbers.insert(number([], other))
        numbers.insert(number(Array(name[..<place]), Array(name[place...])))
      }
      #expect(numbers.count == 1 + 3 * count, "\(count) bytes")
    }
  }

  @Test("an entry's number is that of the bytes of its names, and those are its names alone")
  func entry() throws {
    let (key, account) = (Array("Chat.tøken".utf8), Array("me".utf8))
    let id = EntryID(try Key("Chat.tøken"), try Account("me"))
    #expect(id.namesMixed == number(key, account))
    func made(_ key: [UInt8], _ account: [UInt8]) -> EntryID? {
      EntryID(key: key.span, account: account.span)
    }
    func isOf(_ key: [UInt8], _ account: [UInt8]) -> Bool { id.isOf(key: key.span, account: account.span) }
    #expect(made(key, account) == id)
    #expect(made(account, key) == nil, "it has no dot")
    #expect(made([0x61, 0x2E, 0xFF], account) == nil, "it is no UTF-8")
    #expect(isOf(key, account))
    #expect(!isOf(key, key) && !isOf(account, account))
  }
}
