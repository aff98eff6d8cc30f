// Entries as bytes: what goes in comes out, and what is no entry is none.

import Database
import Testing
import VaultModel

@Suite struct EntryFormTests {
  private func entry() throws -> Entry {
    Entry(
      id: EntryID(try Key("com.example.Chat.caf\u{E9}"), try Account("bob@example.org")),
      version: 1_900_000_000_123,
      created: WallTime(milliseconds: 1_899_999_999_001), modified: WallTime(milliseconds: 1_900_000_000_002),
      expires: WallTime(milliseconds: 1_900_000_600_003), idle: 7_200, untilLogout: true, label: "a label 🔑",
      size: 1_048_576, store: .file, pending: true,
      setAt: moment(1_900_000_000_002), lastUse: moment(1_900_000_000_777), isPurged: true)
  }

  private func moment(_ wall: Int64) -> Moment {
    Moment(
      wall: WallTime(milliseconds: wall), boot: BootTime(milliseconds: wall - 1_899_000_000_000),
      bootID: BootID(high: 0xFEDC_BA98_7654_3210, low: .max - 1))
  }

  private func read(_ bytes: [UInt8], of id: EntryID? = nil) throws(EntryFormError) -> Entry {
    try EntryForm.entry(bytes.span, in: .file, of: id)
  }

  @Test("every field comes back")
  func everyField() throws {
    let full = try entry()
    #expect(try read(EntryForm.bytes(of: full)) == full)
    #expect(try read(EntryForm.bytes(of: full), of: full.id) == full)
    let bare = Entry(
      id: EntryID(try Key("a.b")), version: 1, created: WallTime(milliseconds: 0),
      modified: WallTime(milliseconds: -1),
      size: 0, store: .file)
    #expect(try read(EntryForm.bytes(of: bare)) == bare)
  }

  @Test("a field that is not known is passed over, a newer form is not")
  func unknown() throws {
    let full = try entry()
    var bytes = EntryForm.bytes(of: full)
    bytes += [200, 0, 3, 1, 2, 3]
    #expect(try read(bytes) == full)
    bytes[0] = 2
    #expect(throws: EntryFormError.newer(form: 2)) { try read(bytes) }
    bytes[0] = 0
    #expect(throws: EntryFormError.malformed) { try read(bytes) }
  }

  @Test("bytes that end too early are no entry, wherever they end")
  func truncated() throws {
    // Without what comes behind the size: it is optional.
    var least = try entry()
    (least.pending, least.setAt, least.lastUse, least.isPurged) = (false, nil, nil, false)
    let bytes = EntryForm.bytes(of: least)
    for count in 0..<bytes.count {
      #expect(throws: EntryFormError.self, "\(count)") { try read(Array(bytes[..<count])) }
    }
  }

  @Test("an entry of another key is refused where the key is known")
  func another() throws {
    let bytes = EntryForm.bytes(of: try entry())
    let decomposed = EntryID(try Key("com.example.Chat.cafe\u{301}"), try Account("bob@example.org"))
    #expect(throws: EntryFormError.malformed) { try read(bytes, of: decomposed) }
  }

  @Test("sizes out of bounds and keys against the rules are refused")
  func bounds() throws {
    var large = try entry()
    large.size = Limits.secretBytes + 1
    #expect(throws: EntryFormError.malformed) { try read(EntryForm.bytes(of: large)) }
    large.size = -1
    #expect(throws: EntryFormError.malformed) { try read(EntryForm.bytes(of: large)) }
    var bytes = EntryForm.bytes(of: try entry())
    bytes[4] = 0x0A  // the first byte of the key
    #expect(throws: EntryFormError.malformed) { try read(bytes) }
  }
}
