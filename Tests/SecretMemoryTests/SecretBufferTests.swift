// The growing buffer: bytes come in behind and go out in front, and nothing that left it stays in it.

import SecretMemory
import Testing

@Suite struct SecretBufferTests {
  @Test("what goes in behind comes out in front, across growth and moves to the front")
  func order() throws {
    var buffer = try SecretBuffer(capacity: 32, limit: 1 << 20)
    var expected: [UInt8] = []
    var next: UInt8 = 0
    for round in 0..<500 {
      for _ in 0..<(round % 97) {
        try buffer.append(next)
        expected.append(next)
        next &+= 1
      }
      let drop = min(expected.count, round % 61)
      buffer.removeFirst(drop)
      expected.removeFirst(drop)
      #expect(buffer.withBytes { held in (0..<held.count).map { held[$0] } } == expected)
    }
  }

  @Test("it holds as many bytes as its limit says and not one more")
  func limit() throws {
    var buffer = try SecretBuffer(capacity: 16, limit: 100)
    for _ in 0..<100 { try buffer.append(1) }
    #expect(throws: SecretMemoryError.exhausted(bytes: 101)) { try buffer.append(1) }
    #expect(buffer.count == 100)
  }
}
