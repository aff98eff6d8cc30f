// Secrets with one owner: their bytes, their ends, their limits.

import Foundation
import Testing

@testable import SecretMemory

@Suite struct SecretBytesTests {
  @Test("it holds what it was given, of every size", arguments: [0, 1, 32, 33, 65_536, 65_537, 1_048_576])
  func sizes(count: Int) throws {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let secret = try SecretBytes(copying: bytes.span)
    #expect(secret.count == count)
    #expect(secret.withBytes { span in span.indices.allSatisfy { span[$0] == bytes[$0] } })
    let zeros = try SecretBytes(zeros: count)
    #expect(zeros.withBytes { span in span.indices.allSatisfy { span[$0] == 0 } })
  }

  @Test("its cell is wiped at the end of its life, whole, also where it was made shorter before")
  func wipedAtTheEnd() throws {
    // No other test makes secrets of this size, so the next one gets the cell of the last.
    let count = 20_000
    for shorter in [count, 10, 0] {
      var secret = try SecretBytes(copying: [UInt8](repeating: 0xA5, count: count).span)
      let cell = secret.withBytes { span in
        unsafe span.withUnsafeBytes { bytes in
          unsafe bytes.baseAddress.map {
            unsafe Cell(start: UnsafeMutableRawPointer(mutating: $0), count: count)
          }
        }
      }
      secret.shorten(to: shorter)
      drop(secret)
      // The process's arena is never unmapped.
      #expect(cell?.isZero(from: 8) == true)
    }
  }

  @Test("what falls off when it is made shorter is wiped; longer it is never made")
  func shorten() throws {
    var secret = try SecretBytes(copying: "abcdef")
    secret.shorten(to: 7)
    secret.shorten(to: -1)
    #expect(secret.count == 6)
    secret.shorten(to: 2)
    #expect(secret.count == 2)
    let behind = secret.withBytes { span in
      unsafe span.withUnsafeBytes { bytes in
        unsafe UnsafeRawBufferPointer(start: bytes.baseAddress, count: 6).map { $0 }
      }
    }
    #expect(behind == Array("ab".utf8) + [0, 0, 0, 0])
  }

  @Test("sizes that no memory has are refused", arguments: [-1, Int.min, Int.max, Int.max - 4_000])
  func absurd(count: Int) {
    #expect(throws: SecretMemoryError.exhausted(bytes: count)) { _ = try SecretBytes(zeros: count) }
  }

  @Test("text is held as its UTF-8, NUL and all")
  func text() throws {
    let secret = try SecretBytes(copying: "é\0\u{1F511}")
    #expect(secret.withBytes { span in span.indices.map { span[$0] } } == Array("é\0\u{1F511}".utf8))
  }

  @Test("threads that take and give back at once never see each other's bytes")
  func threads() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for thread in UInt8(1)...8 {
        group.addTask {
          for round in 0..<500 {
            let count = 1 + round * 37 % 3_000
            let secret = try SecretBytes(copying: [UInt8](repeating: thread, count: count).span)
            #expect(secret.withBytes { span in span.indices.allSatisfy { span[$0] == thread } })
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private func drop(_ secret: consuming SecretBytes) {}
}

@Suite struct LibraryMemoryTests {
  @Test("a piece is aligned to 16, zero, and keeps its bytes as it grows and shrinks")
  func pieces() throws {
    var piece = try unsafe #require(SecretMemory.allocate(10))
    #expect(UInt(bitPattern: piece) % 16 == 0)
    for position in 0..<10 {
      unsafe piece.storeBytes(of: UInt8(position), toByteOffset: position, as: UInt8.self)
    }
    for count in [100, 70_000, 1 << 20, 16, 10] {
      unsafe piece = try unsafe #require(SecretMemory.reallocate(piece, count))
      #expect(UInt(bitPattern: piece) % 16 == 0)
      #expect((0..<10).allSatisfy { unsafe piece.load(fromByteOffset: $0, as: UInt8.self) == UInt8($0) })
    }
    unsafe SecretMemory.free(piece)
  }

  @Test("nothing is a piece too: made from it, freed to it, and sizes without memory give none")
  func edges() throws {
    let made = try unsafe #require(SecretMemory.reallocate(nil, 5))
    #expect(unsafe SecretMemory.reallocate(made, 0) == nil)
    unsafe SecretMemory.free(nil)
    #expect(unsafe SecretMemory.allocate(-1) == nil)
    #expect(unsafe SecretMemory.allocate(.max) == nil)
    let kept = try unsafe #require(SecretMemory.allocate(1))
    #expect(unsafe SecretMemory.reallocate(kept, .max) == nil)
    unsafe SecretMemory.free(kept)
  }
}
