// The frame that programs send again and again, read without a JSON reader: a call of `Get` in the words and the order
// in which client libraries write it, with names that need no escape. Whatever differs by a byte is for
// `RequestReader`; what is read here is what it would read. Holds nothing.

import SecretMemory
import VaultModel

/// A call of `Get` that asks for nothing but a token.
enum PlainGet {
  private static let beginning = Array(
    #"{"method":"\#(VaultInterface.name).Get","parameters":{"key":""#.utf8)
  private static let middle = Array(#"","account":""#.utf8)
  private static let end = Array(#""}}"#.utf8)

  /// The request that a frame is; `nil` where it is another one, or another way to write it.
  static func request(_ frame: Span<UInt8>) -> Request? {
    guard frame.has(beginning.span, at: 0) else { return nil }
    let key = frame.plainText(from: beginning.count)
    var account = 0..<0
    var place = key.upperBound
    if frame.has(middle.span, at: place) {
      account = frame.plainText(from: place + middle.count)
      place = account.upperBound
    }
    guard place + end.count == frame.count, frame.has(end.span, at: place),
      let name = try? Key(frame.extracting(key).text)
    else { return nil }
    if account.isEmpty { return Request(call: .get(GetRequest(id: EntryID(name)))) }
    guard let account = try? Account(frame.extracting(account).text) else { return nil }
    return Request(call: .get(GetRequest(id: EntryID(name, account))))
  }
}

extension Span<UInt8> {
  /// Whether these bytes stand at `place`.
  fileprivate func has(_ bytes: Span<UInt8>, at place: Int) -> Bool {
    guard bytes.count <= count - place else { return false }
    var index = 0
    while index + 8 <= bytes.count {
      if word(at: place + index) != bytes.word(at: index) { return false }
      index += 8
    }
    while index < bytes.count {
      if self[place + index] != bytes[index] { return false }
      index += 1
    }
    return true
  }

  /// Where the text that begins at `place` stands, up to a byte that is no printing ASCII, or means something in JSON.
  fileprivate func plainText(from place: Int) -> Range<Int> {
    var index = place
    while index < count {
      let byte = self[index]
      if byte < 0x20 || byte > 0x7E || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
      index += 1
    }
    return place..<index
  }
}
