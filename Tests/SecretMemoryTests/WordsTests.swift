// Bytes compared and written eight at a time: as if it were done one by one, at every length and every place.

import SecretMemory
import Testing

@Suite struct WordsTests {
  @Test("bytes are equal where each is, whatever their number and wherever they differ")
  func equality() {
    for count in 0..<35 {
      let bytes = (0..<count).map { UInt8($0) }
      #expect(areEqual(bytes, bytes))
      #expect(!areEqual(bytes, bytes + [0]))
      for place in bytes.indices {
        var other = bytes
        other[place] ^= 0x80
        #expect(!areEqual(bytes, other), "\(place) of \(count)")
      }
    }
  }

  private func areEqual(_ one: [UInt8], _ other: [UInt8]) -> Bool { one.span.isEqual(to: other.span) }

  @Test("a part of a span is written alone")
  func part() {
    var bytes = [UInt8](repeating: 1, count: 8)
    var span = bytes.mutableSpan
    let count = span.withPart(2..<5) { part in
      for index in part.indices { part[index] = 7 }
      return part.count
    }
    #expect(count == 3)
    #expect(bytes == [1, 1, 7, 7, 7, 1, 1, 1])
  }
}
