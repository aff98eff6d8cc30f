// Names that requests were about before: a program asks for the same few tokens again and again, and a name that was judged
// once need not be judged, copied and hashed again. Beside `PlainCall`; forgotten when nobody asks. Holds no secret.

import SecretMemory
import VaultModel

/// Keys and accounts, found by their bytes. Each has two places where it may be; what comes to two that are taken takes
/// the first, and what was there the second.
struct NameTable {
  private var places: [EntryID?] = []

  /// The entry whose key and account these bytes are, if it is known.
  func id(_ key: Span<UInt8>, _ account: Span<UInt8>) -> EntryID? {
    if places.isEmpty { return nil }
    let place = Self.place(key, account)
    for index in place...place + 1 {
      if let id = places[index], id.isOf(key: key, account: account) { return id }
    }
    return nil
  }

  /// Remembers the entry whose key and account these bytes are.
  mutating func keep(_ id: EntryID, _ key: Span<UInt8>, _ account: Span<UInt8>) {
    if places.isEmpty { places = Array(repeating: nil, count: Limits.namesKept) }
    let place = Self.place(key, account)
    if places[place] != nil { places[place + 1] = places[place] }
    places[place] = id
  }

  /// The entry as others know it who asked for it: those need not compare names.
  mutating func shared(_ id: EntryID) -> EntryID {
    let (key, account) = (id.key.text, id.account.text)
    if let known = self.id(key.utf8.span, account.utf8.span) { return known }
    keep(id, key.utf8.span, account.utf8.span)
    return id
  }

  /// Forgets them all.
  mutating func forgetAll() {
    places = []
  }

  /// The first of the two places where names are looked for. Who chooses names that meet makes itself slower.
  private static func place(_ key: Span<UInt8>, _ account: Span<UInt8>) -> Int {
    NameHash.of(key, account) >> 32 & (Limits.namesKept - 2)
  }
}
