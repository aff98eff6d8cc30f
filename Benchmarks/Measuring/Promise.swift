// What was promised beside a peer that is measured in the same run, in turn with the daemon. The benchmark prints
// all of it; a test fails where one of the musts is missed by far.

import Foundation

/// A promise that one measurement shows to be kept or not.
package enum Promise: String, CaseIterable, Sendable {
  case command = "vault get, whole process"
  case oneReader = "Get, kept connection, one client"
  case manyReaders = "Gets a second, 50 connections"
  case oneWriter = "Set in the file, one client"
  case manyWriters = "Sets a second in the file, 50 connections"

  /// The program of the peer that the must is about, where it isn't ours.
  package var peer: String? {
    switch self {
    case .command: "secret-tool"
    case .manyReaders, .manyWriters: "redis-server"
    case .oneReader, .oneWriter: nil
    }
  }

  /// Measures it with a daemon that has 100 entries in its file.
  /// - Parameters:
  ///   - daemon: what is measured.
  ///   - toAims: whether peers are measured that only an aim is about.
  ///   - workshop: where.
  /// - Throws: what could not be measured.
  /// - Returns: the row of the must, and those of other peers.
  package func measure(_ daemon: Daemon, toAims: Bool, in workshop: Workshop) throws -> [Row] {
    switch self {
    case .command: try command(daemon, toAims, workshop)
    case .oneReader: try oneReader(daemon, toAims, workshop)
    case .manyReaders: try manyReaders(daemon, toAims, workshop)
    case .oneWriter: try oneWriter(daemon, workshop)
    case .manyWriters: try manyWriters(daemon, workshop)
    }
  }

  private func command(_ daemon: Daemon, _ toAims: Bool, _ workshop: Workshop) throws -> [Row] {
    let session = try SecretServiceSession(items: 10, in: workshop)
    let vault = workshop.settings.vault
    let key = Requests.key(1)
    let ours = ["VAULTD_SOCKET": daemon.socket, "VAULTD_AUTOSTART": "no"]
    let said = try output(of: vault, ["get", key], environment: ours)
    let expected = try daemon.call("Get", #"{"key":"\#(key)"}"#)
    guard !said.isEmpty, expected.contains(#""secret":"\#(said)""#) else {
      throw Failure("vault get printed something else than the token")
    }
    let lookup = ["secret-tool", "lookup", "namespace", "Bench", "name", Requests.name(1)]
    let client = [try workshop.tool("client"), daemon.socket, key]
    let times = try inTurn(
      workshop.settings.scale.rounds,
      { try runTime([vault, "get", key], ours, workshop) },
      { try runTime(lookup, session.environment, workshop) },
      { toAims ? try runTime(client, [:], workshop) : .nan })
    let promised = Row.ratio(
      rawValue, times[0], times[1], of: "ms", peer: "secret-tool", must: .atMost(0.125))
    let aimed = Row.ratio(rawValue, times[0], times[2], of: "ms", peer: "static C client", aim: .atMost(1.5))
    return toAims ? [promised, aimed] : [promised]
  }

  private func oneReader(_ daemon: Daemon, _ toAims: Bool, _ workshop: Workshop) throws -> [Row] {
    let echo = try Server.echo(in: workshop)
    let gets = Requests.gets(of: 100)
    func time(_ peer: Peer, blocking: Bool = false) throws -> Double {
      if blocking, !toAims { return .nan }
      return try Load(peer, gets, connections: 1, blocking: blocking, in: workshop).median
    }
    let times = try inTurn(
      workshop.settings.scale.rounds, { try time(daemon.peer) }, { try time(echo.peer) },
      { try time(daemon.peer, blocking: true) }, { try time(echo.peer, blocking: true) })
    let promised = Row.ratio(
      rawValue, times[0], times[1], of: "µs", peer: "C echo", must: .atMost(1.5), aim: .atMost(1.2))
    let blocked = Row.ratio(
      "the same, the client blocks in recv", times[2], times[3], of: "µs", peer: "C echo",
      note: "the kernel wakes it up twice")
    return toAims ? [promised, blocked] : [promised]
  }

  private func manyReaders(_ daemon: Daemon, _ toAims: Bool, _ workshop: Workshop) throws -> [Row] {
    let rates = try Rates(daemon, connections: 50, withEcho: toAims, in: workshop)
    let promised = Row.ratio(
      rawValue, rates.ours, rates.redis, of: "/s", peer: "Redis GET", must: .atLeast(1), note: rates.redisNote
    )
    let aimed = Row.ratio(
      rawValue, rates.ours, rates.echo, of: "/s", peer: "C echo", aim: .atLeast(0.9), note: rates.echoNote)
    return toAims ? [promised, aimed] : [promised]
  }

  private func oneWriter(_ daemon: Daemon, _ workshop: Workshop) throws -> [Row] {
    let sets = Requests.sets(of: 100)
    let times = try inTurn(
      workshop.settings.scale.rounds,
      { try Load(daemon.peer, sets, connections: 1, in: workshop).median / 1_000 },
      { try appendTime(workshop) })
    return [
      .ratio(
        rawValue, times[0], times[1], of: "ms", peer: "append, fdatasync", must: .atMost(1.5),
        aim: .atMost(1.2))
    ]
  }

  private func manyWriters(_ daemon: Daemon, _ workshop: Workshop) throws -> [Row] {
    let durable = try Server.redis(durable: true, in: workshop)
    let sets = Requests.sets(of: 100)
    let rates = try inTurn(
      workshop.settings.scale.rounds,
      { try Load(daemon.peer, sets, connections: 50, in: workshop).rate },
      { try Load(durable.peer, .redisSets(of: 100), connections: 50, in: workshop).rate })
    return [
      .ratio(
        rawValue, rates[0], rates[1], of: "/s", peer: "Redis appendfsync always", must: .atLeast(0.4),
        aim: .atLeast(1))
    ]
  }
}

/// How many reads a second the daemon and its peers answer, all asked over as many connections.
package struct Rates {
  package let ours: Double
  package let redis: Double
  /// Not a number where it was not measured.
  package let echo: Double
  /// What has to be known of the peers' numbers.
  package let redisNote: String
  package let echoNote: String

  package init(
    _ daemon: Daemon, connections: Int, withEcho: Bool = true, in workshop: Workshop
  ) throws {
    let redis = try Server.redis(durable: false, in: workshop)
    let echo = withEcho ? try Server.echo(in: workshop) : nil
    let gets = Requests.gets(of: 100)
    var (redisClients, echoClients) = (0.0, 0.0)
    let rates = try inTurn(
      workshop.settings.scale.rounds,
      { try Load(daemon.peer, gets, connections: connections, in: workshop).rate },
      {
        let load = try Load(redis.peer, .redisGets(of: 100), connections: connections, in: workshop)
        redisClients = max(redisClients, load.clientShare)
        return load.rate
      },
      {
        guard let echo else { return .nan }
        let load = try Load(echo.peer, gets, connections: connections, in: workshop)
        echoClients = max(echoClients, load.clientShare)
        return load.rate
      })
    (ours, self.redis, self.echo) = (rates[0], rates[1], rates[2])
    func note(_ share: Double) -> String { share > 0.9 ? "the peer can do more than its clients asked" : "" }
    (redisNote, echoNote) = (note(redisClients), note(echoClients))
  }
}

/// The median time of a program from start to end, in milliseconds.
private func runTime(
  _ command: [String], _ environment: [String: String], _ workshop: Workshop
) throws -> Double {
  let runs = String(workshop.settings.scale.runs)
  return try nanoseconds(
    try workshop.tool("runs"), [runs, String(workshop.serverCPU)] + command, environment: environment) / 1e6
}

/// The median time of an append with fdatasync of as many bytes as a record has, in milliseconds.
private func appendTime(_ workshop: Workshop) throws -> Double {
  let appends = String(workshop.settings.scale.appends)
  return try nanoseconds(
    try workshop.tool("append"), ["\(workshop.folder)/appended", "256", appends, String(workshop.serverCPU)])
    / 1e6
}
