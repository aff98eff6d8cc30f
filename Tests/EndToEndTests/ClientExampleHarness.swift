// What the tests of the examples need beside a session: the service that an example speaks to, on loopback, and the
// example as a program.

import Foundation
import Glibc
import Spawning

/// One of the chat services of `Tests/Support/chat-services`.
final class ChatService {
  private let child: Child

  /// Where it listens.
  let address: String

  /// Starts one.
  init(_ arguments: String..., python: String = "/usr/bin/python3", in session: ThrowawaySession) throws {
    let name = "service-\(UUID().uuidString)"
    let child = try session.start(name, [python, Project.support("chat-services")] + arguments)
    self.child = child
    let line = eventually { () -> Substring? in
      child.look() != nil ? "" : session.log(name).split(separator: "\n").first
    }
    guard let line, line.hasPrefix("http") else {
      child.end()
      throw HarnessFailure("no chat service came up: \(session.log(name))")
    }
    address = String(line)
  }

  deinit { child.end() }

  /// Ends it: nobody answers there any more.
  func stop() { child.end() }

  /// Lets so many requests through and keeps the next one.
  func hold(after count: Int = 0) throws { try control("hold?\(count)") }

  /// Waits until so many requests are kept.
  func waitForHeld(_ count: Int = 1) throws {
    guard try becomesTrue({ try look().held >= count }) else { throw HarnessFailure("no request was kept") }
  }

  /// Answers what was kept.
  func release() throws { try control("release") }

  /// Ends all sessions.
  func expire() throws { try control("expire") }

  /// Sets for how many seconds Stream's tokens are valid.
  func setLifetime(_ seconds: Int) throws { try control("lifetime?\(seconds)") }

  /// Has Stream call this token expired.
  func refuse(_ token: String) throws { try control("refuse?\(token)") }

  /// What happened so far.
  func look() throws -> (requests: [String], sessions: Int, held: Int, issued: Int) {
    let answer = try control("log")
    guard let requests = answer["requests"] as? [String], let sessions = answer["sessions"] as? Int,
      let held = answer["held"] as? Int, let issued = answer["issued"] as? Int
    else { throw HarnessFailure("the chat service says nothing") }
    return (requests, sessions, held, issued)
  }

  @discardableResult
  private func control(_ what: String) throws -> [String: Any] {
    let ended = try run(
      [
        "/usr/bin/python3", "-c",
        "import sys,urllib.request as u; print(u.urlopen(sys.argv[1]).read().decode())",
        "\(address)/control/\(what)",
      ], environment: [:])
    guard ended.status == 0 else { throw HarnessFailure("the chat service: \(ended.errors)") }
    return ended.json
  }
}

/// An example that runs, and how it ends.
final class RunningExample {
  private let child: Child
  private let session: ThrowawaySession
  private let name: String

  init(_ arguments: [String], environment: [String: String], in session: ThrowawaySession) throws {
    self.session = session
    name = "example-\(UUID().uuidString)"
    child = try session.start(name, arguments, environment: environment)
  }

  deinit { child.end() }

  /// Ends it as a crash does.
  func kill() { child.kill(SIGKILL) }

  /// Waits for its end.
  /// - Returns: its status, and what it printed.
  func wait() throws -> (status: Int32, text: String) {
    (try child.wait(), session.log(name))
  }
}

extension Project {
  /// An example, as it was built with the tests.
  static func example(_ name: String) -> String {
    URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path + "/" + name
  }

  /// A Python with Stream's own package; made on the first use and kept with the build.
  static func pythonWithStream() throws -> String {
    let folder = Project.root + "/.build/stream-chat"
    let python = folder + "/bin/python3"
    let environment = ProcessInfo.processInfo.environment
    if (try? run([python, "-c", "import stream_chat, jwt"], environment: environment))?.status == 0 {
      return python
    }
    for command in [
      ["/usr/bin/python3", "-m", "venv", "--clear", folder],
      [python, "-m", "pip", "install", "--quiet", "stream-chat"],
    ] {
      let ended = try run(command, environment: environment, seconds: 300)
      guard ended.status == 0 else { throw HarnessFailure("\(command): \(ended.errors)") }
    }
    return python
  }
}
