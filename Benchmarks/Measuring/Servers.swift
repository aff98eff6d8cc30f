// The servers of a run: the daemon that is measured, and its peers.

import Foundation

/// A `vaultd` with a data folder and a socket of its own.
package final class Daemon {
  package let socket: String
  private let folder: String
  private let workshop: Workshop
  private var child: Child
  private let environment: [String: String]
  private let store: String
  /// Its bus and keyring, which end no earlier than it does.
  private let session: SecretServiceSession?

  package var peer: Peer { Peer(socket: socket, end: .nul) }

  /// Starts a daemon with nothing in it. With `store` `file` it gets a vault file that a key file opens.
  package init(
    _ name: String, store: String = "file", session: SecretServiceSession? = nil, in workshop: Workshop
  ) throws {
    self.workshop = workshop
    self.store = store
    self.session = session
    folder = try workshop.makeFolder(name)
    socket = "\(folder)/run/vault.sock"
    _ = try workshop.makeFolder("\(name)/run")
    var environment = ["HOME": folder, "XDG_RUNTIME_DIR": "\(folder)/run", "SWIFT_BACKTRACE": "enable=no"]
    environment["DBUS_SESSION_BUS_ADDRESS"] = session?.address
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
    [
      "--socket", socket, "--store", store, "--data-dir", "\(folder)/data", "--log-level", "error",
    ]
  }

  /// Ends the daemon, measures how long another one on the same data takes to answer, in seconds, and starts it
  /// once more.
  package func timeToFirstAnswer() throws -> Double {
    child.end()
    let nanoseconds = try nanoseconds(
      try workshop.tool("first"),
      [socket, Requests.key(1), String(workshop.serverCPU), workshop.settings.vaultd]
        + Self.flags(folder, socket, store), environment: environment)
    child = try Self.start(folder, socket, store, environment, workshop)
    try call("Get", #"{"key":"\#(Requests.key(1))"}"#)
    return nanoseconds / 1e9
  }

  /// One call, once.
  @discardableResult
  package func call(_ method: String, _ parameters: String) throws -> String {
    try Load(peer, .call(method, parameters), connections: 1, seconds: 0, in: workshop).answer
  }

  /// Stores the entries of these numbers and reads the last one back.
  package func fill(_ numbers: Range<Int>, in namespace: String = "Bench") throws {
    _ = try Load(peer, .sets(numbers, in: namespace), connections: 50, seconds: 0, in: workshop)
    let answer = try call("Get", #"{"key":"\#(Requests.key(numbers.upperBound - 1, in: namespace))"}"#)
    guard answer.contains(#""secret":"r:"#) else { throw Failure("not the token that was stored: \(answer)") }
  }

  /// Asks one thing `times` times, whatever the size of the answer.
  /// - Returns: the median time in milliseconds, how many entries the last answer has, and its beginning.
  package func ask(
    _ method: String, _ parameters: String, times: Int = 1
  ) throws -> (milliseconds: Double, entries: Int, answer: String) {
    let text = try output(
      of: try workshop.tool("ask"),
      [socket, String(workshop.serverCPU), String(times), Requests.text(method, parameters)])
    let lines = text.split(separator: "\n", maxSplits: 1)
    let numbers = lines.first?.split(separator: " ").compactMap { Double($0) } ?? []
    guard numbers.count == 2, lines.count == 2 else { throw Failure("ask wrote \(text.prefix(200))") }
    return (numbers[0] / 1e6, Int(numbers[1]), String(lines[1]))
  }

  /// Its memory in kilobytes.
  package func memory() throws -> Memory { try child.memory() }
}

/// A server of another kind that runs until it is let go of.
package struct Server {
  package let peer: Peer
  private let child: Child

  /// The echo server.
  package static func echo(in workshop: Workshop) throws -> Server {
    let socket = "\(workshop.folder)/echo.sock"
    return Server(
      peer: Peer(socket: socket, end: .echo),
      child: try Child(try workshop.tool("echo"), [socket], in: workshop))
  }

  /// A Redis with 100 keys, with every write on the disk before its answer or with no file at all.
  package static func redis(durable: Bool, in workshop: Workshop) throws -> Server {
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
