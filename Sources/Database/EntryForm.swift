// An entry as bytes, the same in the vault file and in `state.db`: a number for the form, then fields of a
// tag, a length and a value. A field that a program does not know is passed over; a change that it must know
// raises the form's number. docs/vault-file.md says the same for readers in other languages. Holds no secret.

import VaultModel

/// Why bytes are no entry.
public enum EntryFormError: Error, Hashable, Sendable {
  /// They are none.
  case malformed
  /// They are of a form that came after this program.
  case newer(form: Int64)
}

/// Writes and reads entries.
public enum EntryForm {
  /// The form that this program writes, and the last that it reads.
  public static let present: UInt8 = 1

  private enum Tag: UInt8 {
    case key = 1
    case account = 2
    case version = 3
    case created = 4
    case modified = 5
    case expires = 6
    case idle = 7
    case untilLogout = 8
    case label = 9
    case size = 10
    case pending = 11
    case lastUse = 12
    case setAt = 13
    case purged = 14
  }

  /// The bytes of an entry: everything but the store that it is in.
  public static func bytes(of entry: Entry) -> [UInt8] {
    var writer = Writer()
    writer.add(.key, entry.id.key.text)
    writer.add(.account, entry.id.account.text)
    writer.add(.version, entry.version)
    writer.add(.created, entry.created.milliseconds)
    writer.add(.modified, entry.modified.milliseconds)
    if let expires = entry.expires { writer.add(.expires, expires.milliseconds) }
    if let idle = entry.idle { writer.add(.idle, idle) }
    if entry.untilLogout { writer.add(.untilLogout, "") }
    if let label = entry.label { writer.add(.label, label) }
    writer.add(.size, Int64(entry.size))
    if entry.pending { writer.add(.pending, "") }
    if let lastUse = entry.lastUse { writer.add(.lastUse, lastUse) }
    if let setAt = entry.setAt { writer.add(.setAt, setAt) }
    if entry.isPurged { writer.add(.purged, "") }
    return writer.bytes
  }

  /// The entry that `bytes` are, in the store that it is in. Where `id` says whose it must be, it is that one's.
  /// - Throws: where they are none, or another's.
  /// - Returns: the entry.
  public static func entry(
    _ bytes: Span<UInt8>, in store: StoreName, of id: EntryID? = nil
  ) throws(EntryFormError) -> Entry {
    guard bytes.count > 0, bytes[0] >= 1 else { throw .malformed }
    guard bytes[0] <= present else { throw .newer(form: Int64(bytes[0])) }
    let owner = if let id { id } else { try self.id(in: bytes) }
    var reading = Reading(owner, store)
    try forEachField(bytes) { tag, value throws(EntryFormError) in try reading.take(tag, value) }
    return try reading.end()
  }

  /// Where the texts of an entry stand in its bytes.
  public struct Texts: Sendable {
    private var ends: (key: Part, account: Part, label: Part) = (Part(), Part(), Part())
    /// Whether there is a label, which may be empty.
    public private(set) var hasLabel = false

    // What is kept 100,000 times: an entry's bytes are fewer than 64 KiB.
    private struct Part {
      var start: UInt16 = 0
      var end: UInt16 = 0
    }

    /// Those of the entry that `bytes` are; `nil` where they are none, or too many to be kept.
    public init?(in bytes: Span<UInt8>) {
      guard bytes.count > 0, bytes.count <= UInt16.max, bytes[0] == present else { return nil }
      let isWhole: Void? = try? forEachPlace(bytes) { tag, place in
        let part = Part(start: UInt16(place.lowerBound), end: UInt16(place.upperBound))
        if tag == .key { ends.key = part }
        if tag == .account { ends.account = part }
        if tag == .label { (ends.label, hasLabel) = (part, true) }
      }
      if isWhole == nil { return nil }
    }

    /// The key.
    public var key: Range<Int> { Int(ends.key.start)..<Int(ends.key.end) }
    /// The account.
    public var account: Range<Int> { Int(ends.account.start)..<Int(ends.account.end) }
    /// The label; empty where there is none.
    public var label: Range<Int> { Int(ends.label.start)..<Int(ends.label.end) }
  }

  /// Hands out the fields that this program knows, in their order.
  private static func forEachField(
    _ bytes: Span<UInt8>, _ body: (Tag, Span<UInt8>) throws(EntryFormError) -> Void
  ) throws(EntryFormError) {
    try forEachPlace(bytes) { tag, place throws(EntryFormError) in try body(tag, bytes.extracting(place)) }
  }

  /// Says where the fields stand that this program knows, in their order.
  private static func forEachPlace(
    _ bytes: Span<UInt8>, _ body: (Tag, Range<Int>) throws(EntryFormError) -> Void
  ) throws(EntryFormError) {
    var at = 1
    while at < bytes.count {
      guard at + 3 <= bytes.count else { throw .malformed }
      let start = at + 3
      let end = start + (Int(bytes[at + 1]) << 8 | Int(bytes[at + 2]))
      guard end <= bytes.count else { throw .malformed }
      if let tag = Tag(rawValue: bytes[at]) { try body(tag, start..<end) }
      at = end
    }
  }

  /// Whose entry it is, as it says itself.
  private static func id(in bytes: Span<UInt8>) throws(EntryFormError) -> EntryID {
    var (key, account): (Key?, Account?)
    try forEachField(bytes) { tag, value throws(EntryFormError) in
      if tag == .key { key = try? Key(try value.text()) }
      if tag == .account { account = try? Account(try value.text()) }
    }
    guard let key, let account else { throw .malformed }
    return EntryID(key, account)
  }

  private struct Writer {
    var bytes: [UInt8]

    init() {
      bytes = []
      // Names and moments of the usual size.
      bytes.reserveCapacity(256)
      bytes.append(EntryForm.present)
    }

    private mutating func begin(_ tag: Tag, _ count: Int) {
      bytes.append(tag.rawValue)
      bytes.append(UInt8(count >> 8))
      bytes.append(UInt8(count & 0xFF))
    }

    mutating func add(_ tag: Tag, _ text: String) {
      let count = text.utf8.count
      // Keys, accounts and labels are far below 64 KiB (`Limits`).
      precondition(count <= 0xFFFF)
      begin(tag, count)
      bytes.append(contentsOf: text.utf8)
    }

    mutating func add(_ tag: Tag, _ number: Int64) {
      begin(tag, 8)
      add(UInt64(bitPattern: number))
    }

    /// Wall clock, boot clock, and the run of the machine: 32 bytes.
    mutating func add(_ tag: Tag, _ moment: Moment) {
      begin(tag, 32)
      add(UInt64(bitPattern: moment.wall.milliseconds))
      add(UInt64(bitPattern: moment.boot.milliseconds))
      add(moment.bootID.high)
      add(moment.bootID.low)
    }

    private mutating func add(_ word: UInt64) {
      unsafe withUnsafeBytes(of: word.bigEndian) { unsafe bytes.append(contentsOf: $0) }
    }
  }

  /// An entry that is being read.
  private struct Reading {
    private var entry: Entry
    /// The tags that came, a bit each.
    private var seen: UInt32 = 0

    /// Nothing was read yet; it must turn out to be the entry of `id`.
    init(_ id: EntryID, _ store: StoreName) {
      let never = WallTime(milliseconds: 0)
      entry = Entry(id: id, version: 0, created: never, modified: never, size: 0, store: store)
    }

    mutating func take(_ tag: Tag, _ value: Span<UInt8>) throws(EntryFormError) {
      seen |= 1 << UInt32(tag.rawValue)
      switch tag {
      case .key: guard value.holds(entry.id.key.text) else { throw .malformed }
      case .account: guard value.holds(entry.id.account.text) else { throw .malformed }
      case .version: entry.version = try value.number()
      case .created: entry.created = WallTime(milliseconds: try value.number())
      case .modified: entry.modified = WallTime(milliseconds: try value.number())
      case .expires: entry.expires = WallTime(milliseconds: try value.number())
      case .idle: entry.idle = try value.number()
      case .untilLogout: entry.untilLogout = true
      case .label: entry.label = try value.text()
      case .size: entry.size = Int(try value.number())
      case .pending: entry.pending = true
      case .lastUse: entry.lastUse = try value.moment()
      case .setAt: entry.setAt = try value.moment()
      case .purged: entry.isPurged = true
      }
    }

    /// What no entry is without.
    private static let needed = [Tag.key, .account, .version, .created, .modified, .size]
      .reduce(UInt32(0)) { $0 | 1 << UInt32($1.rawValue) }

    /// The entry, where it is whole.
    func end() throws(EntryFormError) -> Entry {
      guard seen & Self.needed == Self.needed, (0...Limits.secretBytes).contains(entry.size) else {
        throw .malformed
      }
      return entry
    }
  }
}

extension Span where Element == UInt8 {
  fileprivate func number() throws(EntryFormError) -> Int64 {
    guard count == 8 else { throw .malformed }
    return Int64(bitPattern: word(at: 0))
  }

  fileprivate func moment() throws(EntryFormError) -> Moment {
    guard count == 32 else { throw .malformed }
    return Moment(
      wall: WallTime(milliseconds: Int64(bitPattern: word(at: 0))),
      boot: BootTime(milliseconds: Int64(bitPattern: word(at: 8))),
      bootID: BootID(high: word(at: 16), low: word(at: 24)))
  }

  private func word(at start: Int) -> UInt64 {
    UInt64(bigEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
  }

  fileprivate func text() throws(EntryFormError) -> String {
    let text = unsafe withUnsafeBytes { unsafe String(validating: $0, as: UTF8.self) }
    guard let text else { throw .malformed }
    return text
  }

  /// Whether these are the bytes of `text`.
  fileprivate func holds(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { other in
      guard other.count == count else { return false }
      for index in indices where unsafe self[index] != other[index] { return false }
      return true
    }
  }
}
