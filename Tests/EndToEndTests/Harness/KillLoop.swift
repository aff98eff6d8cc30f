// Clients that set and clear a few keys at random, as fast as they are answered, until something is killed; then
// everything that was acknowledged has to be there, and nothing else. What is killed, and how it comes back, is the
// test's to say: vaultd, or what it stands on. Speaks the protocol itself, without a process a request.

import Foundation
import Glibc
import Spawning
import Testing

/// Rounds of changes, each ended by force.
struct KillLoop {
  /// How many rounds.
  var rounds = 300
  /// How many clients at once.
  var clients = 4
  /// Over how many keys.
  var keys = 6
  /// How many answers a round waits for at most, before the end comes at any moment of those that follow.
  var answers = 12
  /// The longest that the end is away then, in microseconds: about what a change takes.
  var longest: UInt32 = 1_500
  /// Whether a change may be refused, and whether one that was not acknowledged may take effect later: not in a file,
  /// whose one writer is dead, but in a store that lives on.
  var isUncertain = false

  /// Runs the rounds.
  /// - Parameters:
  ///   - test: how the seed is announced.
  ///   - first: the daemon of the first round.
  ///   - disturb: called between the answers of a round.
  ///   - kill: kills what is to be killed and brings it back; gives the daemon of the next round, which may be the
  ///     same.
  /// - Throws: where a client is refused or gets no answer.
  /// - Returns: how many changes were acknowledged.
  @discardableResult
  func run(
    _ test: String, _ first: DaemonUnderTest, disturb: (inout Seeded) throws -> Void = { _ in },
    kill: (DaemonUnderTest, inout Seeded) throws -> DaemonUnderTest
  ) throws -> Int {
    var random = Seeded(for: test)
    var daemon = first
    var game = Game(loop: self)
    for round in 1...rounds {
      let table = try Table(daemon, clients: clients)
      let enough = game.answered + Int.random(in: 0...answers, using: &random)
      while game.answered < enough {
        try game.ask(table, &random)
        try disturb(&random)
        try game.hear(table)
      }
      try game.ask(table, &random)
      usleep(UInt32.random(in: 0...longest, using: &random))
      let next = try kill(daemon, &random)
      // What was sent before the end is an answer.
      try game.hearTheRest(table)
      daemon = next
      try game.check(try daemon.connect(), "round \(round), seed \(random.seed)")
    }
    return game.acknowledged
  }

  /// The clients of a round.
  private final class Table {
    struct Call {
      let key: Int
      let began: Int
      let isClear: Bool
    }

    let connections: [RawConnection]
    var calls: [Call?]

    init(_ daemon: DaemonUnderTest, clients: Int) throws {
      connections = try (0..<clients).map { _ in try daemon.connect() }
      calls = connections.map { _ in nil }
    }
  }

  /// What was asked and answered so far.
  private struct Game {
    let loop: KillLoop
    var histories: [History]
    var time = 0
    var answered = 0
    var acknowledged = 0

    init(loop: KillLoop) {
      self.loop = loop
      histories = (0..<loop.keys).map { _ in History() }
    }

    private func name(_ key: Int) -> String { "Killed.k\(key)" }

    /// Gives every client that has nothing to wait for a change to make.
    mutating func ask(_ table: Table, _ random: inout Seeded) throws {
      for index in table.calls.indices where table.calls[index] == nil {
        let key = Int.random(in: 0..<loop.keys, using: &random)
        let isClear = Int.random(in: 0..<4, using: &random) == 0
        time += 1
        table.calls[index] = Table.Call(key: key, began: time, isClear: isClear)
        histories[key].begin(isClear ? .nothing : .token(time), at: time)
        if isClear {
          try table.connections[index].send("org.vaultd.Vault.Clear", ["key": name(key)])
        } else {
          // Some are larger than a page, so that a change is several writes.
          let size = [0, 0, 0, 700, 20_000].randomElement(using: &random) ?? 0
          try table.connections[index].send(
            "org.vaultd.Vault.Set", Fields(number: time, size: size).parameters(name(key)))
        }
      }
    }

    /// Takes the next answers.
    mutating func hear(_ table: Table) throws {
      let ready = RawConnection.answering(table.connections, until: .now + .seconds(20))
      guard !ready.isEmpty else { throw HarnessFailure("no answer within 20 s") }
      for index in ready {
        guard let answer = try table.connections[index].answer() else {
          throw HarnessFailure("a connection was closed before its daemon was killed")
        }
        try take(answer, table, index)
      }
    }

    /// Takes the answers that are on their way when it is over.
    mutating func hearTheRest(_ table: Table) throws {
      for index in table.calls.indices where table.calls[index] != nil {
        if let answer = try table.connections[index].answer() {
          try take(answer, table, index)
        } else if let call = table.calls[index] {
          time += 1
          histories[call.key].fail(call.began, at: time)
        }
        table.calls[index] = nil
      }
    }

    private mutating func take(_ answer: Answer, _ table: Table, _ index: Int) throws {
      guard let call = table.calls[index] else { return }
      table.calls[index] = nil
      (time, answered) = (time + 1, answered + 1)
      if answer.error == nil {
        histories[call.key].acknowledge(call.began, at: time)
        acknowledged += 1
      } else if loop.isUncertain {
        histories[call.key].fail(call.began, at: time)
      } else {
        throw HarnessFailure("a change was refused: \(answer.object)")
      }
    }

    /// Reads every key and compares.
    mutating func check(_ connection: RawConnection, _ comment: String) throws {
      for key in 0..<loop.keys {
        let possible = histories[key].possible
        let found = try eventually { () throws -> History.Value? in
          let answer = try connection.call("org.vaultd.Vault.Get", ["key": name(key)])
          if answer.error == "org.vaultd.Vault.NotFound" { return .nothing }
          if answer.error == nil { return try Fields.read(answer, comment) }
          guard loop.isUncertain else { throw HarnessFailure("\(comment): \(answer.object)") }
          return nil
        }
        let value = try #require(found, "\(comment): \(name(key)) can't be read")
        #expect(possible.contains(value), "\(comment): \(name(key)) holds \(value), none of \(possible)")
        time += 1
        histories[key].settle(value, at: time, late: loop.isUncertain)
      }
    }
  }

  /// The fields of one set. All of them tell its number, so that parts of two show.
  private struct Fields {
    let number: Int
    let size: Int

    func parameters(_ key: String) -> [String: Any] {
      [
        "key": key, "secret": "\(number):" + String(repeating: "x", count: size), "label": "set \(number)",
        "expires": 4_000_000_000 + number, "idle": 1_000_000 + number,
      ]
    }

    static func read(_ answer: Answer, _ comment: String) throws -> History.Value {
      let entry = answer.parameters["entry"] as? [String: Any] ?? [:]
      let secret = answer.parameters["secret"] as? String ?? ""
      let number = try #require(
        secret.split(separator: ":").first.flatMap { Int($0) }, "\(comment): \(secret)")
      #expect(entry["label"] as? String == "set \(number)", "\(comment)")
      #expect(entry["expires"] as? Int == 4_000_000_000 + number, "\(comment)")
      #expect(entry["idle"] as? Int == 1_000_000 + number, "\(comment)")
      #expect(entry["size"] as? Int == secret.utf8.count, "\(comment)")
      return .token(number)
    }
  }
}
