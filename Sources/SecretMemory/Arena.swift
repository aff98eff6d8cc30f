// The memory that secrets live in: one mapping between guard pages, locked, left out of dumps, emptied in a
// forked child. Below every step of a request; only `SecretBytes` and `SecretBuffer` take memory from it.
// It never hands out memory that was not wiped, and never moves what it handed out.

import CLinux
import Synchronization

/// What can go wrong with secret memory. `VaultModel` maps it to an outcome.
public enum SecretMemoryError: Error, Equatable, Sendable {
  /// The system gave no memory for so many bytes.
  case exhausted(bytes: Int)
  /// Text that was to be Base64 (RFC 4648, section 4, padded) is not.
  case notBase64
}

/// Cells of 32 bytes to 64 KiB, in powers of two, carved from one mapping. Larger pieces, and small ones
/// once the mapping is used up, get a mapping of their own.
@safe struct Arena: ~Copyable {
  static let size = 4 << 20
  static let largestCell = 64 << 10
  private static let smallestShift = 5
  private static let shifts = 12  // 32 B … 64 KiB

  private var base: UnsafeMutableRawPointer?
  private var used = 0
  private var freeCells: [UnsafeMutableRawPointer?]
  private(set) var everythingLocked = true

  init() {
    unsafe freeCells = unsafe Array(repeating: nil, count: Self.shifts)
  }

  /// The bytes really reserved for a request of `count` bytes.
  static func capacity(for count: Int) -> Int {
    guard count <= largestCell else { return (count + 4095) & ~4095 }
    return 1 << shift(for: count)
  }

  private static func shift(for count: Int) -> Int {
    var shift = smallestShift
    while 1 << shift < count { shift += 1 }
    return shift
  }

  /// Zeroed memory for at least `count` bytes, of `capacity(for: count)` bytes. What is `locked` stays out of
  /// swap, as far as the kernel allows.
  mutating func take(_ count: Int, locked: Bool = true) throws(SecretMemoryError) -> UnsafeMutableRawPointer {
    guard count <= Self.largestCell else { return try unsafe map(Self.capacity(for: count), lock: locked) }
    let shift = Self.shift(for: count)
    let list = shift - Self.smallestShift
    if let cell = unsafe freeCells[list] {
      // A free cell holds the address of the next one and nothing else.
      unsafe freeCells[list] = unsafe cell.load(as: UnsafeMutableRawPointer?.self)
      unsafe clinux_wipe(cell, MemoryLayout<UnsafeMutableRawPointer?>.size)
      return unsafe cell
    }
    if unsafe base == nil { unsafe base = unsafe try map(Self.size) }
    if let base = unsafe base, used + (1 << shift) <= Self.size {
      defer { used += 1 << shift }
      return unsafe base + used
    }
    return try unsafe map(Self.capacity(for: count))
  }

  /// Wipes what `take(count)` gave and takes it back.
  mutating func giveBack(_ cell: UnsafeMutableRawPointer, _ count: Int) {
    let capacity = Self.capacity(for: count)
    unsafe clinux_wipe(cell, capacity)
    if let base = unsafe base, unsafe cell >= base, unsafe cell < base + Self.size {
      let list = Self.shift(for: count) - Self.smallestShift
      unsafe cell.storeBytes(of: freeCells[list], as: UnsafeMutableRawPointer?.self)
      unsafe freeCells[list] = unsafe cell
    } else {
      unsafe clinux_secret_unmap(cell, (capacity + 4095) & ~4095)
    }
  }

  private mutating func map(
    _ size: Int, lock: Bool = true
  ) throws(SecretMemoryError) -> UnsafeMutableRawPointer {
    var locked = lock
    let whole = (size + 4095) & ~4095
    guard let bytes = unsafe clinux_secret_map(whole, &locked) else { throw .exhausted(bytes: size) }
    if lock, !locked { everythingLocked = false }
    return unsafe bytes
  }
}

/// The process's secret memory as a whole.
public enum SecretMemory {
  static let arena = Mutex(Arena())

  /// False once the kernel refused to keep some secret memory out of swap (RLIMIT_MEMLOCK).
  public static var isLocked: Bool { arena.withLock { $0.everythingLocked } }
}
