// Secret memory for a C library that lets its allocator be replaced, so that the keys it keeps for itself
// (expanded AES keys, HMAC states, the random generator) lie where ours do. Beside the way of a request;
// only `VaultCrypto` hands these to a library. What is too large for the arena, such as scrypt's 128 MiB, is
// left out of dumps and wiped like the rest, but not locked: no user may lock that much.

import Synchronization

/// malloc, realloc and free on secret memory.
extension SecretMemory {
  /// The bytes in front of each piece: its size, and the alignment that C expects of an allocator.
  private static let header = 16

  /// At least `count` zeroed bytes, aligned to 16; `nil` where there is no memory.
  @unsafe public static func allocate(_ count: Int) -> UnsafeMutableRawPointer? {
    let (whole, tooMuch) = count.addingReportingOverflow(header)
    guard count >= 0, !tooMuch else { return nil }
    let cell = try? arena.withLock { arena throws(SecretMemoryError) in
      unsafe UnsafeCell(pointer: try arena.take(whole, locked: whole <= Arena.largestCell))
    }
    guard let cell else { return nil }
    unsafe cell.pointer.storeBytes(of: count, as: Int.self)
    return unsafe cell.pointer + header
  }

  /// Moves what `allocate` gave to a piece of `count` bytes, and wipes the old one; `nil`, with the old piece
  /// as it was, where there is no memory. A piece of no bytes is a freed one.
  @unsafe public static func reallocate(
    _ piece: UnsafeMutableRawPointer?, _ count: Int
  ) -> UnsafeMutableRawPointer? {
    guard let piece = unsafe piece else { return unsafe allocate(count) }
    guard count > 0 else {
      unsafe free(piece)
      return nil
    }
    guard let larger = unsafe allocate(count) else { return nil }
    let held = unsafe (piece - header).load(as: Int.self)
    unsafe larger.copyMemory(from: piece, byteCount: min(held, count))
    unsafe free(piece)
    return unsafe larger
  }

  /// Wipes what `allocate` gave and takes it back.
  @unsafe public static func free(_ piece: UnsafeMutableRawPointer?) {
    guard let piece = unsafe piece else { return }
    let cell = unsafe UnsafeCell(pointer: piece - header)
    let whole = unsafe cell.pointer.load(as: Int.self) + header
    arena.withLock { unsafe $0.giveBack(cell.pointer, whole) }
  }
}
