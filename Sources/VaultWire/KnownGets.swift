// Frames that ask for a token and were read before. Programs ask the same again and again, in the same words: such a
// frame is compared, and not read as JSON once more. Only calls of `Get` are kept, and none longer than a key and an
// account make it: what may hold a secret is never copied. Judges nothing that `RequestReader` has not judged before.

import SecretMemory
import VaultModel

/// What some frames were found to ask.
struct KnownGets {
  private struct Known {
    let frame: [UInt8]
    let request: Request
  }

  // A frame has two places, so that few drive each other out.
  private var places: [Known?] = []

  /// The beginning of a frame that calls `Get`, as client libraries and people write it.
  private static let beginning = Array(#"{"method":"\#(VaultInterface.name).Get","parameters":{"#.utf8)

  /// Whether a frame may be one of those that are kept.
  static func mayKeep(_ frame: Span<UInt8>) -> Bool {
    guard (beginning.count...Limits.knownFrameBytes).contains(frame.count) else { return false }
    return isEqual(frame, beginning.span, beginning.count)
  }

  /// The request that this very frame was before.
  func request(_ frame: Span<UInt8>) -> Request? {
    if places.isEmpty { return nil }
    let first = Self.place(frame)
    return request(frame, at: first) ?? request(frame, at: first ^ 1)
  }

  private func request(_ frame: Span<UInt8>, at place: Int) -> Request? {
    guard let known = places[place], known.frame.count == frame.count,
      Self.isEqual(frame, known.frame.span, frame.count)
    else { return nil }
    return known.request
  }

  /// Remembers that `frame` was found to be `request`.
  mutating func keep(_ request: Request, _ frame: Span<UInt8>) {
    guard case .get = request.call else { return }
    if places.isEmpty { places = Array(repeating: nil, count: Limits.knownFrames) }
    let first = Self.place(frame)
    let place = places[first] != nil && places[first ^ 1] == nil ? first ^ 1 : first
    places[place] = Known(frame: frame.indices.map { frame[$0] }, request: request)
  }

  /// Gives the memory back.
  mutating func forgetAll() { places = [] }

  /// A place for a frame. Whoever finds frames that share one slows down those that share it, by what reading takes.
  private static func place(_ frame: Span<UInt8>) -> Int {
    var hash: UInt64 = 0
    var index = beginning.count
    while index + 8 <= frame.count {
      hash = (hash ^ frame.word(at: index)) &* 0x9E37_79B9_7F4A_7C15
      hash ^= hash >> 32
      index += 8
    }
    while index < frame.count {
      hash = (hash ^ UInt64(frame[index])) &* 0x9E37_79B9_7F4A_7C15
      index += 1
    }
    return Int(truncatingIfNeeded: hash >> 40) & (Limits.knownFrames - 1)
  }

  private static func isEqual(_ one: Span<UInt8>, _ other: Span<UInt8>, _ count: Int) -> Bool {
    var index = 0
    while index + 8 <= count {
      if one.word(at: index) != other.word(at: index) { return false }
      index += 8
    }
    while index < count {
      if one[index] != other[index] { return false }
      index += 1
    }
    return true
  }
}
