// The memory of the real programs, read by root: a secret whose request failed, that was cleared, or that was only
// served, is in none of it, in no form. Each search is shown to find what is there before its silence counts.

import Foundation
import Glibc
import Spawning
import Testing

extension EndToEnd {
  @Suite("Secrets in memory", .enabled(if: Root.isAvailable, "\(Root.wanted)"))
  struct MemoryTests {
    @Test(
      "a secret that was cleared, refused, cut off or only served is nowhere in the daemon's memory",
      arguments: StoreUnderTest.allCases)
    func daemon(store: StoreUnderTest) throws {
      try store.run { session, daemon in
        let secrets = Markers()
        try useWell(try daemon.connect(), secrets)
        try useBadly(daemon, secrets)
        try lookFor(secrets, in: daemon.pid)
        #expect(daemon.isRunning)
      }
    }

    @Test(
      "of what a client that hung up did not take no piece is in the daemon's memory once it was cleared",
      arguments: [60, 200])
    func notTaken(size: Int) throws {
      try ThrowawaySession.with { session in
        // A log line a request would be what was copied last.
        let daemon = try session.daemon("--store", "file", "--log-level", "error")
        let connection = try daemon.connect()
        func call(_ method: String, _ parameters: [String: Any] = [:]) throws {
          let answer = try connection.call("org.vaultd.Vault.\(method)", parameters)
          #expect(answer.error == nil, "\(method): \(answer.object)")
        }
        try call("Init", ["keyFile": "\(session.folder)/key"])
        // By pieces: what a machine copies at once is shorter than a secret.
        let pieces = (0..<(size + 15) / 16).map { _ in
          String(UUID().uuidString.filter { $0 != "-" }.prefix(16))
        }
        try call("Set", ["key": "Chat.token", "secret": pieces.joined()])
        try call("Get", ["key": "Chat.token"])
        // More answers than a socket has room for.
        let stuck = try daemon.connect()
        let frame = Data(
          (#"{"method":"org.vaultd.Vault.Get","parameters":{"key":"Chat.token"}}"# + "\0").utf8)
        while stuck.send(frame, seconds: 0.3) {}
        stuck.close()
        for (method, parameters) in [("Clear", ["key": "Chat.token"]), ("Lock", [:])] {
          try call(method, parameters)
          var places: [Int: [String]] = [:]
          _ = try becomesTrue(seconds: 3) {
            places = try memory(of: daemon.pid, holding: ["org.vaultd.Vault"] + pieces)
            return places.count == 1
          }
          #expect(places[0] != nil, "nothing is found")
          places[0] = nil
          #expect(places == [:], "after \(method)")
        }
      }
    }

    @Test(
      "the daemon's calls of libraries are bound when it starts, so that nothing of it is saved at their first use"
    )
    func bound() throws {
      let found = try run(["readelf", "--dynamic", Project.vaultd], environment: ["PATH": "/usr/bin:/bin"])
      #expect(found.text.contains("BIND_NOW"), "\(found.text)")
    }

    @Test("what is locked, a passphrase that opened the file or did not, is nowhere in the daemon's memory")
    func passphrases() throws {
      try ThrowawaySession.with { session in
        let secrets = Markers()
        let daemon = try session.daemon("--store", "file")
        let connection = try daemon.connect()
        let (right, wrong) = (secrets.new(), secrets.new())
        func call(_ method: String, _ parameters: [String: Any]) throws -> String? {
          try connection.call("org.vaultd.Vault.\(method)", parameters).error
        }
        #expect(try call("Init", ["passphrase": right]) == nil)
        #expect(try call("AddSlot", ["passphrase": secrets.new()]) == nil)
        let kept = secrets.new()
        #expect(try call("Set", ["key": "Chat.token", "secret": kept]) == nil)
        #expect(try call("Lock", [:]) == nil)
        #expect(try call("Unlock", ["passphrase": wrong]) == "org.vaultd.Vault.WrongPassphrase")
        #expect(try call("Set", ["key": "Chat.token", "secret": secrets.new()]) == "org.vaultd.Vault.Locked")
        #expect(try call("Unlock", ["passphrase": right]) == nil)
        #expect(
          try connection.call("org.vaultd.Vault.Get", ["key": "Chat.token"]).parameters["secret"] as? String
            == kept)
        #expect(try call("Unlock", ["passphrase": secrets.new()]) == "org.vaultd.Vault.WrongPassphrase")
        #expect(try call("Init", ["passphrase": secrets.new()]) == "org.vaultd.Vault.InvalidArgument")
        #expect(
          try call("Unlock", ["passphrase": secrets.new() + String(repeating: "p", count: 4_096)])
            == "org.vaultd.Vault.InvalidArgument")
        // Unlocked and served, and then locked.
        try lookFor(secrets, in: daemon.pid)
        #expect(try call("Lock", [:]) == nil)
        try lookFor(secrets, in: daemon.pid)
      }
    }

    @Test(
      "vault get and vault set leave no secret in their memory when they end",
      arguments: ["get", "set"], [20, 100_000])
    func command(word: String, size: Int) throws {
      try StoreUnderTest.file.run { session, _ in
        let secrets = Markers()
        let secret = secrets.new() + String(repeating: "x", count: size)
        expectSuccess(try session.vault("set", "Chat.token", input: Data(secret.utf8)))
        // It is held at its very last call, when all that it does is done.
        let (input, output) = (try PipeEnds(), try PipeEnds())
        let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(null) }
        let strace = try Child(
          Root.prefix + [
            "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=exit_group", "-e",
            "inject=exit_group:delay_enter=60000000", Project.vault, word, "Chat.token",
          ], environment: session.environment, descriptors: (input.reader, output.writer, null))
        input.closeReader()
        output.closeWriter()
        defer { strace.kill(SIGKILL) }
        if word == "set" { try input.write(Data(secret.utf8)) }
        input.closeWriter()
        if word == "get" {
          var got = Data()
          while got.count < secret.utf8.count, try output.read(into: &got) {}
          #expect(got == Data(secret.utf8))
        }
        let pid = try #require(eventually(seconds: 30) { vaultInExit(of: strace.pid) })
        defer { Glibc.kill(pid, SIGKILL) }
        try lookFor(secrets, in: pid)
      }
    }

    // MARK: What is done with secrets

    /// Requests that succeed: what is stored is served or cleared.
    private func useWell(_ connection: RawConnection, _ secrets: Markers) throws {
      func call(_ method: String, _ parameters: [String: Any]) throws {
        let answer = try connection.call("org.vaultd.Vault.\(method)", parameters)
        #expect(answer.error == nil, "\(method): \(answer.object)")
      }
      for key in ["Chat.served", "Chat.cleared", "Gone.one", "Gone.two"] {
        try call("Set", ["key": key, "secret": secrets.new()])
        try call("Set", ["key": key, "secret": secrets.new()])
        try call("Get", ["key": key])
      }
      try call("Set", ["key": "Chat.bytes", "secretBase64": Data(secrets.new().utf8).base64EncodedString()])
      try call(
        "Set", ["key": "Chat.large", "secret": secrets.new() + String(repeating: "\n", count: 300_000)])
      for key in ["Chat.bytes", "Chat.large"] {
        try call("Get", ["key": key])
        try call("Clear", ["key": key])
      }
      try call("Clear", ["key": "Chat.cleared"])
      try call("ClearNamespace", ["namespace": "Gone"])
      // Over, and asked for again.
      try call("Set", ["key": "Chat.over", "secret": secrets.new(), "expiresIn": 1])
      let isOver = try becomesTrue {
        try connection.call("org.vaultd.Vault.Get", ["key": "Chat.over"]).error == "org.vaultd.Vault.Expired"
      }
      #expect(isOver)
      // Escaped, and without an answer.
      connection.sendFrame(
        #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"Chat.escaped","secret":"\#(secrets.new().escaped)"}}"#
      )
      #expect(try connection.answer()?.error == nil)
      connection.sendFrame(
        #"{"method":"org.vaultd.Vault.Set","oneway":true,"parameters":{"key":"Chat.oneway","secret":"\#(secrets.new())"}}"#
      )
      for key in ["Chat.escaped", "Chat.oneway"] { try call("Clear", ["key": key]) }
    }

    /// Requests that fail, each with a secret somewhere in it.
    private func useBadly(_ daemon: DaemonUnderTest, _ secrets: Markers) throws {
      let set = #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"Chat.bad","secret":""#
      let filling = String(repeating: "x", count: 200_000)
      let frames: [(Markers) -> String] = [
        // Not as the interface has it.
        { #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"nodot","secret":"\#($0.new())"}}"# },
        { #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"a.b","\#($0.new())":"x"}}"# },
        {
          #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"a.b","secret":7,"label":"\#($0.new())"}}"#
        },
        { #"{"method":"\#($0.new())"}"# },
        { set + $0.new() + #"","secretBase64":"AAAA"}}"# },
        { set + $0.new() + #"","account":"\u0007"}}"# },
        { set + $0.new() + #"","expiresIn":0}}"# },
        { set + $0.new() + #"","ifVersion":-1}}"# },
        { set + $0.new() + #"","ifVersion":7}}"# },
        { set + $0.new() + #"","lease":"none"}}"# },
        { #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"a.b","secretBase64":"\#($0.new())"}}"# },
        // Too large, by a byte and by much.
        { set + $0.new() + String(repeating: "x", count: 1_048_576) + #""}}"# },
        { set + $0.new() + String(repeating: "x", count: 7_000_000) + #""}}"# },
        // Broken behind the secret.
        { set + $0.new() + #"","# },
        { set + $0.new() + #""}} x"# },
        { set + $0.new() + filling + #""}"# },
      ]
      for frame in frames {
        let connection = try daemon.connect()
        connection.sendFrame(frame(secrets))
        let answer = try? connection.answer()
        #expect(answer?.error != nil, "\(frame(Markers()).prefix(200)): \(answer?.object ?? [:])")
      }
      // Cut off in the middle of the secret, small and large.
      for rest in ["", filling] {
        let connection = try daemon.connect()
        connection.send(Data((set + secrets.new() + rest).utf8))
        // What was sent is there before the end is: another connection is answered behind it.
        _ = try daemon.connect().call("org.varlink.service.GetInfo")
        connection.close()
        _ = try daemon.connect().call("org.varlink.service.GetInfo")
      }
      // Gone before the answer.
      let key = "Chat.left"
      for _ in 0..<20 {
        let connection = try daemon.connect()
        connection.sendFrame(
          #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"\#(key)","secret":"\#(secrets.new())"}}"#)
        connection.sendFrame(#"{"method":"org.vaultd.Vault.Get","parameters":{"key":"\#(key)"}}"#)
        connection.close()
      }
      #expect(
        try becomesTrue { try daemon.connect().call("org.vaultd.Vault.Clear", ["key": key]).error == nil })
    }

    // MARK: Looking

    /// Looks for every secret in every form. The name of the interface is in that memory for sure.
    private func lookFor(
      _ secrets: Markers, in pid: pid_t, at location: SourceLocation = #_sourceLocation
    ) throws {
      let forms = secrets.all.map(forms)
      let needles = ["org.vaultd.Vault"] + forms.joined()
      // A buffer is wiped when its owner is done: the last ones may be at it.
      var places: [Int: [String]] = [:]
      _ = try becomesTrue(seconds: 3) {
        places = try memory(of: pid, holding: needles)
        return places.count == 1
      }
      #expect(places[0] != nil, "nothing is found", sourceLocation: location)
      for (number, forms) in forms.enumerated() {
        for form in forms.indices {
          let found = places[1 + number * forms.count + form] ?? []
          #expect(found.isEmpty, "secret \(number), form \(form)", sourceLocation: location)
        }
      }
    }

    /// The marker as it may be written down: as it is, escaped, and as the middle of any Base64 that holds it.
    private func forms(of marker: String) -> [String] {
      [marker, marker.escaped]
        + (0..<3).map { shift in
          let text = Data((String(repeating: "x", count: shift) + marker).utf8).base64EncodedString()
          return String(text.dropFirst(shift == 0 ? 0 : 4).dropLast(4))
        }
    }

    /// The places of each needle that is found, by its number.
    private func memory(of pid: pid_t, holding needles: [String]) throws -> [Int: [String]] {
      let ended = try Root.run(
        ["/usr/bin/python3", Project.support("search-memory.py"), String(pid)],
        input: Data(needles.joined(separator: "\0").utf8), seconds: 120)
      guard ended.status == 0 else { throw HarnessFailure("memory of \(pid): \(ended.errors)") }
      var places: [Int: [String]] = [:]
      for line in ended.text.split(separator: "\n") {
        let halves = line.split(separator: "#")
        guard halves.count == 2, let number = Int(halves[1]) else { throw HarnessFailure("\(line)") }
        places[number, default: []].append(String(halves[0]))
      }
      return places
    }

    /// The command that strace started, once it is held in its last call (exit_group, 231 on this machine).
    private func vaultInExit(of strace: pid_t) -> pid_t? {
      let children = try? String(contentsOfFile: "/proc/\(strace)/task/\(strace)/children", encoding: .utf8)
      for child in children?.split(separator: " ").compactMap({ pid_t($0) }) ?? [] {
        let call = try? Root.run(["cat", "/proc/\(child)/syscall"]).text
        let name = try? Root.run(["cat", "/proc/\(child)/comm"]).text
        if name == "vault\n", call?.hasPrefix("231 ") == true { return child }
      }
      return nil
    }
  }
}

extension String {
  /// In JSON, each character by its number.
  fileprivate var escaped: String { utf16.map { String(format: #"\u%04x"#, $0) }.joined() }
}

/// Secrets that are easy to tell from everything else.
private final class Markers {
  private(set) var all: [String] = []

  /// One more.
  func new() -> String {
    all.append("M4RK3R" + UUID().uuidString.filter { $0 != "-" })
    return all[all.count - 1]
  }
}
