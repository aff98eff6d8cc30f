// Eight bytes at a time: what is done to every byte of a secret of a megabyte is done to words and runs, so that one
// client's large answer keeps the others waiting for a moment only. Checked like every other access to a span.

extension Span<UInt8> {
  /// The eight bytes from `place` on, in the order that the machine has them.
  @inlinable @inline(__always)
  public func word(at place: Int) -> UInt64 {
    unsafe bytes.unsafeLoadUnaligned(fromByteOffset: place, as: UInt64.self)
  }

  /// Whether these are the same bytes as those. Takes less time where they differ early: not for secrets.
  @inlinable
  public func isEqual(to other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    var index = 0
    while index + 8 <= count {
      if word(at: index) != other.word(at: index) { return false }
      index += 8
    }
    // Some of the last eight bytes were looked at before.
    if count >= 8 { return word(at: count - 8) == other.word(at: count - 8) }
    while index < count {
      if self[index] != other[index] { return false }
      index += 1
    }
    return true
  }
}

extension Span<UInt8> {
  /// The text that these bytes are; `nil` where they are no UTF-8. Not for secrets: it lies in ordinary memory.
  public var validText: String? {
    unsafe withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
  }
}

extension MutableSpan<UInt8> {
  /// Writes the UTF-8 of a literal from `place` on.
  @inlinable @inline(__always)
  public mutating func write(_ text: StaticString, at place: Int) {
    // A literal's bytes live as long as the program.
    let bytes = unsafe UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    write(unsafe Span(_unsafeElements: bytes), at: place)
  }

  /// Writes a number from `place` on, its largest byte first.
  @inlinable @inline(__always)
  public mutating func write(_ number: UInt64, at place: Int) {
    writeWord(number.bigEndian, at: place)
  }

  /// Writes eight bytes from `place` on, in the order that the machine has them.
  @inlinable @inline(__always)
  public mutating func writeWord(_ word: UInt64, at place: Int) {
    precondition(place >= 0 && place <= count - 8)
    unsafe withUnsafeMutableBytes { bytes in
      unsafe bytes.storeBytes(of: word, toByteOffset: place, as: UInt64.self)
    }
  }

  /// Gives `body` a part of it to write into.
  public mutating func withPart<Result, Failure: Error>(
    _ range: Range<Int>, _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    return try unsafe withUnsafeMutableBufferPointer { bytes throws(Failure) in
      // Nobody else reaches the bytes while `body` has them: `self` is being changed.
      let part = unsafe UnsafeMutableBufferPointer(rebasing: bytes[range])
      var span = unsafe MutableSpan(_unsafeElements: part)
      return try body(&span)
    }
  }

  /// Writes all of `source` from `place` on. Part of the caller, where a literal is a few words of known number.
  @inlinable @inline(__always)
  public mutating func write(_ source: Span<UInt8>, at place: Int) {
    precondition(place >= 0 && source.count <= count - place)
    unsafe source.withUnsafeBytes { from in
      unsafe withUnsafeMutableBytes { to in
        guard let start = from.baseAddress, let base = to.baseAddress else { return }
        unsafe (base + place).copyMemory(from: start, byteCount: from.count)
      }
    }
  }
}

extension UInt64 {
  /// This byte, eight times.
  @inlinable @inline(__always)
  public init(everyByte byte: UInt8) { self = 0x0101_0101_0101_0101 &* UInt64(byte) }

  /// Not 0 where one of the eight bytes is 0.
  @inlinable @inline(__always)
  public var zeroBytes: UInt64 { bytes(below: 1) }

  /// Not 0 where one of the eight bytes is below `limit`, which is at most 0x80.
  @inlinable @inline(__always)
  public func bytes(below limit: UInt8) -> UInt64 {
    // A byte that is below borrows from its highest bit, which it did not have. What it borrows from those behind it can
    // raise their bits too, but only where there is one below.
    (self &- UInt64(everyByte: limit)) & ~self & UInt64(everyByte: 0x80)
  }
}
