// Whole numbers modulo the prime 2^127 − 1: what the sums over the set of records are counted in. Beside the
// way of a request; `SetState` says what is summed and why. Not constant in time: it works on values that are
// public to whoever can time it, times secret ones that never leave the process.

/// A number modulo 2^127 − 1.
struct FieldElement: Hashable, Sendable {
  /// The prime.
  private static let prime: UInt128 = 1 << 127 - 1

  /// The bytes that one takes.
  static let size = 16

  /// Below the prime.
  let value: UInt128

  static let zero = FieldElement(reducing: 0)

  /// `number` modulo the prime.
  init(reducing number: UInt128) {
    let folded = (number & Self.prime) + (number >> 127)
    value = folded >= Self.prime ? folded - Self.prime : folded
  }

  /// `number` modulo the prime, which is `prime - |number|` for a negative one.
  init(_ number: Int64) {
    let magnitude = FieldElement(reducing: UInt128(number.magnitude))
    self = number < 0 ? Self.zero - magnitude : magnitude
  }

  static func + (left: Self, right: Self) -> Self { FieldElement(reducing: left.value + right.value) }

  static func - (left: Self, right: Self) -> Self {
    FieldElement(reducing: left.value + (prime - right.value))
  }

  static func * (left: Self, right: Self) -> Self {
    // 2^128 is 2 modulo the prime.
    let product = left.value.multipliedFullWidth(by: right.value)
    return FieldElement(reducing: product.low) + FieldElement(reducing: product.high << 1)
  }

  static func += (left: inout Self, right: Self) { left = left + right }

  static func -= (left: inout Self, right: Self) { left = left - right }

  /// This number as a version or the difference of two; `nil` where it is larger than those are.
  var asVersion: Int64? {
    if value <= UInt128(Standing.largestVersion) { return Int64(value) }
    let below = Self.prime - value
    return below <= UInt128(Standing.largestVersion) ? -Int64(below) : nil
  }

  /// The number that gives 1 with this one; 0 for 0. By Fermat: the power of the prime less 2.
  var inverse: Self {
    var (result, power, exponent) = (FieldElement(1 as Int64), self, Self.prime - 2)
    while exponent > 0 {
      if exponent & 1 == 1 { result = result * power }
      power = power * power
      exponent >>= 1
    }
    return result
  }
}
