// Numbers and runs of bytes as the vault file writes them: numbers largest byte first, runs behind their
// length. Used by everything that is sealed, authenticated or checked; docs/vault-file.md is the same for
// readers elsewhere.

import SecretMemory

/// Puts bytes together.
struct ByteWriter {
  private(set) var bytes: [UInt8] = []

  /// Adds 8 bytes.
  mutating func add(_ number: UInt64) {
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: 8))
    var span = bytes.mutableSpan
    span.write(number, at: start)
  }

  /// Adds 8 bytes, two's complement.
  mutating func add(_ number: Int64) { add(UInt64(bitPattern: number)) }

  /// Adds bytes of a length that the reader knows.
  mutating func add(fixed run: some Sequence<UInt8>) { bytes.append(contentsOf: run) }

  /// Adds bytes behind their number, which takes 8 bytes.
  mutating func add(counted run: some Collection<UInt8>) {
    add(UInt64(run.count))
    bytes.append(contentsOf: run)
  }
}

/// Takes bytes apart; whoever uses it has opened them under a key, and still trusts no length.
struct ByteReader {
  private let bytes: [UInt8]
  private var at = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Whether nothing is left.
  var isAtEnd: Bool { at == bytes.count }

  /// The next 8 bytes; `nil` where there are fewer.
  mutating func number() -> UInt64? {
    guard bytes.count - at >= 8 else { return nil }
    defer { at += 8 }
    return bytes.span.number(at: at)
  }

  /// The next 16 bytes as a number; `nil` where there are fewer.
  mutating func wideNumber() -> UInt128? {
    guard bytes.count - at >= 16 else { return nil }
    defer { at += 16 }
    return bytes.span.wideNumber(at: at)
  }

  /// The next `count` bytes; `nil` where there are fewer.
  mutating func run(_ count: Int) -> [UInt8]? {
    guard count >= 0, bytes.count - at >= count else { return nil }
    defer { at += count }
    return Array(bytes[at..<at + count])
  }
}

extension Span where Element == UInt8 {
  /// The number that the 8 bytes from `place` on are.
  func number(at place: Int) -> UInt64 {
    var number: UInt64 = 0
    for offset in 0..<8 { number = number << 8 | UInt64(self[place + offset]) }
    return number
  }

  /// The number that the 16 bytes from `place` on are.
  func wideNumber(at place: Int) -> UInt128 {
    UInt128(number(at: place)) << 64 | UInt128(number(at: place + 8))
  }
}

extension MutableSpan where Element == UInt8 {
  /// Writes 16 bytes from `place` on.
  mutating func write(_ number: UInt128, at place: Int) {
    write(UInt64(truncatingIfNeeded: number >> 64), at: place)
    write(UInt64(truncatingIfNeeded: number), at: place + 8)
  }
}
