// The frame that programs send again and again, read without a JSON reader: a call of `Get` in the words and the order
// in which client libraries write it, with names that need no escape. Whatever differs by a byte is for
// `RequestReader`; what is read here is what it would read.

import SecretMemory
import VaultModel

/// A call of `Get` that asks for nothing but a token.
enum PlainGet {
  private static let beginning = Array(
    #"{"method":"\#(VaultInterface.name).Get","parameters":{"key":""#.utf8)
  private static let middle = Array(#"","account":""#.utf8)
  private static let end = Array(#""}}"#.utf8)

  /// The request that a frame is; `nil` where it is another one, or another way to write it. Names are looked up among
  /// those of earlier requests, and remembered.
  static func request(_ frame: Span<UInt8>, _ names: inout NameTable) -> Request? {
    guard frame.has(beginning.span, at: 0) else { return nil }
    let key = beginning.count..<frame.firstEscaped(from: beginning.count)
    var account = 0..<0
    var place = key.upperBound
    if frame.has(middle.span, at: place) {
      place += middle.count
      account = place..<frame.firstEscaped(from: place)
      place = account.upperBound
    }
    guard place + end.count == frame.count, frame.has(end.span, at: place),
      let id = id(frame.extracting(key), frame.extracting(account), &names)
    else { return nil }
    return Request(call: .get(GetRequest(id: id)))
  }

  private static func id(_ key: Span<UInt8>, _ account: Span<UInt8>, _ names: inout NameTable) -> EntryID? {
    if let known = names.id(key, account) { return known }
    guard key.isPlain, account.isPlain, let name = try? Key(key.text), let owner = try? Account(account.text)
    else { return nil }
    let id = EntryID(name, owner)
    names.keep(id, key, account)
    return id
  }
}

extension Span<UInt8> {
  /// Whether these bytes stand at `place`.
  @inline(__always)
  fileprivate func has(_ bytes: Span<UInt8>, at place: Int) -> Bool {
    bytes.count <= count - place && extracting(place..<place + bytes.count).isEqual(to: bytes)
  }

  /// Whether all of them are printing ASCII.
  fileprivate var isPlain: Bool {
    for index in indices where self[index] < 0x20 || self[index] > 0x7E { return false }
    return true
  }
}
