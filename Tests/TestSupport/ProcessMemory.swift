// What the kernel knows of this process's memory, and what is in it: for tests of what secret memory promises.

import Foundation
import SecretMemory

/// One mapping of this process, as /proc/self/smaps shows it (proc(5)).
public struct Mapping: Sendable {
  /// Its addresses.
  public let range: Range<UInt>
  /// As `rw-p`.
  public let mode: String
  /// The two-letter flags: `lo` locked, `dd` left out of dumps, `wf` emptied in a forked child.
  public let flags: Set<Substring>

  /// All of them, in the order of their addresses.
  public static func all() throws -> [Mapping] {
    // Piece by piece: Foundation reads a whole file up to its size, and the size of this one is given as 0.
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/smaps"))
    var text = Data()
    while let piece = try file.read(upToCount: 65_536), !piece.isEmpty { text += piece }
    var mappings: [Mapping] = []
    var range: Range<UInt> = 0..<0
    var mode = ""
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
      let words = line.split(separator: " ")
      let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
      if ends.count == 2, words.count > 1 { (range, mode) = (ends[0]..<ends[1], String(words[1])) }
      if words[0] == "VmFlags:" {
        mappings.append(Mapping(range: range, mode: mode, flags: Set(words.dropFirst())))
      }
    }
    return mappings
  }

  /// Whether this is memory that is left out of dumps, as all secret memory is.
  public var isSecret: Bool { flags.contains("dd") }

  /// Whether a program can have written there.
  public var isWritable: Bool { mode.hasPrefix("rw") }

  /// How often `needle` is in it. It is read through the kernel, so that memory that is gone meanwhile is no
  /// more than not found, and into secret memory, so that looking leaves no copy.
  public func count(of needle: Span<UInt8>) throws -> Int {
    let memory = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/mem"))
    let step = 1 << 20
    var window = try SecretBytes(zeros: step + needle.count - 1)
    var found = 0
    for start in stride(from: range.lowerBound, to: range.upperBound, by: step) {
      let count = min(window.count, Int(range.upperBound - start))
      found += window.withMutableBytes { window in
        unsafe window.withUnsafeMutableBytes { window in
          let read = unsafe pread(memory.fileDescriptor, window.baseAddress, count, off_t(start))
          return unsafe occurrences(of: needle, in: UnsafeRawBufferPointer(window).prefix(max(0, read)))
        }
      }
    }
    return found
  }
}

/// How often `needle` is in `bytes`.
private func occurrences(of needle: Span<UInt8>, in bytes: Slice<UnsafeRawBufferPointer>) -> Int {
  unsafe needle.withUnsafeBytes { needle in
    let hay = unsafe UnsafeRawBufferPointer(rebasing: bytes)
    guard let start = hay.baseAddress, let wanted = needle.baseAddress else { return 0 }
    var found = 0
    var from = 0
    while from + needle.count <= hay.count,
      let hit = unsafe memchr(start + from, Int32(needle[0]), hay.count - needle.count - from + 1)
    {
      if unsafe memcmp(hit, wanted, needle.count) == 0 { found += 1 }
      from = unsafe UnsafeRawPointer(hit) - start + 1
    }
    return found
  }
}
