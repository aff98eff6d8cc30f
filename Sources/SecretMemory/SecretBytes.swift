// A secret of fixed size with one owner, in the arena, wiped when its owner is done with it. From the frame
// that brought it to the frame that takes it away, a secret is in one of these or in a `SecretBuffer`. It is
// never described, compared with `==`, or turned into text by anything but the calls below.

import CLinux
import Synchronization

/// A secret: bytes in locked memory, wiped at the end of their owner's life.
@safe public struct SecretBytes: ~Copyable {
  private let address: UnsafeMutableRawPointer
  private let reserved: Int

  /// How many bytes the secret has.
  public private(set) var count: Int

  /// `count` zero bytes.
  public init(zeros count: Int) throws(SecretMemoryError) {
    let cell = try SecretMemory.arena.withLock { arena throws(SecretMemoryError) in
      unsafe UnsafeCell(pointer: try arena.take(count))
    }
    unsafe address = unsafe cell.pointer
    self.reserved = count
    self.count = count
  }

  /// A copy of `bytes`; the caller wipes its own.
  public init(copying bytes: Span<UInt8>) throws(SecretMemoryError) {
    try self.init(zeros: bytes.count)
    unsafe bytes.withUnsafeBytes { source in
      if let start = source.baseAddress { unsafe address.copyMemory(from: start, byteCount: source.count) }
    }
  }

  /// A copy of the UTF-8 of `text`. Text that came from somewhere else stays in memory that nobody can wipe:
  /// for tests and for values that their owner holds as a `String` anyway.
  public init(copying text: String) throws(SecretMemoryError) {
    var text = text
    let count = text.utf8.count
    try self.init(zeros: count)
    text.withUTF8 { source in
      if let start = source.baseAddress {
        unsafe address.copyMemory(from: UnsafeRawPointer(start), byteCount: source.count)
      }
    }
  }

  deinit {
    let cell = unsafe UnsafeCell(pointer: address)
    let reserved = reserved
    SecretMemory.arena.withLock { unsafe $0.giveBack(cell.pointer, reserved) }
  }

  /// Reads the bytes; the span does not outlive the call.
  public func withBytes<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let bytes = unsafe UnsafeBufferPointer(
      start: address.assumingMemoryBound(to: UInt8.self), count: count)
    return try body(unsafe Span(_unsafeElements: bytes))
  }

  /// Writes into the bytes; the span does not outlive the call.
  public mutating func withMutableBytes<Result: ~Copyable, Failure: Error>(
    _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withMutableBytes(in: 0..<count, body)
  }

  /// Writes into a part of the bytes; the span does not outlive the call.
  mutating func withMutableBytes<Result: ~Copyable, Failure: Error>(
    in range: Range<Int>, _ body: (inout MutableSpan<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    precondition(range.lowerBound >= 0 && range.upperBound <= count)
    let start = unsafe address.assumingMemoryBound(to: UInt8.self) + range.lowerBound
    let bytes = unsafe UnsafeMutableBufferPointer(start: start, count: range.count)
    var span = unsafe MutableSpan(_unsafeElements: bytes)
    return try body(&span)
  }

  /// Makes the secret shorter; what falls off is wiped. Does nothing where `count` is not below the present one.
  public mutating func shorten(to count: Int) {
    guard count >= 0, count < self.count else { return }
    unsafe clinux_wipe(address + count, self.count - count)
    self.count = count
  }
}

// The address is reached through this one owner only, and a shared borrow cannot write.
extension SecretBytes: @unchecked Sendable {}

/// Carries an address out of the arena's lock, which takes sendable values only.
@safe struct UnsafeCell: @unchecked Sendable {
  let pointer: UnsafeMutableRawPointer
}

/// A secret that several hold at once: a request on its way through a store and the reply to it. Wiped when
/// the last one lets go.
public final class SharedSecret: Sendable {
  /// What takes the place of a secret where there is none any more: no bytes.
  public static let none = SharedSecret()

  private let bytes: SecretBytes?

  /// How many bytes the secret has.
  public let count: Int

  /// Takes over `bytes`.
  public init(_ bytes: consuming SecretBytes) {
    count = bytes.count
    self.bytes = consume bytes
  }

  private init() {
    count = 0
    bytes = nil
  }

  /// Reads the bytes; the span does not outlive the call.
  public func withBytes<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    switch bytes {
    case .some(let bytes): try bytes.withBytes(body)
    case .none: try body(Span())
    }
  }
}
