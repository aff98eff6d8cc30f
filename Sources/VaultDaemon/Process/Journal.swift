// The log: lines on standard error, with journald's priorities in front where the journal reads them. Lines that
// come up in one turn of the loop leave in one write; a client that reads 50,000 tokens a second makes no 50,000
// writes (see `RequestLog`). Where nobody reads standard error, lines are dropped and counted: the log never makes
// a request wait. Holds no secret, and nothing that reached it can start a line or colour a terminal.

import CLinux
import Glibc
import VaultCore
import VaultModel

/// Where the daemon says what it does.
@VaultActor
final class Journal {
  /// How important a line is.
  enum Level: String, Sendable, CaseIterable, Comparable {
    /// A bug, or something that ends the daemon.
    case error
    /// Something that a person should look at.
    case warning
    /// What each program did.
    case info
    /// Connections that come and go.
    case debug

    /// The priority of syslog(3), as journald takes it from a line's front.
    var priority: Int {
      switch self {
      case .error: 3
      case .warning: 4
      case .info: 6
      case .debug: 7
      }
    }

    static func < (left: Self, right: Self) -> Bool { left.priority < right.priority }
  }

  /// Lines of this level and of more important ones are written.
  var level: Level

  /// Called in a turn with lines, at whose end `endTurn` is to be called: with the first one, and where lines of an earlier
  /// turn are left.
  var onLines: (@VaultActor () -> Void)? { didSet { announce() } }

  private let output: Int32
  private let kind: clinux_output
  private let showsPriorities: Bool
  private let clock: any Clock
  private let alarms: Alarms

  private var lines: [UInt8] = []
  private var isAnnounced = false
  private var dropped = 0
  private var gathering: [RequestLog] = []
  private var windowEnd = BootTime(milliseconds: .min)
  private var writesInWindow = 0
  private var isAlarmSet = false

  /// A log on `output`, which stays its owner's.
  init(
    level: Level, showsPriorities: Bool, output: Int32 = STDERR_FILENO, clock: any Clock, alarms: Alarms
  ) {
    self.level = level
    self.showsPriorities = showsPriorities
    self.output = output
    kind = clinux_output_kind(output)
    self.clock = clock
    self.alarms = alarms
    lines.reserveCapacity(Limits.journalBytes / 4)
  }

  /// Writes a line of text.
  func note(_ level: Level, _ text: String) {
    line(level) { $0.add(text) }
  }

  /// Writes a line that `body` puts together; does nothing where lines of this level are not written.
  func line(_ level: Level, _ body: (inout LogLine) -> Void) {
    guard level <= self.level else { return }
    guard lines.count < Limits.journalBytes else {
      dropped += 1
      return
    }
    if dropped > 0 {
      let count = dropped
      dropped = 0
      line(.warning) { $0.add("nobody read the log for a while: \(count) lines were dropped") }
    }
    var line = LogLine(taking: &lines)
    if showsPriorities { line.add(raw: "<\(level.priority)>") }
    body(&line)
    line.end(into: &lines)
    announce()
  }

  private func announce() {
    guard !isAnnounced, !lines.isEmpty, let onLines else { return }
    isAnnounced = true
    onLines()
  }

  /// Has `log` write what it gathered once this window is over.
  func gather(_ log: RequestLog) {
    gathering.append(log)
    setAlarm()
  }

  /// Writes the lines of this turn, unless there have been many writes in this window. To be called at the end of a turn
  /// with lines.
  func endTurn() {
    isAnnounced = false
    // What is left now is for the end of the next turn.
    defer { announce() }
    guard !lines.isEmpty else { return }
    let now = clock.boot
    if now >= windowEnd {
      windowEnd = now.advanced(by: Limits.journalMilliseconds)
      writesInWindow = 0
    }
    if writesInWindow < Limits.journalWrites || lines.count > Limits.journalBytes / 2 {
      writesInWindow += 1
      write()
    } else {
      setAlarm()
    }
  }

  /// Writes everything that there is now, as far as standard error takes it.
  func flush() {
    let logs = gathering
    gathering = []
    for log in logs { log.writeGathered() }
    write()
  }

  private func setAlarm() {
    if isAlarmSet { return }
    isAlarmSet = true
    alarms.set(max(windowEnd, clock.boot.advanced(by: Limits.journalMilliseconds))) { [weak self] in
      self?.isAlarmSet = false
      self?.flush()
    }
  }

  private func write() {
    var start = 0
    while start < lines.count {
      let written = unsafe lines.withUnsafeBytes { bytes in
        unsafe clinux_write_without_blocking(
          output, kind, bytes.baseAddress.map { unsafe $0 + start }, bytes.count - start)
      }
      if written == -Int(EINTR) { continue }
      if written == -Int(EAGAIN) { break }
      guard written > 0 else {
        // Nobody is there any more, or the disk is full: there is nobody to tell.
        start = lines.count
        break
      }
      start += written
    }
    lines.removeFirst(start)
  }
}
