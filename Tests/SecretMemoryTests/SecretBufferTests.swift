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

  @Test("a byte is found at or behind an index, and a part is changed alone")
  func part() throws {
    var buffer = try SecretBuffer(capacity: 32, limit: 32)
    for byte: UInt8 in [9, 1, 0, 2, 3, 0, 4] { try buffer.append(byte) }
    buffer.removeFirst(1)
    #expect(buffer.firstIndex(of: 0) == 1)
    #expect(buffer.firstIndex(of: 0, from: 1) == 1)
    #expect(buffer.firstIndex(of: 0, from: 2) == 4)
    #expect(buffer.firstIndex(of: 0, from: 5) == nil)
    #expect(buffer.firstIndex(of: 0, from: 6) == nil)
    #expect(buffer.firstIndex(of: 9) == nil)
    buffer.withMutableBytes(in: 2..<4) { frame in
      #expect(frame.count == 2)
      frame[0] = 7
      frame[1] = 8
    }
    #expect(buffer.withBytes { held in (0..<held.count).map { held[$0] } } == [1, 0, 7, 8, 0, 4])
  }
}
