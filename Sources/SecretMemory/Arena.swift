// The memory that secrets live in: one mapping between guard pages, locked, left out of dumps, emptied in a
// forked child. Below every step of a request; only `SecretBytes`, `SecretBuffer` and a library's allocator
// take memory from it. It never hands out memory that was not wiped, and never moves what it handed out.

import CLinux

/// Cells of 32 bytes to 64 KiB, in powers of two. The mapping is cut into blocks of 64 KiB; a block holds cells
/// of one size until all of them are back, and may then hold another size. So what once was taken up by many
/// small cells serves large ones later. Larger pieces, and all pieces while no block is left, get a mapping of
/// their own.
@safe struct Arena: ~Copyable {
  /// The mapping's size in bytes: requests, replies and keys of some hundred connections at once, and half of
  /// what a user's session may lock by default (RLIMIT_MEMLOCK is 8 MiB).
  static let size = 4 << 20
  /// The largest cell in bytes, and the size of a block.
  static let largestCell = 64 << 10

  private static let smallestShift = 5
  private static let blockShift = 16
  private static let page = 4096

  /// A run of cells of one size.
  @safe private struct Block {
    /// The binary logarithm of its cells' size; 0 while it never had cells.
    var shift = 0
    /// How many cells are handed out.
    var live = 0
    /// How many cells, from its start on, were ever handed out since it has cells of this size.
    var carved = 0
    /// The first cell that came back. A free cell holds the address of the next one and nothing else.
    var free: UnsafeMutableRawPointer?
    /// Its place in the list of blocks that have a cell of this size left.
    var isListed = false
  }

  private var base: UnsafeMutableRawPointer?
  private var blocks = [Block](repeating: Block(), count: size >> blockShift)
  /// For each size of cell, the blocks that have one left. The last one is used first.
  private var blocksWithRoom = [[Int]](repeating: [], count: blockShift - smallestShift + 1)

  /// False once the kernel refused to keep memory out of swap, dumps or forked children.
  private(set) var isGuarded = true

  init() {}

  deinit {
    if let base = unsafe base {
      unsafe clinux_wipe(base, Self.size)
      unsafe clinux_secret_unmap(base, Self.size)
    }
  }

  /// The bytes really reserved for a request of `count` bytes.
  static func capacity(for count: Int) -> Int {
    count <= largestCell ? 1 << shift(for: count) : count.roundedUp(to: page)
  }

  private static func shift(for count: Int) -> Int {
    count <= 1 << smallestShift ? smallestShift : Int.bitWidth - (count - 1).leadingZeroBitCount
  }

  /// Zeroed memory for at least `count` bytes, of `capacity(for: count)` bytes. What is `locked` stays out of
  /// swap, as far as the kernel allows; what is in the arena always does.
  mutating func take(_ count: Int, locked: Bool = true) throws(SecretMemoryError) -> UnsafeMutableRawPointer {
    // No machine has more than the second; below it the arithmetic of pages cannot overflow.
    guard count >= 0, count <= 1 << 48 else { throw .exhausted(bytes: count) }
    guard count <= Self.largestCell else { return try unsafe map(Self.capacity(for: count), lock: locked) }
    if unsafe base == nil { unsafe base = unsafe try map(Self.size, lock: true) }
    let shift = Self.shift(for: count)
    guard let base = unsafe base, let index = blockWithRoom(shift) else {
      return try unsafe map(Self.capacity(for: count).roundedUp(to: Self.page), lock: locked)
    }
    defer { unlistIfFull(index) }
    blocks[index].live += 1
    if let cell = unsafe blocks[index].free {
      unsafe blocks[index].free = unsafe cell.load(as: UnsafeMutableRawPointer?.self)
      unsafe clinux_wipe(cell, MemoryLayout<UnsafeMutableRawPointer?>.size)
      return unsafe cell
    }
    defer { blocks[index].carved += 1 }
    return unsafe base + index << Self.blockShift + blocks[index].carved << shift
  }

  /// Wipes what `take(count)` gave and takes it back.
  mutating func giveBack(_ cell: UnsafeMutableRawPointer, _ count: Int) {
    let capacity = Self.capacity(for: count)
    unsafe clinux_wipe(cell, capacity)
    guard let base = unsafe base, unsafe cell >= base, unsafe cell < base + Self.size else {
      unsafe clinux_secret_unmap(cell, capacity.roundedUp(to: Self.page))
      return
    }
    let index = unsafe (cell - base) >> Self.blockShift
    unsafe cell.storeBytes(of: blocks[index].free, as: UnsafeMutableRawPointer?.self)
    unsafe blocks[index].free = unsafe cell
    blocks[index].live -= 1
    if !blocks[index].isListed {
      blocks[index].isListed = true
      blocksWithRoom[blocks[index].shift - Self.smallestShift].append(index)
    }
  }

  /// Gives the memory of blocks in which nothing is held back to the kernel.
  mutating func giveBackUnused() {
    guard let base = unsafe base else { return }
    for index in blocks.indices where blocks[index].carved > 0 && blocks[index].live == 0 {
      reset(index)
      unsafe clinux_secret_give_back(base + index << Self.blockShift, 1 << Self.blockShift)
    }
  }

  /// A block with a cell of this size left; `nil` where every block is in use for others.
  private mutating func blockWithRoom(_ shift: Int) -> Int? {
    if let index = blocksWithRoom[shift - Self.smallestShift].last { return index }
    guard let index = blocks.firstIndex(where: { $0.live == 0 }) else { return nil }
    reset(index)
    blocks[index].shift = shift
    blocks[index].isListed = true
    blocksWithRoom[shift - Self.smallestShift].append(index)
    return index
  }

  /// Makes a block in which nothing is held one that never had cells.
  private mutating func reset(_ index: Int) {
    let old = blocks[index]
    if old.isListed { blocksWithRoom[old.shift - Self.smallestShift].removeAll { $0 == index } }
    // Its free cells are wiped but for the addresses that chained them.
    if let base = unsafe base { unsafe clinux_wipe(base + index << Self.blockShift, old.carved << old.shift) }
    blocks[index] = Block()
  }

  private mutating func unlistIfFull(_ index: Int) {
    let block = blocks[index]
    guard block.live == 1 << (Self.blockShift - block.shift) else { return }
    // It was just used, so it is the last one.
    blocksWithRoom[block.shift - Self.smallestShift].removeLast()
    blocks[index].isListed = false
  }

  private mutating func map(_ size: Int, lock: Bool) throws(SecretMemoryError) -> UnsafeMutableRawPointer {
    var guarded = true
    // The arena is used little by little. What has a mapping of its own is filled, and a page at a time costs more.
    guard let bytes = unsafe clinux_secret_map(size, lock, size < Self.size, &guarded) else {
      throw .exhausted(bytes: size)
    }
    if !guarded { isGuarded = false }
    return unsafe bytes
  }
}

extension Int {
  fileprivate func roundedUp(to unit: Int) -> Int { (self + unit - 1) / unit * unit }
}
