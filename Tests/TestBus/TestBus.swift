// A session bus of the tests' own, and what provides the Secret Service on it: the fake one that does what it
// is told to, or a real gnome-keyring. GLib keeps one session bus a process, so there is one here too, and
// one test at a time has it. Everything that is started ends with the test process; what does not start, answer or end
// in time fails the test that has the bus.

import Foundation
import Glibc
import Spawning
import Synchronization
import Testing

/// The bus, as one test has it.
public final class TestBus: @unchecked Sendable {
  // One test at a time holds it (`turn`), and every test uses it from one task.

  /// Where its files are; HOME and XDG_RUNTIME_DIR of what is started lie below.
  public let folder: String
  /// The fake provider; it has the name when a test begins.
  public private(set) var fake: FakeProviderProcess
  private var daemon: BusProgram
  private var keyring: BusProgram?

  private static let turn = AsyncTurn()
  private static let shared = Mutex<TestBus?>(nil)

  /// Runs a test that has the bus to itself, with the fake provider as it was made.
  public static func use<Result: Sendable>(
    isolation: isolated (any Actor)? = #isolation, _ body: (TestBus) async throws -> Result
  ) async throws -> Result {
    await turn.take()
    defer { turn.pass() }
    let bus = try shared.withLock { shared in
      let bus = try shared ?? TestBus()
      shared = bus
      return bus
    }
    try bus.putInOrder()
    return try await body(bus)
  }

  /// Makes the bus that later tests use already now, so that the process knows its address before it has
  /// asked GLib for any bus.
  private init() throws {
    folder = NSTemporaryDirectory() + "/vault-bus-" + UUID().uuidString.prefix(8)
    for name in ["", "/home", "/run"] {
      try FileManager.default.createDirectory(
        atPath: folder + name, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    unsafe setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=\(folder)/bus", 1)
    daemon = try Self.startDaemon(folder)
    fake = try FakeProviderProcess(folder)
    let folder = folder
    folderOfThisProcess.withLock { $0 = folder }
    atexit {
      folderOfThisProcess.withLock { folder in
        if let folder { try? FileManager.default.removeItem(atPath: folder) }
      }
    }
  }

  private func putInOrder() throws {
    if !daemon.isRunning { daemon = try Self.startDaemon(folder) }
    try stopKeyring()
    if isFakeReady() { return }
    // It is gone, or a fault that the test before has ordered ends it just now.
    try fake.child.stop()
    try? FileManager.default.removeItem(atPath: folder + "/state")
    fake = try FakeProviderProcess(folder)
    guard isFakeReady() else { throw TestBusError(text: "the fake provider does not answer") }
  }

  /// Makes the fake provider as it was made, and sees that it answers after that.
  private func isFakeReady() -> Bool {
    fake.isRunning && fake.tell("reset") != nil && fake.tell("acquire") != nil
  }

  private static func startDaemon(_ folder: String) throws -> BusProgram {
    try? FileManager.default.removeItem(atPath: folder + "/bus")
    let daemon = try BusProgram(
      "dbus-daemon",
      [
        "--config-file=\(supportFolder)/private-bus.conf", "--address=unix:path=\(folder)/bus", "--nofork",
        "--print-address",
      ], folder)
    guard try daemon.readLine() != nil else { throw TestBusError(text: "no bus: dbus-daemon ended") }
    return daemon
  }

  // MARK: What tests do to it

  /// Ends the bus, and everything on it.
  public func stopBus() throws {
    try daemon.stop()
    try fake.child.stop()
    try stopKeyring()
  }

  /// Starts the bus again, at the same address, with the fake provider.
  public func startBus() throws {
    daemon = try Self.startDaemon(folder)
    fake = try FakeProviderProcess(folder)
  }

  /// Kills the fake provider, as it is.
  public func killFake() throws {
    try fake.child.stop()
  }

  /// Starts the fake provider anew, with the items that it had.
  public func restartFake() throws {
    try fake.child.stop()
    fake = try FakeProviderProcess(folder)
  }

  /// Puts a real provider in the place of the fake one, unlocked and empty.
  public func startKeyring(_ provider: RealProvider = .gnomeKeyring, fresh: Bool = true) throws {
    try stopKeyring()
    if fresh {
      try? FileManager.default.removeItem(atPath: folder + "/home")
      try FileManager.default.createDirectory(
        atPath: folder + "/home", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    fake.tell("release")
    let keyring = try BusProgram("\(supportFolder)/secret-service-provider", [provider.rawValue], folder)
    // The program itself gives up after a minute at each of its steps, and says at which.
    let said = try keyring.readLine(seconds: 120)
    guard said == "READY" else { throw TestBusError(text: "no \(provider.rawValue): \(said ?? "it ended")") }
    self.keyring = keyring
  }

  /// Ends the real gnome-keyring.
  public func stopKeyring() throws {
    let ended = keyring
    keyring = nil
    try ended?.stop()
  }

  /// Kills the real gnome-keyring, as it is.
  public func killKeyring() throws {
    let owner = try call(
      "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.GetConnectionUnixProcessID")
    guard let pid = Int32(owner.filter(\.isNumber).dropFirst(2)), pid > 1 else {
      throw TestBusError(text: "no keyring to kill: \(owner)")
    }
    kill(pid, SIGKILL)
    try stopKeyring()
  }

  /// Locks the collection that the real gnome-keyring has.
  public func lockKeyring() throws {
    _ = try run(
      "gdbus",
      [
        "call", "--session", "--dest", "org.freedesktop.secrets", "--object-path", "/org/freedesktop/secrets",
        "--method", "org.freedesktop.Secret.Service.Lock", "['/org/freedesktop/secrets/collection/login']",
      ])
  }

  /// Starts gnome-keyring with the collection that it had, and without a password to open it.
  public func startLockedKeyring() throws {
    try stopKeyring()
    keyring = try BusProgram(
      "gnome-keyring-daemon",
      ["--foreground", "--components=secrets", "--control-directory=\(folder)/run/keyring"], folder)
    let isThere = try becomesTrue(seconds: 20) {
      try call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.NameHasOwner")
        .contains("true")
    }
    guard isThere else { throw TestBusError(text: "no locked gnome-keyring within 20 s") }
  }

  private func call(_ name: String, _ path: String, _ method: String) throws -> String {
    let arguments = [
      "call", "--session", "--dest", name, "--object-path", path, "--method", method,
      "org.freedesktop.secrets",
    ]
    return try run("gdbus", arguments).0
  }

  /// Runs a command on the bus and returns what it prints, and its status.
  public func run(_ program: String, _ arguments: [String], input: String = "") throws -> (String, Int32) {
    let ended = try Spawning.run(
      [program] + arguments, environment: BusProgram.environment(folder), input: Data(input.utf8))
    return (ended.text, ended.status)
  }
}

/// Where the scripts are that tests use.
private let supportFolder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
  .deletingLastPathComponent()
  .appendingPathComponent("Support").path

private let folderOfThisProcess = Mutex<String?>(nil)

/// The real providers that tests can start.
public enum RealProvider: String, Sendable {
  case gnomeKeyring = "gnome-keyring"
  case keePassXC = "keepassxc"
  case kWallet = "kwallet"
}

/// What went wrong in a fixture.
public struct TestBusError: Error {
  public let text: String
}

/// The fake provider of `Tests/Support/fake-provider`.
public final class FakeProviderProcess: @unchecked Sendable {
  let child: BusProgram

  init(_ folder: String) throws {
    child = try BusProgram("\(supportFolder)/fake-provider", ["--state", folder + "/state"], folder)
    guard try child.readLine() == "READY" else { throw TestBusError(text: "no fake provider") }
  }

  public var isRunning: Bool { child.isRunning }

  public var pid: Int32 { child.pid }

  /// Gives it a command and returns its answer; `nil` where it has ended. One that takes too long fails the test.
  @discardableResult
  public func tell(_ command: String, _ arguments: [String: Any] = [:]) -> Any? {
    guard let data = try? JSONSerialization.data(withJSONObject: arguments.merging(["do": command]) { $1 })
    else {
      return nil
    }
    var answer: String?
    do {
      // It may have ended; then nothing is to be read either.
      try? child.write(data + Data("\n".utf8))
      answer = try child.readLine()
    } catch {
      Issue.record(error, "the fake provider does not answer to \(command)")
    }
    guard let line = answer else { return nil }
    return try? JSONSerialization.jsonObject(with: Data(line.utf8), options: .fragmentsAllowed)
  }

  /// Changes one of its settings.
  public func set(_ name: String, _ value: Any) { tell("set", ["name": name, "value": value]) }

  /// Makes a method fail in a way, so many times or from now on.
  public func fault(_ method: String, _ what: String, times: Int = 0) {
    tell("fault", ["method": method, "what": what, "times": times])
  }

  /// What it counted.
  public func count(_ name: String) -> Int { (tell("counters") as? [String: Int])?[name] ?? -1 }

  /// What it was searched for, in order.
  public var searched: [[String: String]] { tell("searched") as? [[String: String]] ?? [] }

  /// The items that it has.
  public var items: [FakeItem] {
    (tell("items") as? [[String: Any]] ?? []).map { item in
      FakeItem(
        path: item["path"] as? String ?? "", attributes: item["attributes"] as? [String: String] ?? [:],
        label: item["label"] as? String ?? "", secret: bytes(item["secret"] as? String ?? ""),
        contentType: item["kind"] as? String ?? "")
    }
  }

  /// Adds an item, as another program would; `modified` in Unix seconds.
  @discardableResult
  public func add(_ attributes: [String: String], _ secret: String, label: String = "", modified: Int? = nil)
    -> String
  {
    var arguments: [String: Any] = [
      "attributes": attributes, "secret": hex(Array(secret.utf8)), "label": label,
    ]
    if let modified { arguments["modified"] = modified }
    return tell("add", arguments) as? String ?? ""
  }

  /// Changes an item's secret, which no signal tells unless `secret_signals` is set.
  public func change(_ path: String, _ secret: String) {
    tell("change", ["path": path, "secret": hex(Array(secret.utf8))])
  }

  private func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

  private func bytes(_ hex: String) -> [UInt8] {
    stride(from: 0, to: hex.utf8.count, by: 2).compactMap { UInt8(hex.dropFirst($0).prefix(2), radix: 16) }
  }
}

/// An item as the fake provider has it.
public struct FakeItem: Sendable {
  public let path: String
  public let attributes: [String: String]
  public let label: String
  public let secret: [UInt8]
  public let contentType: String
}
