// No acknowledgement of a set leaves the daemon before it is on the disk, however many commits are on their way: seen
// from outside, in the order of the daemon's calls of the system (behaviour.md, rule 2).

import Foundation
import Testing

extension EndToEnd {
  @Suite("Acknowledgements")
  struct AcknowledgementTests {
    @Test(
      "a set is acknowledged after an fdatasync that began after it was written, with one client and with many",
      .enabled(if: CallTracer.isAvailable, "\(CallTracer.wanted)"), arguments: [1, 20])
    func afterTheDisk(clients: Int) throws {
      try ThrowawaySession.with { session in
        let daemon = try session.daemonWithFile()
        let tracer = try CallTracer(daemon, in: session, CommitTrace.calls, options: ["-y", "-s", "80"])
        let answered = try ask(daemon, clients: clients, times: 15)
        let trace = CommitTrace(try tracer.lines())
        #expect(trace.acknowledged == answered && answered == clients * 15)
        #expect(trace.tooEarly == [])
        // Each has a commit of its own, or shares it with what came in while the last one was on its way.
        #expect(clients == 1 ? trace.commits >= answered : trace.commits < answered)
        print("\(clients) clients: \(trace.acknowledged) sets, \(trace.commits) commits")
      }
    }

    @Test(
      "a commit is one write to the log and one wait, and nobody asks for the log's times: that would have its inode written",
      .enabled(if: CallTracer.isAvailable, "\(CallTracer.wanted)"))
    func nothingMore() throws {
      try ThrowawaySession.with { session in
        let daemon = try session.daemonWithFile()
        _ = try ask(daemon, clients: 1, times: 3)
        let looks = ["stat", "lstat", "fstat", "newfstatat", "statx"]
        let tracer = try CallTracer(
          daemon, in: session, looks + ["pwrite64", "fdatasync"], options: ["-y", "-s", "80"])
        #expect(try ask(daemon, clients: 1, times: 20) == 20)
        let calls = try tracer.lines().filter {
          $0.contains("/vault.db-wal>") || $0.contains("\"vault.db-wal\"")
        }
        let asked = calls.filter { call in looks.contains { call.contains(" \($0)(") } }
        #expect(asked.count == 20)
        for call in asked {
          // What is asked for; what is told, in braces, may be more.
          let question = call.prefix { $0 != "{" }
          #expect(
            question.contains(" statx(") && !question.contains("TIME") && !question.contains("STATX_BASIC"),
            "\(call)")
        }
        #expect(calls.count { $0.contains(" pwrite64(") } == 20)
        #expect(calls.count { $0.contains(" fdatasync(") } == 20)
      }
    }

    @Test(
      "an answer that leaves too early is seen in a trace: before the call ended, and with a commit that was older"
    )
    func seen() {
      let log = "</f/vault.db-wal>"
      let request =
        #"recvfrom(7<UNIX:[1]>, "{\"method\":\"org.vaultd.Vault.Set\"", 4096, 0, NULL, NULL) = 90"#
      let answer = #"sendto(7<UNIX:[1]>, "{\"parameters\":{\"entry\":{", 200, 0, NULL, 0) = 200"#
      let page = #"pwrite64(5\#(log), "", 4096, 56) = 4096"#, head = #"pwrite64(5\#(log), "", 32, 0) = 32"#
      let sync = "fdatasync(5\(log)", done = "<... fdatasync resumed>) = 0"
      func early(_ calls: String...) -> Int { CommitTrace(calls.map { $0[...] }).tooEarly.count }
      #expect(early("1 \(request)", "2 \(page)", "2 \(sync)) = 0", "1 \(answer)") == 0)
      #expect(
        early("1 \(request)", "2 \(page)", "2 \(sync) <unfinished ...>", "2 \(done)", "1 \(answer)") == 0)
      #expect(
        early("1 \(request)", "2 \(page)", "2 \(sync) <unfinished ...>", "1 \(answer)", "2 \(done)") == 1)
      #expect(early("2 \(page)", "1 \(request)", "2 \(sync)) = 0", "1 \(answer)") == 1)
      #expect(early("1 \(request)", "2 \(head)", "2 \(sync)) = 0", "1 \(answer)") == 1)
      #expect(early("1 \(request)", "2 \(page)", "2 \(sync)) = -1 EIO", "1 \(answer)") == 1)
      #expect(early("1 \(request)", "1 \(answer)") == 1)
    }

    /// Clients that set a key each, again as soon as they are answered.
    /// - Returns: how many were acknowledged.
    private func ask(_ daemon: DaemonUnderTest, clients: Int, times: Int) throws -> Int {
      let connections = try (0..<clients).map { _ in try daemon.connect() }
      var left = [Int](repeating: times, count: clients)
      var acknowledged = 0
      func ask(_ client: Int) {
        left[client] -= 1
        let parameters = #"{"key":"App.k\#(client)","secret":"value \#(left[client])"}"#
        connections[client].sendFrame(#"{"method":"org.vaultd.Vault.Set","parameters":\#(parameters)}"#)
      }
      for client in 0..<clients { ask(client) }
      let end = ContinuousClock.now + .seconds(60)
      while acknowledged < clients * times, ContinuousClock.now < end {
        for client in RawConnection.answering(connections, until: end) {
          let answer = try #require(try connections[client].answer())
          #expect(answer.error == nil)
          acknowledged += 1
          if left[client] > 0 { ask(client) }
        }
      }
      return acknowledged
    }
  }
}

/// What strace saw of sets: requests that came in, pages written to the log of the vault file, calls that wait for the
/// disk, and answers that went out.
private struct CommitTrace {
  static let calls = [
    "recvfrom", "recvmsg", "read", "readv", "sendto", "sendmsg", "write", "writev", "pwrite64", "pwritev",
    "fdatasync", "fsync",
  ]

  /// Sets that were answered.
  private(set) var acknowledged = 0
  /// Times that pages were written and the disk was waited for.
  private(set) var commits = 0
  /// Answers that left before they might.
  private(set) var tooEarly: [String] = []

  /// For each socket, where in the trace its last set came in.
  private var asked: [Substring: Int] = [:]
  /// Where the first page was written that is not on the disk yet.
  private var firstPage: Int?
  /// While the disk is waited for, where the first page of that commit was written.
  private var syncing: Int?
  /// For the latest commit that is on the disk, where its first page was written.
  private var onDisk = -1

  init(_ lines: [Substring]) {
    // A call that another thread's call comes into is written as two lines.
    var begun: [Substring: Substring] = [:]
    for (place, line) in lines.enumerated() {
      guard let space = line.firstIndex(of: " ") else { continue }
      let thread = line[..<space], words = line[space...].drop { $0 == " " }
      if let resumed = words.firstRange(of: " resumed>") {
        guard words.hasPrefix("<... "), let start = begun.removeValue(forKey: thread) else { continue }
        end(start + words[resumed.upperBound...], at: place)
      } else if let cut = words.firstRange(of: "<unfinished ...>") {
        begun[thread] = words[..<cut.lowerBound]
        begin(words, at: place)
      } else {
        begin(words, at: place)
        end(words, at: place)
      }
    }
  }

  /// A call begins: what matters is when an answer leaves, and what was written before the disk is waited for.
  private mutating func begin(_ call: Substring, at place: Int) {
    if Self.isAnswer(call) {
      acknowledged += 1
      // The commit that it was in began after it came in, and has ended.
      let socket = Self.descriptor(call)
      if onDisk < asked[socket, default: .max] { tooEarly.append("line \(place + 1): \(call)") }
      asked[socket] = nil
    } else if Self.isPage(call) {
      firstPage = firstPage ?? place
    } else if Self.isSync(call) {
      syncing = firstPage
    }
  }

  private mutating func end(_ call: Substring, at place: Int) {
    if Self.isRequest(call) {
      asked[Self.descriptor(call)] = place
    } else if Self.isSync(call), call.hasSuffix("= 0"), let syncing {
      // One thread writes: no page was written meanwhile.
      onDisk = syncing
      commits += 1
      self.syncing = nil
      firstPage = nil
    }
  }

  private static func descriptor(_ call: Substring) -> Substring {
    call.drop { $0 != "(" }.dropFirst().prefix { $0.isNumber }
  }

  private static func isRequest(_ call: Substring) -> Bool {
    (call.hasPrefix("rec") || call.hasPrefix("read")) && call.contains("org.vaultd.Vault.Set")
  }

  private static func isAnswer(_ call: Substring) -> Bool {
    (call.hasPrefix("send") || call.hasPrefix("write")) && call.contains(#"{\"entry\":"#)
  }

  /// A page in the log; its head, at the beginning of the file, is none.
  private static func isPage(_ call: Substring) -> Bool {
    call.hasPrefix("pwrite") && call.contains("vault.db-wal>") && !call.contains(", 32, 0)")
      && !call.hasSuffix(", 32, 0 ")
  }

  private static func isSync(_ call: Substring) -> Bool {
    (call.hasPrefix("fdatasync(") || call.hasPrefix("fsync(")) && call.contains("vault.db-wal>")
  }
}
