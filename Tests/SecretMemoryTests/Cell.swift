// Memory of an arena as tests see it: an address and a size, looked at also after it was given back. The
// mapping of an arena lives as long as the arena does, so the look is a defined one.

import Foundation

@testable import SecretMemory

/// What `Arena.take` gave.
@safe struct Cell {
  let start: UnsafeMutableRawPointer
  let count: Int

  var address: UInt { unsafe UInt(bitPattern: start) }
  var capacity: Int { Arena.capacity(for: count) }

  func fill(with byte: UInt8) { unsafe memset(start, Int32(byte), capacity) }

  /// Whether every byte from `offset` on is zero.
  func isZero(from offset: Int = 0) -> Bool {
    let first = unsafe start.load(fromByteOffset: offset, as: UInt8.self)
    // Every byte is the one before it.
    let pairs = unsafe memcmp(start + offset, start + offset + 1, capacity - offset - 1)
    return first == 0 && pairs == 0
  }

  /// Whether every byte is this one.
  func holds(_ byte: UInt8) -> Bool {
    unsafe UnsafeRawBufferPointer(start: start, count: capacity).allSatisfy { $0 == byte }
  }

  /// Whether the kernel has memory for its first byte.
  var isResident: Bool {
    var page: UInt8 = 0
    let code = unsafe mincore(start - Int(address % 4_096), 4_096, &page)
    precondition(code == 0, "mincore: \(errno)")
    return page & 1 != 0
  }

  /// Its first bytes as an address.
  var link: UInt { unsafe start.load(as: UInt.self) }
}

extension Arena {
  mutating func cell(_ count: Int) throws(SecretMemoryError) -> Cell {
    unsafe Cell(start: try take(count), count: count)
  }

  mutating func giveBack(_ cell: Cell) { unsafe giveBack(cell.start, cell.count) }
}
