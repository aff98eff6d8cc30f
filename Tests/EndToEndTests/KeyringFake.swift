// The fake provider of Tests/Support/fake-provider in a session of the real programs: it does what a test tells it to,
// is killed and stopped by the test, and keeps its items over that.

import Foundation
import Glibc
import Spawning

/// A Secret Service that is told what to do.
final class FakeKeyring {
  /// An item as it has it.
  struct Item: Equatable {
    var path: String
    var attributes: [String: String]
    var label: String
    var secret: Data
  }

  private unowned let session: ThrowawaySession
  private let state: String
  private var child: Child
  private var input: PipeEnds
  private var said: Lines

  /// Starts it in a session whose bus has no provider; `state` names what it keeps.
  init(_ session: ThrowawaySession, state: String = "fake-items") throws {
    self.session = session
    self.state = session.folder + "/" + state
    (child, input, said) = try Self.start(session, self.state)
    try waitUntilReady()
  }

  deinit { end() }

  private static func start(_ session: ThrowawaySession, _ state: String) throws -> (Child, PipeEnds, Lines) {
    let input = try PipeEnds(), output = try PipeEnds()
    let null = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { close(null) }
    let child = try Child(
      [Project.support("fake-provider"), "--state", state], environment: session.environment,
      folder: session.home, descriptors: (input.reader, output.writer, null))
    input.closeReader()
    output.closeWriter()
    return (child, input, Lines(from: output))
  }

  private func waitUntilReady() throws {
    guard try line() == "READY" else { throw HarnessFailure("no fake provider came up") }
  }

  private func line() throws -> String {
    guard let line = try said.next() else { throw HarnessFailure("the fake provider ended") }
    return line
  }

  // MARK: Life and death

  /// Ends it, in whatever state it is.
  func end() {
    child.kill(SIGCONT)
    kill()
  }

  /// Kills it.
  func kill() {
    child.kill(SIGKILL)
    _ = try? child.wait()
  }

  /// Starts it anew, with the items that it had.
  func restart() throws {
    if child.look() == nil { kill() }
    (child, input, said) = try Self.start(session, state)
    try waitUntilReady()
  }

  /// Whether it is there, stopped or not.
  var isRunning: Bool { child.look() == nil }

  /// Stops it: it answers nobody, and keeps its name.
  func stop() { child.kill(SIGSTOP) }

  /// Lets it go on.
  func goOn() { child.kill(SIGCONT) }

  // MARK: What it is told

  /// Gives it a command and returns its answer.
  @discardableResult
  func tell(_ command: String, _ arguments: [String: Any] = [:]) throws -> Any {
    let bytes = try JSONSerialization.data(withJSONObject: arguments.merging(["do": command]) { $1 }) + [0x0A]
    try input.write(bytes)
    return try JSONSerialization.jsonObject(with: Data(line().utf8), options: .fragmentsAllowed)
  }

  /// Changes one of its settings.
  func set(_ name: String, _ value: Any) throws { try tell("set", ["name": name, "value": value]) }

  /// Makes a method fail in a way, so many times or from now on.
  func fault(_ method: String, _ what: String, times: Int = 0) throws {
    try tell("fault", ["method": method, "what": what, "times": times])
  }

  /// What it counted.
  func count(_ name: String) throws -> Int { (try tell("counters") as? [String: Int])?[name] ?? -1 }

  /// The items that it has.
  var items: [Item] {
    get throws {
      (try tell("items") as? [[String: Any]] ?? []).map { item in
        Item(
          path: item["path"] as? String ?? "", attributes: item["attributes"] as? [String: String] ?? [:],
          label: item["label"] as? String ?? "", secret: bytes(item["secret"] as? String ?? ""))
      }
    }
  }

  private func bytes(_ hex: String) -> Data {
    Data(
      stride(from: 0, to: hex.utf8.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) })
  }
}
