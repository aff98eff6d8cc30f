// A growing run of bytes in secret memory: what was received and not yet parsed, what was written and not
// yet sent. One owner; wiped as it is emptied and at its end. It never grows past the limit it was made with.

import CLinux

/// Bytes that come in at the end and go out at the front, in locked memory.
public struct SecretBuffer: ~Copyable, Sendable {
  private var storage: SecretBytes
  private var start = 0
  private var end = 0

  /// The most bytes that it may hold at once.
  public let limit: Int

  /// An empty buffer with room for `capacity` bytes that may grow to `limit` bytes.
  public init(capacity: Int, limit: Int) throws(SecretMemoryError) {
    storage = try SecretBytes(zeros: min(capacity, limit))
    self.limit = limit
  }

  /// How many bytes it holds.
  public var count: Int { end - start }

  /// Whether it holds nothing.
  public var isEmpty: Bool { start == end }

  /// How many bytes are reserved.
  public var capacity: Int { storage.count }

  /// Reads the bytes that it holds.
  public func withBytes<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let (start, end) = (start, end)
    return try storage.withBytes { bytes throws(Failure) in try body(bytes.extracting(start..<end)) }
  }

  /// Changes the bytes that it holds, in place.
  public mutating func withMutableBytes<Result: ~Copyable, Failure: Error>(
    _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try storage.withMutableBytes(in: start..<end, body)
  }

  /// Changes a part of the bytes that it holds, counted from the first one, in place: a frame of several.
  public mutating func withMutableBytes<Result, Failure: Error>(
    in range: Range<Int>, _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    return try storage.withMutableBytes(in: (start + range.lowerBound)..<(start + range.upperBound), body)
  }

  /// Where `byte` comes first at or behind `index`, counted from the first byte held; `nil` where it doesn't.
  public func firstIndex(of byte: UInt8, from index: Int = 0) -> Int? {
    precondition(index >= 0 && index <= count)
    return withBytes { bytes in
      unsafe bytes.withUnsafeBytes { all in
        guard let base = all.baseAddress else { return nil }
        guard let found = unsafe memchr(base + index, Int32(byte), all.count - index) else { return nil }
        return unsafe UnsafeRawPointer(found) - base
      }
    }
  }

  /// Hands out at least `minimum` free bytes behind those held; `body` fills some and returns how many.
  /// - Throws: `.exhausted` where that would pass `limit` or there is no memory.
  /// - Returns: how many bytes were added.
  public mutating func fill(
    atLeast minimum: Int, _ body: (inout MutableSpan<UInt8>) -> Int
  ) throws(SecretMemoryError) -> Int {
    try makeRoom(for: minimum)
    let added = storage.withMutableBytes(in: end..<storage.count) { free in
      let added = body(&free)
      precondition(added >= 0 && added <= free.count)
      return added
    }
    end += added
    return added
  }

  /// Adds a copy of `bytes`.
  public mutating func append(_ bytes: Span<UInt8>) throws(SecretMemoryError) {
    try makeRoom(for: bytes.count)
    let end = end
    storage.withMutableBytes { $0.write(bytes, at: end) }
    self.end += bytes.count
  }

  /// Adds the UTF-8 of `text`.
  public mutating func append(_ text: StaticString) throws(SecretMemoryError) {
    let source = unsafe UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    try append(unsafe Span(_unsafeElements: source))
  }

  /// Adds one byte.
  public mutating func append(_ byte: UInt8) throws(SecretMemoryError) {
    if end == storage.count { try makeRoom(for: 1) }
    let end = end
    storage.withMutableBytes { $0[end] = byte }
    self.end += 1
  }

  /// Wipes and drops the first `count` bytes.
  public mutating func removeFirst(_ count: Int) {
    precondition(count >= 0 && count <= self.count)
    if count == 0 { return }
    let start = start
    storage.withMutableBytes { unsafe wipe(&$0, from: start, count: count) }
    self.start += count
    if self.start == end { (self.start, end) = (0, 0) }
  }

  /// Wipes and drops the last `count` bytes.
  public mutating func removeLast(_ count: Int) {
    precondition(count >= 0 && count <= self.count)
    let end = end
    storage.withMutableBytes { unsafe wipe(&$0, from: end - count, count: count) }
    self.end -= count
    if start == self.end { (start, self.end) = (0, 0) }
  }

  /// Wipes and drops everything, and gives back memory beyond `capacity` bytes.
  public mutating func empty(keeping capacity: Int) {
    removeFirst(count)
    if storage.count > capacity, let smaller = try? SecretBytes(zeros: min(capacity, limit)) {
      storage = smaller
    }
  }

  private mutating func makeRoom(for more: Int) throws(SecretMemoryError) {
    if storage.count - end >= more { return }
    let (needed, tooMuch) = count.addingReportingOverflow(more)
    guard !tooMuch, needed <= limit else { throw .exhausted(bytes: tooMuch ? .max : needed) }
    // Moving what is held is worth it where little is; a buffer that is nearly full would be moved again soon.
    if needed <= storage.count / 2 || needed <= storage.count && storage.count == limit {
      moveToFront()
      return
    }
    var larger = try SecretBytes(zeros: min(limit, max(needed, 2 * storage.count)))
    withBytes { held in larger.withMutableBytes { $0.write(held, at: 0) } }
    end -= start
    start = 0
    storage = larger
  }

  private mutating func moveToFront() {
    let (start, end) = (start, end)
    storage.withMutableBytes { bytes in
      unsafe bytes.withUnsafeMutableBytes { all in
        guard let base = all.baseAddress else { return }
        unsafe memmove(base, base + start, end - start)
        unsafe clinux_wipe(base + (end - start), start)
      }
    }
    self.end -= start
    self.start = 0
  }
}

/// Wipes `count` bytes of `bytes` from `start` on.
@unsafe private func wipe(_ bytes: inout MutableSpan<UInt8>, from start: Int, count: Int) {
  precondition(start >= 0 && count >= 0 && start + count <= bytes.count)
  unsafe bytes.withUnsafeMutableBytes { all in
    guard let base = all.baseAddress else { return }
    unsafe clinux_wipe(base + start, count)
  }
}
