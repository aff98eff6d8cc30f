// The arena by itself: what comes back is wiped, what goes out is zero, nothing overlaps, and the kernel was
// told what the mapping is.

import Foundation
import TestSupport
import Testing

@testable import SecretMemory

@Suite struct ArenaTests {
  @Test(
    "a cell that came back holds nothing of what was in it",
    arguments: [1, 31, 32, 33, 100, 4_096, 65_535, 65_536])
  func wiped(count: Int) throws {
    var arena = Arena()
    let cells = [try arena.cell(count), try arena.cell(count)]
    for cell in cells { cell.fill(with: 0xA5) }
    for cell in cells { arena.giveBack(cell) }
    // What is left in a free cell is the address of the next one in its block.
    #expect(cells[0].link == 0)
    #expect(cells[1].link == (cells[0].capacity < Arena.largestCell ? cells[0].address : 0))
    for cell in cells { #expect(cell.isZero(from: 8)) }
  }

  @Test("every cell that is handed out is zero, whatever it was before")
  func zero() throws {
    var arena = Arena()
    var generator = Seeded(state: 1)
    var held: [Cell] = []
    for _ in 0..<20_000 {
      if held.isEmpty || held.count < 400 && Bool.random(using: &generator) {
        let size = 1 << Int.random(in: 0...16, using: &generator)
        let cell = try arena.cell(size - Int.random(in: 0...1, using: &generator))
        #expect(cell.isZero())
        cell.fill(with: 0xFF)
        held.append(cell)
      } else {
        held.swapAt(Int.random(in: 0..<held.count, using: &generator), held.count - 1)
        arena.giveBack(held.removeLast())
      }
    }
    held.sort { $0.address < $1.address }
    for (one, next) in zip(held, held.dropFirst()) {
      #expect(one.address + UInt(one.capacity) <= next.address)
    }
    for cell in held { arena.giveBack(cell) }
  }

  @Test("memory that small cells took up serves large cells once it is back")
  func sizesChange() throws {
    var arena = Arena()
    // The first cell is at the start of the mapping.
    let first = try arena.cell(40).address
    let mapping = first..<first + UInt(Arena.size)
    for _ in 0..<3 {
      var small: [Cell] = []
      repeat {
        small.append(try arena.cell(32))
      } while small.last.map { mapping.contains($0.address) } == true
      #expect(small.count == (Arena.size - Arena.largestCell) / 32 + 1)
      for cell in small { arena.giveBack(cell) }
      var large: [Cell] = []
      for _ in 1..<Arena.size / Arena.largestCell { large.append(try arena.cell(Arena.largestCell)) }
      #expect(large.allSatisfy { mapping.contains($0.address) && $0.isZero() })
      for cell in large { arena.giveBack(cell) }
    }
  }

  @Test(
    "blocks in which nothing is held go back to the kernel; what is held stays, and what is taken again is locked"
  )
  func giveBackUnused() throws {
    var arena = Arena()
    let held = try arena.cell(100)
    held.fill(with: 0x5A)
    let beside = try arena.cell(100)
    let passing = try [32, 4_096, 65_536, 65_536, 2_000].map { try arena.cell($0) }
    for cell in passing { cell.fill(with: 0xA5) }
    #expect(passing.allSatisfy { $0.isResident })
    for cell in passing + [beside] { arena.giveBack(cell) }
    arena.giveBackUnused()
    #expect(passing.allSatisfy { !$0.isResident })
    #expect(held.isResident && held.holds(0x5A))
    for _ in 0..<2 {
      let again = try [65_536, 32, 4_096, 2_000, 100].map { try arena.cell($0) }
      #expect(again.allSatisfy { $0.isZero() && $0.address != held.address })
      for cell in again { cell.fill(with: 0xFF) }
      let mappings = try Mapping.all()
      for cell in again {
        let flags = mappings.first { $0.range.contains(cell.address) }?.flags ?? []
        #expect(flags.isSuperset(of: ["dd", "wf"]) && flags.contains("lo") == arena.isGuarded)
      }
      for cell in again { arena.giveBack(cell) }
      arena.giveBackUnused()
      arena.giveBackUnused()
    }
    #expect(held.holds(0x5A))
    arena.giveBack(held)
  }

  @Test("a request beyond any memory, or below nothing, throws", arguments: [-1, Int.min, 1 << 48, Int.max])
  func absurd(count: Int) {
    var arena = Arena()
    #expect(throws: SecretMemoryError.exhausted(bytes: count)) { try arena.cell(count) }
  }

  @Test("the kernel keeps it out of swap, dumps and forks, and nothing can be reached on either side")
  func guarded() throws {
    var arena = Arena()
    for count in [100, Arena.largestCell + 1] {
      let cell = try arena.cell(count)
      let mappings = try Mapping.all()
      let index = try #require(mappings.firstIndex { $0.range.contains(cell.address) })
      let flags = mappings[index].flags
      #expect(flags.contains("dd"), "left out of core dumps")
      #expect(flags.contains("wf"), "emptied in a forked child")
      #expect(flags.contains("lo") == arena.isGuarded, "locked")
      #expect(mappings[index - 1].mode == "---p")
      #expect(mappings[index - 1].range.upperBound == mappings[index].range.lowerBound)
      #expect(mappings[index + 1].mode == "---p")
      #expect(mappings[index + 1].range.lowerBound == mappings[index].range.upperBound)
      arena.giveBack(cell)
    }
  }

  @Test("where the kernel locks nothing the arena serves all the same, and says so")
  func refusedLock() async {
    await #expect(processExitsWith: .success) {
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      // Root may lock whatever the limit says.
      guard unsafe setrlimit(__rlimit_resource_t(__RLIMIT_MEMLOCK.rawValue), &none) == 0,
        getuid() != 0 || setuid(65_534) == 0
      else {
        exit(2)
      }
      var arena = Arena()
      guard let cell = try? arena.cell(100) else { exit(3) }
      cell.fill(with: 1)
      exit(arena.isGuarded ? 4 : 0)
    }
  }
}

/// xorshift64: the same sequence in every run.
struct Seeded: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}
