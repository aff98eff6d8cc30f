// A record that was read or written before, as it is kept: the entry as bytes, the secret under a shield. Made once, and
// read by every look-up that finds it in `RecordCache`; of a token without an end the whole answer is written from it.
// Holds no plain secret, and judges nothing.

import Database
import SecretMemory
import VaultCrypto
import VaultModel

/// A record that authenticated when it was read, or that was just written.
final class KeptRecord: SealedToken {
  /// What of it is in the clear.
  let name: RecordName
  /// Whether no time will come at which it is over, and it has a secret.
  let isEndless: Bool

  // Form of the entry, secret and, where it was worked out, multiplier: there may be 100,000 of these, so each is one piece
  // of memory.
  private let bytes: [UInt8]
  private let texts: EntryForm.Texts
  private let secretStart: UInt32
  private let secretEnd: UInt32
  private let shield: Shield
  private let counter: UInt64
  // What `facts` has and `name` does not: one need not go through the form for it.
  private let created: WallTime
  private let modified: WallTime
  private let untilLogout: Bool
  private let store: StoreName

  /// A record of these; `nil` where it can't be kept. `form` is the entry as `EntryForm` writes it; `secret` is plain, and
  /// covered by `shield` from here on.
  init?(
    _ name: RecordName, _ entry: Entry, _ form: Span<UInt8>, _ secret: Span<UInt8>,
    multiplier: FieldElement?, under shield: Shield
  ) {
    guard let texts = EntryForm.Texts(in: form) else { return nil }
    let (start, end) = (form.count, form.count + secret.count)
    var bytes = [UInt8](repeating: 0, count: end + (multiplier == nil ? 0 : FieldElement.size))
    var span = bytes.mutableSpan
    span.write(form, at: 0)
    if let multiplier { span.write(multiplier.value, at: end) }
    let counter = span.withPart(start..<end) { room in try? shield.cover(secret, into: &room) }
    guard let counter else { return nil }
    (self.name, isEndless) = (name, !entry.hasEnd && !entry.isPurged)
    (self.bytes, self.texts) = (bytes, texts)
    (secretStart, secretEnd) = (UInt32(start), UInt32(end))
    (self.shield, self.counter) = (shield, counter)
    (created, modified) = (entry.created, entry.modified)
    (untilLogout, store) = (entry.untilLogout, entry.store)
  }

  /// Reads the entry, as `EntryForm` writes it.
  func withForm<Result>(_ body: (Span<UInt8>) -> Result) -> Result {
    let bytes = bytes
    return body(bytes.span.extracting(first: Int(secretStart)))
  }

  /// What its id counts with in the sums over the set; `nil` where that was not worked out.
  var multiplier: FieldElement? {
    let bytes = bytes
    return bytes.count > secretEnd ? FieldElement(reducing: bytes.span.wideNumber(at: Int(secretEnd))) : nil
  }

  /// Whether it is the record of this key and account.
  func isOf(_ key: Span<UInt8>, _ account: Span<UInt8>) -> Bool {
    let bytes = bytes
    return bytes.span.extracting(texts.key).isEqual(to: key)
      && bytes.span.extracting(texts.account).isEqual(to: account)
  }

  /// What it takes of the memory that records may take.
  var size: Int { Self.overhead + bytes.count }

  /// What a record of these takes at most.
  static func size(_ form: Span<UInt8>, _ secret: Span<UInt8>) -> Int {
    overhead + form.count + secret.count + FieldElement.size
  }

  // Two places in a dictionary that is half full, the object, and an array's header.
  private static let overhead = 4 * MemoryLayout<Int>.stride + 112 + 48

  // MARK: A sealed token

  var count: Int { Int(secretEnd - secretStart) }

  func open(into room: inout MutableSpan<UInt8>) -> Bool {
    let bytes = bytes
    return shield.uncover(bytes.span.extracting(Int(secretStart)..<Int(secretEnd)), counter, into: &room)
  }

  var facts: EntryFacts {
    EntryFacts(
      version: name.standing.version, created: created, modified: modified, untilLogout: untilLogout,
      hasLabel: texts.hasLabel, size: count, store: store, pending: name.standing.marks.contains(.pending))
  }

  var textBytes: Int { texts.key.count + texts.account.count + texts.label.count }

  func withTexts<Failure: Error>(
    _ body: (_ key: Span<UInt8>, _ account: Span<UInt8>, _ label: Span<UInt8>) throws(Failure) -> Void
  ) throws(Failure) {
    let bytes = bytes
    try body(
      bytes.span.extracting(texts.key), bytes.span.extracting(texts.account),
      bytes.span.extracting(texts.label))
  }
}
