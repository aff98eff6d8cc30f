// The frames that programs send again and again, read without a JSON reader: calls of `Get`, and of `Set` with nothing but
// a secret, in the words and the order in which client libraries write them, with texts that need no escape. Whatever
// differs by a byte is for `RequestReader`; what is read here is what it would read. Of a Get first only the names are
// found: a token that is at hand is found by them as they stand in the frame.

import SecretMemory
import VaultModel

/// A call that asks for nothing but a token, or stores nothing but a secret.
public enum PlainCall {
  private static let get = Array(#"{"method":"\#(VaultInterface.name).Get","parameters":{"key":""#.utf8)
  private static let set = Array(#"{"method":"\#(VaultInterface.name).Set","parameters":{"key":""#.utf8)
  private static let account = Array(#"","account":""#.utf8)
  private static let secret = Array(#"","secret":""#.utf8)
  private static let end = Array(#""}}"#.utf8)

  /// Where the key and the account stand in a frame that asks for a token and for nothing else, as they are; `nil` where
  /// it is another frame, or another way to write it. Whether they are names nobody has looked.
  public static func names(ofGet frame: Span<UInt8>) -> (key: Range<Int>, account: Range<Int>)? {
    guard frame.has(get.span, at: 0) else { return nil }
    let (key, account, place) = subject(frame, from: get.count)
    guard frame.ends(with: end.span, at: place) else { return nil }
    return (key, account)
  }

  /// The request that a frame is; `nil` where it is another one, or another way to write it. Names are looked up among
  /// those of earlier requests, and remembered.
  static func request(_ frame: Span<UInt8>, _ names: inout NameTable) -> Request? {
    if let (key, account) = self.names(ofGet: frame) {
      return id(frame.extracting(key), frame.extracting(account), &names).map {
        Request(call: .get(GetRequest(id: $0)))
      }
    }
    guard frame.has(set.span, at: 0) else { return nil }
    let (key, account, place) = subject(frame, from: set.count)
    guard frame.has(secret.span, at: place) else { return nil }
    let start = place + secret.count
    let text = start..<frame.firstEscaped(from: start)
    guard frame.ends(with: end.span, at: text.upperBound), text.count <= Limits.secretBytes,
      frame.extracting(text).isASCII, let bytes = try? SecretBytes(copying: frame.extracting(text)),
      let id = id(frame.extracting(key), frame.extracting(account), &names)
    else { return nil }
    return Request(call: .set(SetRequest(id: id, secret: SharedSecret(bytes))))
  }

  /// Where the key stands and the account, and what comes behind them.
  private static func subject(
    _ frame: Span<UInt8>, from start: Int
  ) -> (key: Range<Int>, account: Range<Int>, place: Int) {
    let key = start..<frame.firstEscaped(from: start)
    guard frame.has(account.span, at: key.upperBound) else { return (key, 0..<0, key.upperBound) }
    let start = key.upperBound + account.count
    let owner = start..<frame.firstEscaped(from: start)
    return (key, owner, owner.upperBound)
  }

  private static func id(_ key: Span<UInt8>, _ account: Span<UInt8>, _ names: inout NameTable) -> EntryID? {
    if let known = names.id(key, account) { return known }
    guard key.isPlain, account.isPlain, let id = EntryID(key: key, account: account) else { return nil }
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

  /// Whether these bytes stand at `place`, and nothing behind them.
  @inline(__always)
  fileprivate func ends(with bytes: Span<UInt8>, at place: Int) -> Bool {
    place + bytes.count == count && has(bytes, at: place)
  }

  /// Whether all of them are printing ASCII.
  fileprivate var isPlain: Bool {
    for index in indices where self[index] < 0x20 || self[index] > 0x7E { return false }
    return true
  }
}
