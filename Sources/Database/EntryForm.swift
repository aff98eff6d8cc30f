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
    var fields = Fields()
    var at = 1
    while at < bytes.count {
      guard at + 3 <= bytes.count else { throw .malformed }
      let start = at + 3
      let end = start + (Int(bytes[at + 1]) << 8 | Int(bytes[at + 2]))
      guard end <= bytes.count else { throw .malformed }
      if let tag = Tag(rawValue: bytes[at]) { try fields.take(tag, bytes.extracting(start..<end), of: id) }
      at = end
    }
    return try fields.entry(in: store, of: id)
  }

  private struct Writer {
    var bytes: [UInt8] = [EntryForm.present]

    mutating func add(_ tag: Tag, _ text: String) {
      let count = text.utf8.count
      // Keys, accounts and labels are far below 64 KiB (`Limits`).
      precondition(count <= 0xFFFF)
      bytes += [tag.rawValue, UInt8(count >> 8), UInt8(count & 0xFF)]
      bytes += text.utf8
    }

    mutating func add(_ tag: Tag, _ number: Int64) {
      bytes += [tag.rawValue, 0, 8]
      add(UInt64(bitPattern: number))
    }

    /// Wall clock, boot clock, and the run of the machine: 32 bytes.
    mutating func add(_ tag: Tag, _ moment: Moment) {
      bytes += [tag.rawValue, 0, 32]
      add(UInt64(bitPattern: moment.wall.milliseconds))
      add(UInt64(bitPattern: moment.boot.milliseconds))
      add(moment.bootID.high)
      add(moment.bootID.low)
    }

    private mutating func add(_ word: UInt64) {
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(shift)))
      }
    }
  }

  private struct Fields {
    var key: Key?
    var account: Account?
    var version: Version?
    var created: WallTime?
    var modified: WallTime?
    var expires: WallTime?
    var idle: Int64?
    var untilLogout = false
    var label: String?
    var size: Int64?
    var pending = false
    var lastUse: Moment?
    var setAt: Moment?
    var isPurged = false

    mutating func take(_ tag: Tag, _ value: Span<UInt8>, of id: EntryID?) throws(EntryFormError) {
      switch tag {
      case .key:
        if let id {
          guard value.holds(id.key.text) else { throw .malformed }
          key = id.key
        } else {
          key = try? Key(try value.text())
        }
      case .account:
        if let id {
          guard value.holds(id.account.text) else { throw .malformed }
          account = id.account
        } else {
          account = try? Account(try value.text())
        }
      case .version: version = try value.number()
      case .created: created = WallTime(milliseconds: try value.number())
      case .modified: modified = WallTime(milliseconds: try value.number())
      case .expires: expires = WallTime(milliseconds: try value.number())
      case .idle: idle = try value.number()
      case .untilLogout: untilLogout = true
      case .label: label = try value.text()
      case .size: size = try value.number()
      case .pending: pending = true
      case .lastUse: lastUse = try value.moment()
      case .setAt: setAt = try value.moment()
      case .purged: isPurged = true
      }
    }

    func entry(in store: StoreName, of id: EntryID?) throws(EntryFormError) -> Entry {
      guard let key, let account, let version, let created, let modified, let size,
        (0...Int64(Limits.secretBytes)).contains(size)
      else { throw .malformed }
      return Entry(
        id: id ?? EntryID(key, account), version: version, created: created, modified: modified,
        expires: expires,
        idle: idle, untilLogout: untilLogout, label: label, size: Int(size), store: store, pending: pending,
        setAt: setAt, lastUse: lastUse, isPurged: isPurged)
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
    var word: UInt64 = 0
    for index in start..<start + 8 { word = word << 8 | UInt64(self[index]) }
    return word
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
