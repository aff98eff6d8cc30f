// The servers of a run: the daemon that is measured, and its peers.

import Foundation

/// A `vaultd` with a data folder and a socket of its own.
final class Daemon {
  let socket: String
  private let folder: String
  private let workshop: Workshop
  private var child: Child
  private let environment: [String: String]
  private let store: String

  var peer: Peer { Peer(socket: socket, end: .nul) }

  /// Starts a daemon with nothing in it. With `store` `file` it gets a vault file that a key file opens.
  init(_ name: String, store: String = "file", bus: String? = nil, in workshop: Workshop) throws {
    self.workshop = workshop
    self.store = store
    folder = try workshop.makeFolder(name)
    socket = "\(folder)/run/vault.sock"
    _ = try workshop.makeFolder("\(name)/run")
    var environment = ["HOME": folder, "XDG_RUNTIME_DIR": "\(folder)/run", "SWIFT_BACKTRACE": "enable=no"]
    environment["DBUS_SESSION_BUS_ADDRESS"] = bus
    self.environment = environment
    child = try Self.start(folder, socket, store, environment, workshop)
    if store == "file" {
      try call("Init", #"{"keyFile":"\#(folder)/key"}"#)
    } else {
      try call("Status", "{}")
    }
  }

  private static func start(
    _ folder: String, _ socket: String, _ store: String, _ environment: [String: String], _ workshop: Workshop
  ) throws -> Child {
    try Child(
      workshop.settings.vaultd, flags(folder, socket, store), in: workshop, environment: environment)
  }

  private static func flags(_ folder: String, _ socket: String, _ store: String) -> [String] {
    ["--socket", socket, "--store", store, "--data-dir", "\(folder)/data", "--log-level", "error"]
  }

  /// Ends the daemon, measures how long another one on the same data takes to answer, in seconds, and starts it
  /// once more.
  func timeToFirstAnswer() throws -> Double {
    child.end()
    let nanoseconds = try nanoseconds(
      workshop.tool("first"),
      [socket, Requests.key(1), String(workshop.serverCPU), workshop.settings.vaultd]
        + Self.flags(folder, socket, store), environment: environment)
    child = try Self.start(folder, socket, store, environment, workshop)
    try call("Get", #"{"key":"\#(Requests.key(1))"}"#)
    return nanoseconds / 1e9
  }

  /// One call, once.
  @discardableResult
  func call(_ method: String, _ parameters: String) throws -> String {
    try Load(peer, .call(method, parameters), connections: 1, seconds: 0, in: workshop).answer
  }

  /// Stores `count` entries and reads one back.
  func fill(_ count: Int) throws {
    _ = try Load(peer, .sets(of: count), connections: 50, seconds: 0, in: workshop)
    let answer = try call("Get", #"{"key":"\#(Requests.key(count - 1))"}"#)
    guard answer.contains(#""secret":"r:"#) else { throw Failure("not the token that was stored: \(answer)") }
  }

  /// Its resident memory in kilobytes.
  func residentKB() throws -> Double { try child.residentKB() }
}

/// A server of another kind that runs until it is let go of.
struct Server {
  let peer: Peer
  private let child: Child

  /// The echo server.
  static func echo(in workshop: Workshop) throws -> Server {
    let socket = "\(workshop.folder)/echo.sock"
    return Server(
      peer: Peer(socket: socket, end: .echo), child: try Child(workshop.tool("echo"), [socket], in: workshop))
  }

  /// A Redis with 100 keys, with every write on the disk before its answer or with no file at all.
  static func redis(durable: Bool, in workshop: Workshop) throws -> Server {
    let folder = try workshop.makeFolder(durable ? "redis-durable" : "redis")
    let peer = Peer(socket: "\(folder)/redis.sock", end: .redis)
    let child = try Child(
      "redis-server",
      [
        "--port", "0", "--unixsocket", peer.socket, "--unixsocketperm", "700", "--dir", folder, "--save", "",
        "--appendonly", durable ? "yes" : "no", "--appendfsync", "always", "--daemonize", "no",
      ], in: workshop)
    _ = try Load(peer, .redisSets(of: 100), connections: 1, seconds: 0, in: workshop)
    return Server(peer: peer, child: child)
  }
}
