// Integers in answers: eight digits at a time, as if they were written one by one.

import SecretMemory
import Testing

@testable import VaultWire

@Suite struct IntegerTests {
  @Test("an integer is written in its digits, whatever their number")
  func everyLength() throws {
    var power: Int64 = 1
    var numbers: [Int64] = [0, .max, .min, 12_345_678, 100_000_001, 10_020_030_040_050_060]
    for _ in 0..<18 {
      power *= 10
      numbers += [power - 1, power, power + 1, -power, 1 - power, power / 10 * 7, power &* 9 &+ 12_345]
    }
    for number in numbers {
      let frame = try frame { buffer in
        try buffer.append("[")
        try buffer.appendInteger(number)
        try buffer.append("]\0")
      }
      #expect(String(decoding: frame, as: UTF8.self) == "[\(number)]")
    }
  }

  @Test("numbers at random are written in their digits")
  func random() throws {
    var source = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      let number = Int64.random(in: .min ... .max, using: &source) >> Int64.random(in: 0..<64)
      let frame = try frame { buffer in
        try buffer.appendInteger(number)
        try buffer.append("\0")
      }
      #expect(String(decoding: frame, as: UTF8.self) == "\(number)")
    }
  }
}
