// The log: what a line looks like, what cannot get into one, and that nobody ever waits for its reader.

import CLinux
import Foundation
import TestSupport
import Testing
import VaultCore
import VaultModel
import VaultWire

@testable import VaultDaemon

@Suite struct JournalTests {
  /// A journal that writes into a pipe.
  @VaultActor
  private final class Written {
    let clock = SettableClock()
    let alarms: Alarms
    let journal: Journal
    private let reading: Int32
    private let writing: Int32

    init(level: Journal.Level = .debug, showsPriorities: Bool = false) {
      var ends: [Int32] = [0, 0]
      _ = unsafe pipe(&ends)
      (reading, writing) = (ends[0], ends[1])
      _ = fcntl(reading, F_SETFL, O_NONBLOCK)
      alarms = clock.alarms
      journal = Journal(
        level: level, showsPriorities: showsPriorities, output: writing, clock: clock, alarms: alarms)
    }

    deinit {
      close(reading)
      close(writing)
    }

    /// What was written since the last call.
    func text() -> String {
      var all: [UInt8] = []
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      while case let count = unsafe read(reading, &bytes, bytes.count), count > 0 {
        all += bytes.prefix(count)
      }
      return String(decoding: all, as: UTF8.self)
    }

    /// The log of a connection of this process.
    func log() throws -> RequestLog {
      var log: RequestLog?
      let caller = try Caller.pair { descriptor in
        log = (try? Peer(of: descriptor.number)).map { RequestLog(journal: journal, peer: $0) }
      }
      _ = caller
      return try #require(log)
    }

    func pass(milliseconds: Int64) {
      clock.pass(milliseconds: milliseconds)
      alarms.ring()
    }
  }

  private static func get(_ key: String, account: String = "") throws -> Call {
    .get(GetRequest(id: EntryID(try Key(key), try Account(account))))
  }

  @Test("a line is written at the end of the turn, with its priority where the journal reads it")
  func line() async throws {
    _ = try await RealLoop.get()
    let plain = await Written()
    await plain.journal.note(.warning, "something")
    #expect(await plain.text() == "")
    await plain.journal.endTurn()
    #expect(await plain.text() == "something\n")
    let journald = await Written(showsPriorities: true)
    for level in Journal.Level.allCases { await journald.journal.note(level, level.rawValue) }
    await journald.journal.endTurn()
    #expect(await journald.text() == "<3>error\n<4>warning\n<6>info\n<7>debug\n")
  }

  @Test(
    "the end of a turn with lines is asked for once, also for lines that were there before, and as long as some are left"
  )
  func announced() async throws {
    _ = try await RealLoop.get()
    try await check()

    @VaultActor func check() throws {
      let written = Written(level: .info)
      let journal = written.journal
      var asked = 0
      journal.note(.info, "before anybody listened")
      journal.onLines = { asked += 1 }
      #expect(asked == 1)
      journal.note(.info, "one more")
      #expect(asked == 1)
      journal.endTurn()
      #expect(written.text() == "before anybody listened\none more\n")
      journal.note(.debug, "of no interest")
      #expect(asked == 1)
      // More than a pipe takes: the rest is tried again at the end of each turn, until somebody reads.
      for _ in 0..<17 { journal.note(.info, String(repeating: "x", count: 4_000)) }
      #expect(asked == 2)
      journal.endTurn()
      #expect(asked == 3)
      journal.endTurn()
      #expect(asked == 4)
      _ = written.text()
      written.pass(milliseconds: Limits.journalMilliseconds)
      journal.endTurn()
      #expect(written.text().hasSuffix("x\n"))
      journal.note(.info, "and again")
      #expect(asked == 5)
    }
  }

  @Test("lines below the level are not written")
  func level() async throws {
    _ = try await RealLoop.get()
    let written = await Written(level: .warning)
    await written.journal.note(.info, "no")
    await written.journal.note(.warning, "yes")
    await written.journal.endTurn()
    #expect(await written.text() == "yes\n")
  }

  @Test(
    "nothing in a line starts another one, colours a terminal or turns the text around",
    arguments: [
      "a\nb", "a\r\nb", "a\u{1B}[31mb", "a\u{9B}b", "a\u{202E}b", "a\u{2028}b", "a\u{0}b", "a\u{7F}b",
    ])
  func controls(text: String) async throws {
    _ = try await RealLoop.get()
    let written = await Written()
    await written.journal.note(.info, text)
    await written.journal.endTurn()
    let line = await written.text()
    #expect(line.utf8.count(where: { $0 == 0x0A }) == 1 && line.hasSuffix("\n"))
    #expect(
      line.unicodeScalars.dropLast().allSatisfy { !$0.isControl && $0.value != 0x202E && $0.value != 0x2028 })
    #expect(line.contains("\\u{"))
  }

  @Test("a value that could be read in two ways stands in quotes")
  func quotes() async throws {
    _ = try await RealLoop.get()
    let written = await Written()
    await written.journal.line(.info) { line in
      line.add("said")
      line.add("plain", "Back4Gram.sessionToken")
      line.add("empty", "")
      line.add("space", "a b")
      line.add("quote", #"a" outcome="ok"#)
      line.add("emoji", "🔑 é")
    }
    await written.journal.endTurn()
    #expect(
      await written.text()
        == #"said plain=Back4Gram.sessionToken empty="" space="a b" quote="a\" outcome=\"ok" emoji="🔑 é""#
        + "\n")
  }

  @Test("a request is a line: what, whose, outcome, and which program")
  func request() async throws {
    _ = try await RealLoop.get()
    let written = await Written(level: .info)
    let log = try await written.log()
    await log.prepare()
    let missing = Answer.failed(.notFound(EntryID(try Key("n.k"))))
    await log.note(try Self.get("n.k", account: "alice"), missing)
    await log.note(.lock, .reply(.empty))
    await log.note(.list(try Namespace("n")), .failed(.locked(store: .file, reason: "the file is locked")))
    await written.journal.endTurn()
    let lines = await written.text().split(separator: "\n")
    try #require(lines.count == 3)
    #expect(lines[0].hasPrefix("get key=n.k account=alice outcome=NotFound pid=\(getpid()) exe=/"))
    #expect(lines[1].hasPrefix("lock outcome=ok pid="))
    #expect(lines[2].hasPrefix(#"list namespace=n outcome=Locked reason="the file is locked" pid="#))
  }

  @Test("equal reads of one client are one line at once, and one a window that counts the others")
  func repeats() async throws {
    _ = try await RealLoop.get()
    let written = await Written(level: .info)
    let log = try await written.log()
    for _ in 0..<1_000 {
      await log.note(try Self.get("n.k"), .reply(.empty))
      await written.journal.endTurn()
    }
    #expect(await written.text().split(separator: "\n").count == 1)
    await written.pass(milliseconds: Limits.journalMilliseconds)
    let counted = await written.text()
    #expect(counted.contains("times=999") && counted.contains("key=n.k"))
    // A change in between comes in its place.
    await log.note(try Self.get("n.k"), .reply(.empty))
    await log.note(try Self.get("n.k"), .reply(.empty))
    await log.note(.lock, .reply(.empty))
    await written.journal.flush()
    let names = await written.text().split(separator: "\n").map { $0.prefix(4) }
    #expect(names == ["get ", "get ", "lock"])
  }

  @Test("many lines are gathered, and all of them are written")
  func gathered() async throws {
    _ = try await RealLoop.get()
    let written = await Written()
    for number in 0..<Limits.journalWrites {
      await written.journal.note(.info, "line \(number)")
      await written.journal.endTurn()
    }
    #expect(await written.text().split(separator: "\n").count == Limits.journalWrites)
    await written.journal.note(.info, "one more")
    await written.journal.endTurn()
    #expect(await written.text() == "")
    await written.pass(milliseconds: Limits.journalMilliseconds)
    #expect(await written.text() == "one more\n")
  }

  @Test("where nobody reads, lines are dropped and counted, and nobody waits")
  func blocked() async throws {
    _ = try await RealLoop.get()
    let written = await Written()
    let long = String(repeating: "x", count: 1_000)
    for _ in 0..<1_000 {
      await written.journal.note(.info, long)
      await written.journal.flush()
    }
    let first = await written.text().split(separator: "\n").count
    await written.journal.flush()
    let second = await written.text().split(separator: "\n").count
    #expect(first + second < 1_000)
    await written.journal.note(.info, "again")
    await written.journal.flush()
    #expect(await written.text().contains("\(1_000 - first - second) lines were dropped"))
  }
}
