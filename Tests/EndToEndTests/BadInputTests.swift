// What no client should send: the error that the interface names, and the same daemon afterwards.

import Foundation
import Spawning
import Testing

extension EndToEnd {
  @Suite("Bad input on the socket")
  struct BadInputTests {
    private static let service = "org.varlink.service."
    private static let vault = "org.vaultd.Vault."

    /// Frames that are calls, and the errors that they get.
    private static let calls: [(String, [String])] = [
      (#"{"method":"org.vaultd.Vault.Bogus"}"#, [service + "MethodNotFound"]),
      (#"{"method":"org.example.Other.Get"}"#, [service + "InterfaceNotFound"]),
      (#"{"method":"org.varlink.service.Bogus"}"#, [service + "MethodNotFound"]),
      (
        #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"org.example"}}"#,
        [service + "InterfaceNotFound"]
      ),
      (#"{"method":"org.varlink.service.GetInterfaceDescription"}"#, [service + "InvalidParameter"]),
      (#"{"method":"org.vaultd.Vault.Get"}"#, [service + "InvalidParameter"]),
      (#"{"method":"org.vaultd.Vault.Get","parameters":{}}"#, [service + "InvalidParameter"]),
      (#"{"method":"org.vaultd.Vault.Get","parameters":{"key":null}}"#, [service + "InvalidParameter"]),
      (#"{"method":"org.vaultd.Vault.Get","parameters":{"key":7}}"#, [service + "InvalidParameter"]),
      (
        #"{"method":"org.vaultd.Vault.Get","parameters":{"key":["Chat.token"]}}"#,
        [service + "InvalidParameter"]
      ),
      (
        #"{"method":"org.vaultd.Vault.Get","parameters":{"key":"Chat.token","bogus":1}}"#,
        [service + "InvalidParameter"]
      ),
      (
        #"{"method":"org.vaultd.Vault.Get","parameters":{"key":"Chat.token","key":"Chat.token"}}"#,
        [service + "InvalidParameter"]
      ),
      (
        #"{"method":"org.vaultd.Vault.Get","parameters":{"key":"Chat.token","interactive":"yes"}}"#,
        [service + "InvalidParameter"]
      ),
      (
        #"{"method":"org.vaultd.Vault.Get","parameters":{"key":"Chat.token","minValidity":1.5}}"#,
        [service + "InvalidParameter"]
      ),
      (
        #"{"method":"org.vaultd.Vault.Get","parameters":{"key":"Chat.token","minValidity":9223372036854775808}}"#,
        [service + "InvalidParameter", vault + "InvalidArgument"]
      ),
      (
        #"{"method":"org.vaultd.Vault.Get","parameters":{"key":"Chat.token","minValidity":-9223372036854775808}}"#,
        [vault + "InvalidArgument"]
      ),
      (#"{"method":"org.vaultd.Vault.Get","parameters":{"key":"nodot"}}"#, [vault + "InvalidArgument"]),
      (#"{"method":"org.vaultd.Vault.Get","parameters":{"key":"a.\u0000b"}}"#, [vault + "InvalidArgument"]),
      (
        #"{"method":"org.vaultd.Vault.Get","parameters":{"key":"Chat.token","account":"\u0007"}}"#,
        [vault + "InvalidArgument"]
      ),
      (
        #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"Chat.token"}}"#,
        [service + "InvalidParameter", vault + "InvalidArgument"]
      ),
      (
        #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"Chat.token","secret":"a","secretBase64":"YQ=="}}"#,
        [service + "InvalidParameter", vault + "InvalidArgument"]
      ),
      (
        #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"Chat.token","secretBase64":"YQ"}}"#,
        [vault + "InvalidArgument"]
      ),
      (
        #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"Chat.token","secretBase64":"YR=="}}"#,
        [vault + "InvalidArgument"]
      ),
      (
        #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"Chat.token","secret":"a","expires":60}}"#,
        [vault + "InvalidArgument"]
      ),
      (
        #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"Chat.token","secret":"a","expiresIn":0}}"#,
        [vault + "InvalidArgument"]
      ),
      (
        #"{"method":"org.vaultd.Vault.Set","parameters":{"key":"Chat.token","secret":"a","label":"two\nlines"}}"#,
        [vault + "InvalidArgument"]
      ),
      (#"{"method":"org.vaultd.Vault.ClearNamespace","parameters":{}}"#, [service + "InvalidParameter"]),
      (
        #"{"method":"org.vaultd.Vault.ClearNamespace","parameters":{"namespace":""}}"#,
        [vault + "InvalidArgument"]
      ),
      (#"{"method":"org.vaultd.Vault.RemoveSlot","parameters":{"slot":99}}"#, [vault + "InvalidArgument"]),
      (
        #"{"method":"org.vaultd.Vault.Init","parameters":{}}"#,
        [service + "InvalidParameter", vault + "InvalidArgument"]
      ),
      (
        #"{"method":"org.vaultd.Vault.Watch"}"#, [service + "ExpectedMore"]
      ),
      (
        #"{"method":"org.vaultd.Vault.Touch","parameters":{"key":"Chat.token"}}"#,
        [vault + "NotFound"]
      ),
    ]

    @Test("calls that are wrong get the error that says why, and the connection goes on")
    func wrongCalls() throws {
      try StoreUnderTest.file.run { session, daemon in
        let connection = try daemon.connect()
        for (frame, errors) in Self.calls {
          connection.sendFrame(frame)
          let answer = try connection.answer()
          #expect(errors.contains(answer?.error ?? "success"), "\(frame): \(answer?.object ?? [:])")
        }
        connection.sendFrame(#"{"method":"org.vaultd.Vault.List"}"#)
        #expect(try connection.answer()?.error == nil)
        #expect(try session.get("Chat.token") == nil)
      }
    }

    /// Bytes that are no call at all.
    private static let garbage: [(String, Data)] = [
      ("an empty frame", Data([0])),
      ("text", Data("M4RK3R hello\0".utf8)),
      ("a number", Data("7\0".utf8)),
      ("a string", Data("\"M4RK3R\"\0".utf8)),
      ("an array", Data("[\"M4RK3R\"]\0".utf8)),
      ("no method", Data("{\"parameters\":{\"key\":\"M4RK3R\"}}\0".utf8)),
      ("a method that is none", Data("{\"method\":7,\"x\":\"M4RK3R\"}\0".utf8)),
      (
        "half an object", Data("{\"method\":\"org.vaultd.Vault.Get\",\"parameters\":{\"key\":\"M4RK3R\0".utf8)
      ),
      ("two objects", Data("{\"method\":\"org.vaultd.Vault.List\"}{\"M4RK3R\":1}\0".utf8)),
      ("a comment", Data("{\"method\":\"org.vaultd.Vault.List\"/*M4RK3R*/}\0".utf8)),
      ("a trailing comma", Data("{\"method\":\"org.vaultd.Vault.List\",}\0".utf8)),
      ("single quotes", Data("{'method':'org.vaultd.Vault.List'}\0".utf8)),
      (
        "bad UTF-8",
        Data("{\"method\":\"org.vaultd.Vault.Get\",\"parameters\":{\"key\":\"a.".utf8) + [0xff, 0xfe]
          + Data("\"}}\0".utf8)
      ),
      ("overlong UTF-8", Data("{\"method\":\"".utf8) + [0xc0, 0x80] + Data("\"}\0".utf8)),
      (
        "half a surrogate pair",
        Data(#"{"method":"org.vaultd.Vault.Get","parameters":{"key":"a.\ud800"}}"#.utf8) + [0]
      ),
      (
        "a control character",
        Data("{\"method\":\"org.vaultd.Vault.Get\",\"parameters\":{\"key\":\"a.\u{1}\"}}\0".utf8)
      ),
      ("100,000 brackets", Data(repeating: UInt8(ascii: "["), count: 100_000) + [0]),
      (
        "100,000 objects",
        Data(String(repeating: "{\"method\":", count: 100_000).utf8) + [0]
      ),
      (
        "100,000 members",
        Data(("{" + (0..<100_000).map { "\"m\($0)\":1" }.joined(separator: ",") + "}").utf8) + [0]
      ),
      (
        "a number past all bounds",
        Data(#"{"method":"org.vaultd.Vault.Get","parameters":{"minValidity":1e400}}"#.utf8) + [0]
      ),
      ("random bytes", randomBytes(65_536, seed: 3) + [0]),
      ("HTTP", Data("GET / HTTP/1.1\r\nHost: M4RK3R\r\n\r\n\0".utf8)),
    ]

    @Test("bytes that are no call close the connection, are never echoed, and nobody else notices")
    func noCalls() throws {
      try StoreUnderTest.file.run { session, daemon in
        try session.set("Chat.token", Data("tok".utf8))
        let bystander = try daemon.connect()
        for (name, bytes) in Self.garbage {
          let connection = try daemon.connect()
          connection.send(bytes)
          connection.finishSending()
          var frames = Data()
          while let frame = try connection.frame() { frames += frame }
          #expect(!String(decoding: frames, as: UTF8.self).contains("M4RK3R"), "\(name) is echoed")
          #expect(!frames.contains(UInt8(ascii: "\0")))
          if !frames.isEmpty {
            let object = try? JSONSerialization.jsonObject(with: frames) as? [String: Any]
            #expect((object?["error"] as? String)?.hasPrefix("org.") == true, "\(name)")
          }
          #expect(daemon.isRunning, "\(name)")
        }
        let answer = try bystander.call("org.vaultd.Vault.Get", ["key": "Chat.token"])
        #expect(answer.parameters["secret"] as? String == "tok")
        #expect(!daemon.log.contains("M4RK3R"))
      }
    }

    @Test("a frame over the limit is cut off long before it fills the memory")
    func oversized() throws {
      try StoreUnderTest.file.run { session, daemon in
        let chunk = Data(repeating: UInt8(ascii: "a"), count: 1 << 20)
        let connection = try daemon.connect()
        connection.send(
          Data(#"{"method":"org.vaultd.Vault.Set","parameters":{"key":"Chat.token","secret":""#.utf8))
        var sent = 0
        while sent < 64, connection.send(chunk, seconds: 5) { sent += 1 }
        #expect(sent < 64, "64 MiB were taken")
        #expect(try residentBytes(daemon.pid) < 64 << 20)
        try session.set("Chat.token", Data("tok".utf8))
        #expect(try session.get("Chat.token") == Data("tok".utf8))
        #expect(daemon.isRunning)
      }
    }

    @Test("clients that send half a request, read nothing or leave keep nobody else waiting")
    func stuckClients() throws {
      try StoreUnderTest.file.run { session, daemon in
        try session.set("Chat.large", randomBytes(1_048_576))
        try session.set("Chat.token", Data("tok".utf8))
        var stuck: [RawConnection] = []
        for _ in 0..<100 {
          let connection = try daemon.connect()
          connection.send(Data(#"{"method":"org.vaultd.Vault.Get","parameters":{"key":"Chat.tok"#.utf8))
          stuck.append(connection)
        }
        let deaf = try daemon.connect()
        for _ in 0..<20 {
          deaf.sendFrame(#"{"method":"org.vaultd.Vault.Get","parameters":{"key":"Chat.large"}}"#)
        }
        for _ in 0..<300 {
          let connection = try daemon.connect()
          connection.sendFrame(#"{"method":"org.vaultd.Vault.Get","parameters":{"key":"Chat.token"}}"#)
          connection.close()
        }
        let start = ContinuousClock.now
        let answer = try daemon.connect().call("org.vaultd.Vault.Get", ["key": "Chat.token"])
        #expect(answer.parameters["secret"] as? String == "tok")
        #expect(ContinuousClock.now - start < .milliseconds(500))
        #expect(daemon.isRunning)
        #expect(try residentBytes(daemon.pid) < 64 << 20)
      }
    }

    @Test(
      "the daemon refuses settings that are none, by name",
      arguments: [
        ["--bogus"], ["--store", "cloud"], ["--timeout", "0"], ["--timeout", "1e3"], ["--timeout"],
        ["--log-level", "loud"],
        ["--config", "/nonexistent/vaultd.conf"], ["--socket", "/" + String(repeating: "s", count: 107)],
        ["positional"],
      ])
    func settings(arguments: [String]) throws {
      try ThrowawaySession.with { session in
        let ended = try session.command([Project.vaultd] + arguments)
        #expect(ended.status == 2, "\(ended.errors)")
        #expect(ended.output.isEmpty)
        let flag = arguments[0].drop { $0 == "-" }
        #expect(ended.errors.contains(flag) || arguments.dropFirst().contains { ended.errors.contains($0) })
      }
    }

    @Test("the configuration file counts, the environment more, a flag most")
    func precedence() throws {
      try ThrowawaySession.with { session in
        let folder = session.home + "/.config/vault"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("[vaultd]\nstore=file\nnovelty=1\n".utf8).write(to: URL(filePath: folder + "/vaultd.conf"))
        func preference() throws -> String? {
          try session.vault("status", "--json").json["preference"] as? String
        }
        let first = try session.daemon()
        #expect(try preference() == "file")
        #expect(first.log.contains("novelty"))
        try first.stop()
        let second = try session.daemon(environment: ["VAULTD_STORE": "secret-service"])
        #expect(try preference() == "secret_service")
        try second.stop()
        _ = try session.daemon("--store", "auto", environment: ["VAULTD_STORE": "secret-service"])
        #expect(try preference() == "auto")
      }
    }
  }
}

/// How much memory a process has resident.
func residentBytes(_ pid: pid_t) throws -> Int {
  let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
  let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
  guard let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap({ Int($0) })
  else {
    throw HarnessFailure("process \(pid) has no VmRSS")
  }
  return kibibytes * 1_024
}
