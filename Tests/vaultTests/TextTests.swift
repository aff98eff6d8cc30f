// Text for people: tables, times in words, and what a terminal must not see.

import SecretMemory
import Testing
import VaultModel

@testable import vault

@Suite struct TextTests {
  private let now = WallTime(seconds: 1_800_000_000)

  private func entry(_ key: String, _ account: String = "", expiresIn: Int64? = nil, label: String? = nil)
    throws
    -> Entry
  {
    Entry(
      id: EntryID(try Key(key), try Account(account)), version: 1, created: now, modified: now,
      expires: expiresIn.map { WallTime(seconds: now.seconds + $0) }, label: label, size: 34,
      store: .secretService)
  }

  @Test(
    "a time is told to the nearest that a person would say",
    arguments: [
      (0, "0 s"), (59, "59 s"), (60, "1 min"), (89, "1 min"), (90, "2 min"), (3_569, "59 min"),
      (3_570, "1 h"),
      (5_400, "1 h 30 min"), (7_199, "2 h"), (7_200, "2 h"), (35_000, "9 h 43 min"), (36_000, "10 h"),
      (172_799, "2 d"),
      (604_800, "7 d"), (-5, "0 s"), (Int64.max, "365243 d"),
    ] as [(Int64, String)])
  func words(seconds: Int64, text: String) {
    #expect(inWords(seconds: seconds) == text)
  }

  @Test("a list is aligned columns, without those that nothing is in")
  func list() throws {
    let entries = [try entry("b.long-name", expiresIn: 7_199), try entry("a.b")]
    #expect(
      listText(entries, now: now, style: Style(isOn: false)) == """
        KEY          EXPIRES  STORE           SIZE
        a.b          never    secret-service  34
        b.long-name  in 2 h   secret-service  34

        """)
    #expect(
      listText([try entry("a.b"), try entry("a.b", "世界", label: "x")], now: now, style: Style(isOn: false))
        == """
        KEY  ACCOUNT  EXPIRES  STORE           SIZE  LABEL
        a.b           never    secret-service  34
        a.b  世界     never    secret-service  34    x

        """)
    #expect(listText([], now: now, style: Style(isOn: true)) == "nothing stored\n")
  }

  @Test("idle times and logins are told with the expiry")
  func expiry() throws {
    var entry = try entry("a.b", expiresIn: 60)
    entry.idle = 7_200
    entry.untilLogout = true
    #expect(expiryInWords(of: entry, now: now) == "in 1 min, 2 h after use, at logout")
    entry.expires = now
    #expect(expiryInWords(of: entry, now: now).hasPrefix("over"))
  }

  @Test("a terminal sees no command in text from somewhere else")
  func treacherous() throws {
    #expect(printable("a\u{1B}[2Jb\nc\u{7F}\u{9B}\u{202E}") == #"a\u{1b}[2Jb\u{a}c\u{7f}\u{9b}\u{202e}"#)
    #expect(printable("naïve 🔑 世界") == "naïve 🔑 世界")
    let status = DaemonStatus(
      version: "0", pid: 1, since: now, preference: .auto,
      stores: [StoreStatus(store: .file, state: .damaged, detail: "\u{1B}]0;x\u{7}", entries: 0, pending: 0)],
      protections: ["dumps": false])
    let text = statusText(status, now: now, style: Style(isOn: false))
    #expect(!text.unicodeScalars.contains { $0.isControl && $0 != "\n" })
    #expect(text.contains(#"\u{1b}]0;x\u{7}"#))
  }

  @Test("colour is on a terminal only, and does not change the columns")
  func colour() throws {
    let entries = [try entry("a.b")]
    let plain = listText(entries, now: now, style: Style(isOn: false))
    let coloured = listText(entries, now: now, style: Style(isOn: true))
    #expect(coloured != plain)
    #expect(
      coloured.replacing("\u{1B}[1m", with: "").replacing("\u{1B}[0m", with: "") == plain)
    #expect(!plain.split(separator: "\n").contains { $0.last == " " })
  }

  @Test(
    "one line end at the very end of the input is dropped",
    arguments: [
      ("tok", "tok"), ("tok\n", "tok"), ("tok\r\n", "tok"), ("a\nb\n", "a\nb"), ("\n", ""), ("\r\n", ""),
      ("", ""),
      ("tok\n\n", "tok\n"), ("tok\r", "tok\r"), ("\r\n\r\n", "\r\n"), ("\n\r", "\n\r"),
    ])
  func lineEnds(input: String, kept: String) throws {
    var buffer = try SecretBuffer(capacity: 64, limit: 64)
    try buffer.append(input.utf8.span)
    buffer.dropLineEnd()
    #expect(buffer.withBytes { bytes in bytes.indices.map { bytes[$0] } } == Array(kept.utf8))
  }
}
