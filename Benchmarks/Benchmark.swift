// The run: each promise of the table is measured against its peer, in turn with it, and printed as a row. What
// cannot be measured is said and makes the run fail; a target that is not met does not.

import Foundation

/// Runs everything and ends the process.
func benchmark() -> Never {
  do {
    let settings = try Settings(CommandLine.arguments.dropFirst())
    let run = try Comparison(settings)
    run.all()
    print(table([Row.heading] + run.rows.map(\.cells)))
    for failure in run.failures { print("not measured: \(failure)") }
    if !run.failures.isEmpty { print("what the servers said:\n\(run.log)") }
    let failed = !run.failures.isEmpty
    run.end()
    exit(failed ? 1 : 0)
  } catch {
    FileHandle.standardError.write(Data("bench: \(error)\n".utf8))
    exit(1)
  }
}

/// One run over the table.
final class Comparison {
  private(set) var rows: [Row] = []
  private(set) var failures: [String] = []
  private let settings: Settings
  private var workshop: Workshop?

  init(_ settings: Settings) throws {
    self.settings = settings
    workshop = try Workshop(settings)
  }

  /// Measures everything that can be measured.
  func all() {
    guard let workshop else { return }
    print(Self.machine(workshop.folder))
    do {
      let few = try Daemon("few", in: workshop)
      try few.fill(100)
      attempt("a whole process") { try processes(few, workshop) }
      attempt("reading, one client") { try oneReader(few, workshop) }
      attempt("reading, 50 connections") { try manyReaders(few, workshop) }
      attempt("writing, one client") { try oneWriter(few, workshop) }
      attempt("writing, 50 connections") { try manyWriters(few, workshop) }
      attempt("many entries") { try manyEntries(few, workshop) }
      attempt("idle connections") { try idleConnections(few, workshop) }
    } catch {
      failures.append("the daemon: \(error)")
    }
    attempt("memory") { try memory(workshop) }
  }

  /// The last lines that the servers wrote to standard error.
  var log: String {
    let log = workshop.flatMap { try? String(contentsOfFile: "\($0.folder)/log", encoding: .utf8) } ?? ""
    return log.split(separator: "\n").suffix(10).joined(separator: "\n")
  }

  /// Ends what was started and removes the folder.
  func end() { workshop = nil }

  private func attempt(_ what: String, _ measure: () throws -> Void) {
    FileHandle.standardError.write(Data("measuring: \(what)\n".utf8))
    do { try measure() } catch { failures.append("\(what): \(error)") }
  }

  // MARK: The rows

  private func processes(_ daemon: Daemon, _ workshop: Workshop) throws {
    let session = try SecretServiceSession(in: workshop)
    let key = Requests.key(1)
    let ours = ["VAULTD_SOCKET": daemon.socket, "VAULTD_AUTOSTART": "no"]
    let said = try output(of: settings.vault, ["get", key], environment: ours)
    let expected = try daemon.call("Get", #"{"key":"\#(key)"}"#)
    guard !said.isEmpty, expected.contains(#""secret":"\#(said)""#) else {
      throw Failure("vault get printed something else than the token")
    }
    let times = try inTurn(
      settings.rounds,
      { try self.runTime([self.settings.vault, "get", key], ours, workshop) },
      {
        try self.runTime(
          ["secret-tool", "lookup", "namespace", "Bench", "name", "token"], session.environment, workshop)
      },
      { try self.runTime([workshop.tool("client"), daemon.socket, key], [:], workshop) })
    rows.append(
      .ratio(
        "vault get, whole process", times[0], times[1], of: "ms", peer: "secret-tool", must: .atMost(0.125),
        aim: nil))
    rows.append(
      .ratio(
        "vault get, whole process", times[0], times[2], of: "ms", peer: "static C client", must: nil,
        aim: .atMost(1.5)))
  }

  private func oneReader(_ daemon: Daemon, _ workshop: Workshop) throws {
    let echo = try Server.echo(in: workshop)
    let gets = Requests.gets(of: 100)
    let reads = try inTurn(
      settings.rounds,
      { try self.load(daemon.peer, gets, connections: 1, workshop).median },
      { try self.load(echo.peer, gets, connections: 1, workshop).median })
    rows.append(
      .ratio(
        "Get, kept connection, one client", reads[0], reads[1], of: "µs", peer: "C echo", must: .atMost(1.5),
        aim: .atMost(1.2)))
  }

  private func manyReaders(_ daemon: Daemon, _ workshop: Workshop) throws {
    let echo = try Server.echo(in: workshop)
    let redis = try Server.redis(durable: false, in: workshop)
    let gets = Requests.gets(of: 100)
    var (redisClients, echoClients) = (0.0, 0.0)
    let reads = try inTurn(
      settings.rounds,
      { try self.load(daemon.peer, gets, connections: 50, workshop).rate },
      {
        let load = try self.load(redis.peer, .redisGets(of: 100), connections: 50, workshop)
        redisClients = max(redisClients, load.clientShare)
        return load.rate
      },
      {
        let load = try self.load(echo.peer, gets, connections: 50, workshop)
        echoClients = max(echoClients, load.clientShare)
        return load.rate
      })
    func note(_ share: Double) -> String { share > 0.9 ? "the peer can do more than its clients asked" : "" }
    rows.append(
      .ratio(
        "Gets a second, 50 connections", reads[0], reads[1], of: "/s", peer: "Redis GET", must: .atLeast(1),
        aim: nil, note: note(redisClients)))
    rows.append(
      .ratio(
        "Gets a second, 50 connections", reads[0], reads[2], of: "/s", peer: "C echo", must: nil,
        aim: .atLeast(0.9), note: note(echoClients)))
  }

  private func oneWriter(_ daemon: Daemon, _ workshop: Workshop) throws {
    let sets = Requests.sets(of: 100)
    let writes = try inTurn(
      settings.rounds,
      { try self.load(daemon.peer, sets, connections: 1, workshop).median / 1_000 },
      { try self.appendTime(workshop) })
    rows.append(
      .ratio(
        "Set in the file, one client", writes[0], writes[1], of: "ms", peer: "append, fdatasync",
        must: .atMost(1.5), aim: .atMost(1.2)))
  }

  private func manyWriters(_ daemon: Daemon, _ workshop: Workshop) throws {
    let durable = try Server.redis(durable: true, in: workshop)
    let sets = Requests.sets(of: 100)
    let writes = try inTurn(
      settings.rounds,
      { try self.load(daemon.peer, sets, connections: 50, workshop).rate },
      { try self.load(durable.peer, .redisSets(of: 100), connections: 50, workshop).rate })
    rows.append(
      .ratio(
        "Sets a second in the file, 50 connections", writes[0], writes[1], of: "/s",
        peer: "Redis appendfsync always", must: .atLeast(0.4), aim: .atLeast(1)))
  }

  private func idleConnections(_ daemon: Daemon, _ workshop: Workshop) throws {
    let gets = Requests.gets(of: 100)
    let times = try inTurn(
      settings.rounds,
      { try self.load(daemon.peer, gets, connections: 1, idle: 1_000, workshop).median },
      { try self.load(daemon.peer, gets, connections: 1, idle: 10, workshop).median })
    rows.append(
      .ratio(
        "Get beside 1,000 idle connections", times[0], times[1], of: "µs", peer: "beside 10",
        must: .atMost(1.05), aim: .atMost(1), note: "must: no slower, and 5 % for what medians vary"))
  }

  private func manyEntries(_ few: Daemon, _ workshop: Workshop) throws {
    let count = settings.manyEntries
    let name = count == 100_000 ? "100,000 entries" : "10,000 entries"
    let many = try Daemon("many", in: workshop)
    try many.fill(count)
    let gets = (many: Requests.gets(of: count), few: Requests.gets(of: 100))
    let sets = (many: Requests.sets(of: count), few: Requests.sets(of: 100))
    let times = try inTurn(
      settings.rounds,
      { try self.load(many.peer, gets.many, connections: 1, workshop).median },
      { try self.load(few.peer, gets.few, connections: 1, workshop).median },
      { try self.load(many.peer, sets.many, connections: 1, workshop).median / 1_000 },
      { try self.load(few.peer, sets.few, connections: 1, workshop).median / 1_000 },
      { 1e6 / (try self.load(many.peer, sets.many, connections: 50, workshop).rate) },
      { 1e6 / (try self.load(few.peer, sets.few, connections: 50, workshop).rate) })
    rows.append(
      .ratio(
        "Get at \(name), one client", times[0], times[1], of: "µs", peer: "at 100", must: .atMost(1.2),
        aim: .atMost(1)))
    rows.append(
      .ratio(
        "Set at \(name), one client", times[2], times[3], of: "ms", peer: "at 100", must: .atMost(1.2),
        aim: .atMost(1)))
    rows.append(
      .ratio(
        "a Set at \(name), 50 connections", times[4], times[5], of: "µs", peer: "at 100", must: .atMost(2.5),
        aim: .atMost(1.5)))

    var waits: [(many: Double, few: Double)] = []
    var resident: [Double] = []
    for _ in 0..<settings.rounds {
      waits.append((try many.timeToFirstAnswer(), try few.timeToFirstAnswer()))
      resident.append(try many.residentKB() - few.residentKB())
    }
    rows.append(
      .plain(
        "from start to the first answer, \(name)", median(waits.map(\.many)), "s",
        besides: "at 100 \(number(median(waits.map(\.few)))) s", must: .atMost(1), aim: .atMost(0.1)))
    rows.append(
      .plain(
        "memory for each entry", median(resident) / Double(count - 100), "KB", must: .atMost(0.5),
        aim: .atMost(0.01)))
  }

  private func memory(_ workshop: Workshop) throws {
    let session = try SecretServiceSession(in: workshop)
    let daemon = try Daemon("idle", store: "auto", bus: session.address, in: workshop)
    try daemon.call("Set", #"{"key":"Bench.idle","secret":"x"}"#)
    try daemon.call("Get", #"{"key":"Bench.idle"}"#)
    rows.append(
      .plain(
        "memory, idle, one token in the Secret Service", try daemon.residentKB() / 1_000, "MB",
        must: .atMost(12), aim: .atMost(6)))
  }

  // MARK: The numbers

  private func load(
    _ peer: Peer, _ requests: Requests, connections: Int, idle: Int = 0, _ workshop: Workshop
  ) throws -> Load {
    try Load(
      peer, requests, connections: connections, idle: idle, seconds: settings.seconds, in: workshop)
  }

  /// The median time of a program from start to end, in milliseconds.
  private func runTime(
    _ command: [String], _ environment: [String: String], _ workshop: Workshop
  ) throws -> Double {
    try nanoseconds(
      workshop.tool("runs"), [String(settings.runs), String(workshop.serverCPU)] + command,
      environment: environment) / 1e6
  }

  /// The median time of an append with fdatasync of as many bytes as a record has, in milliseconds.
  private func appendTime(_ workshop: Workshop) throws -> Double {
    let times = settings.quick ? "500" : "3000"
    return try nanoseconds(
      workshop.tool("append"), ["\(workshop.folder)/appended", "256", times, String(workshop.serverCPU)])
      / 1e6
  }

  private static func machine(_ folder: String) -> String {
    let processor =
      (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8))?
      .split(separator: "\n").first { $0.hasPrefix("model name") }?.split(separator: ":").last ?? "?"
    let kernel = (try? output(of: "uname", ["-sr"])) ?? "?"
    let files = (try? output(of: "stat", ["-f", "-c", "%T", folder])) ?? "?"
    // On a machine that does other things meanwhile, no number below means much.
    let load =
      (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8))?.split(separator: " ").first ?? "?"
    let words = [String(processor), kernel, "files on " + files, "load before \(load)"]
    return words.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.joined(separator: ", ")
  }
}
