// A system bus of a test's own with a systemd-logind on it that sleeps and locks screens as the test says
// (Tests/Support/fake-logind). No machine sleeps.

import Foundation
import Glibc
import Spawning

/// The login manager of one test.
final class FakeLogind {
  /// What it says of itself.
  struct State {
    /// How many hold the machine awake.
    var inhibitors: Int
    /// The methods that it was asked for, in order.
    var calls: [String]
    /// What the daemon answered at the moment when the machine could fall asleep.
    var released: String?
  }

  private let session: ThrowawaySession
  private let address: String
  private var bus: Child?
  private var logind: Child?
  private var input: PipeEnds?
  private var said: Lines?

  /// The variable by which a daemon finds the bus.
  var environment: [String: String] { ["DBUS_SYSTEM_BUS_ADDRESS": address] }

  /// Nothing runs yet, and the address leads nowhere.
  init(_ session: ThrowawaySession) {
    self.session = session
    address = "unix:path=\(session.folder)/system-bus"
  }

  deinit { stopBus() }

  /// Starts the bus, with nobody on it.
  func startBus() throws {
    try? FileManager.default.removeItem(atPath: session.folder + "/system-bus")
    bus = try session.start(
      "system-bus",
      [
        "dbus-daemon", "--config-file=\(Project.support("private-bus.conf"))", "--nofork",
        "--address=\(address)",
      ])
    guard becomesTrue({ FileManager.default.fileExists(atPath: session.folder + "/system-bus") }) else {
      throw HarnessFailure("no system bus came up: \(session.log("system-bus"))")
    }
  }

  /// Ends the bus, and logind with it.
  func stopBus() {
    stop()
    bus?.end()
    bus = nil
  }

  /// Starts logind. There is one session, of this user, with the name 1.
  func start() throws {
    let input = try PipeEnds(), output = try PipeEnds()
    let errors = unsafe open(session.folder + "/logind.log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    defer { close(errors) }
    var environment = session.environment.merging(environment) { $1 }
    environment["VAULTD_SOCKET"] = session.socket
    logind = try Child(
      [Project.support("fake-logind")], environment: environment,
      descriptors: (input.reader, output.writer, errors))
    input.closeReader()
    output.closeWriter()
    (self.input, said) = (input, Lines(from: output))
    guard try line() == "READY" else { throw HarnessFailure("no logind: \(session.log("logind"))") }
    try tell(["do": "session", "id": "1", "user": Int(geteuid())])
  }

  /// Ends logind; the bus stays.
  func stop() {
    input?.closeWriter()
    logind?.end()
    logind = nil
  }

  /// Gives it a command.
  @discardableResult
  func tell(_ command: [String: Any]) throws -> Any {
    guard let input else { throw HarnessFailure("no logind runs") }
    let bytes = try JSONSerialization.data(withJSONObject: command) + Data("\n".utf8)
    try input.write(bytes)
    return try JSONSerialization.jsonObject(with: Data(line().utf8), options: .fragmentsAllowed)
  }

  /// How it is.
  func state() throws -> State {
    let state = try tell(["do": "state"]) as? [String: Any] ?? [:]
    return State(
      inhibitors: state["inhibitors"] as? Int ?? -1, calls: state["calls"] as? [String] ?? [],
      released: state["released"] as? String)
  }

  /// Waits until so many hold the machine awake.
  func becomesHeld(by count: Int) throws -> Bool { try becomesTrue { try state().inhibitors == count } }

  /// How many connections the bus has.
  func connections() throws -> Int {
    let names = try session.command([
      "gdbus", "call", "--address", address, "--dest", "org.freedesktop.DBus", "--object-path", "/",
      "--method", "org.freedesktop.DBus.ListNames",
    ])
    return names.text.components(separatedBy: "':").count - 1
  }

  private func line() throws -> String {
    guard let line = try said?.next() else {
      throw HarnessFailure("logind has ended: \(session.log("logind"))")
    }
    return line
  }
}
