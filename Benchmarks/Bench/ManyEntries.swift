// A vault file with many entries beside one with 100: reading, writing, opening, listing, clearing, memory.

import Foundation
import Measuring

/// Measures both in turn. What is measured is reported at once: what comes later may fail.
func manyEntries(few: Daemon, in workshop: Workshop, report: ([Row]) -> Void) throws {
  let (count, rounds) = (workshop.settings.scale.manyEntries, workshop.settings.scale.rounds)
  let name = "\(grouped(count)) entries"
  let many = try Daemon("many", in: workshop)
  try many.fill(0..<count)
  report(try requests(many, few, count, in: workshop))

  var waits: [(many: Double, few: Double)] = []
  var resident: [Double] = []
  for _ in 0..<rounds {
    waits.append((try many.timeToFirstAnswer(), try few.timeToFirstAnswer()))
    resident.append(try many.memory().resident - few.memory().resident)
  }
  report([
    .plain(
      "from start to the first answer, \(name)", median(waits.map(\.many)), "s",
      besides: "at 100 \(number(median(waits.map(\.few)))) s", must: .atMost(1), aim: .atMost(0.1)),
    .plain(
      "memory for each entry, just opened", median(resident) / Double(count - 100), "KB", must: .atMost(0.5),
      aim: .atMost(0.01)),
  ])
  report(try namespaces(many, few, count, rounds))
}

private func requests(
  _ many: Daemon, _ few: Daemon, _ count: Int, in workshop: Workshop
) throws -> [Row] {
  let name = "\(grouped(count)) entries"
  let gets = (many: Requests.gets(of: count), few: Requests.gets(of: 100))
  let sets = (many: Requests.sets(of: count), few: Requests.sets(of: 100))
  let times = try inTurn(
    workshop.settings.scale.rounds,
    { try Load(many.peer, gets.many, connections: 1, in: workshop).median },
    { try Load(few.peer, gets.few, connections: 1, in: workshop).median },
    { try Load(many.peer, sets.many, connections: 1, in: workshop).median / 1_000 },
    { try Load(few.peer, sets.few, connections: 1, in: workshop).median / 1_000 },
    { 1e6 / (try Load(many.peer, sets.many, connections: 50, in: workshop).rate) },
    { 1e6 / (try Load(few.peer, sets.few, connections: 50, in: workshop).rate) })
  return [
    .ratio(
      "Get at \(name), one client", times[0], times[1], of: "µs", peer: "at 100", must: .atMost(1.2),
      aim: .atMost(1)),
    .ratio(
      "Set at \(name), one client", times[2], times[3], of: "ms", peer: "at 100", must: .atMost(1.2),
      aim: .atMost(1)),
    .ratio(
      "a Set at \(name), 50 connections", times[4], times[5], of: "µs", peer: "at 100", must: .atMost(2.5),
      aim: .atMost(1.5)),
  ]
}

/// A namespace of 1,000 in either file is listed and cleared, and then the large one.
private func namespaces(_ many: Daemon, _ few: Daemon, _ count: Int, _ rounds: Int) throws -> [Row] {
  let (shelf, all) = (#"{"namespace":"Shelf"}"#, #"{"namespace":"Bench"}"#)
  var (lists, clears): ([(many: Double, few: Double)], [(many: Double, few: Double)]) = ([], [])
  for _ in 0..<rounds {
    for daemon in [many, few] { try daemon.fill(0..<1_000, in: "Shelf") }
    lists.append((try list(many, shelf, 1_000, times: 5), try list(few, shelf, 1_000, times: 5)))
    clears.append((try clear(many, shelf, 1_000), try clear(few, shelf, 1_000)))
  }
  let listed = try list(many, all, count, times: rounds)
  let cleared = try clear(many, all, count)
  let limit = "must: what a request may take by default"
  let place = "beside \(grouped(count)) entries"
  return [
    .ratio(
      "List of a namespace of 1,000 \(place)", median(lists.map(\.many)), median(lists.map(\.few)), of: "ms",
      peer: "beside 100"),
    .ratio(
      "clear of a namespace of 1,000 \(place)", median(clears.map(\.many)), median(clears.map(\.few)),
      of: "ms", peer: "beside 100"),
    .plain("List of a namespace of \(grouped(count))", listed / 1_000, "s", must: .atMost(10), note: limit),
    .plain("clear of a namespace of \(grouped(count))", cleared / 1_000, "s", must: .atMost(10), note: limit),
  ]
}

private func list(_ daemon: Daemon, _ namespace: String, _ count: Int, times: Int) throws -> Double {
  let asked = try daemon.ask("List", namespace, times: times)
  guard asked.entries == count else { throw Failure("\(asked.entries) of \(count) entries are listed") }
  return asked.milliseconds
}

private func clear(_ daemon: Daemon, _ namespace: String, _ count: Int) throws -> Double {
  let asked = try daemon.ask("ClearNamespace", namespace)
  guard asked.answer.contains(#""cleared":\#(count),"#) else { throw Failure("cleared: \(asked.answer)") }
  return asked.milliseconds
}

/// A number with commas.
func grouped(_ count: Int) -> String {
  var digits = String(count)
  var groups: [String] = []
  while digits.count > 3 {
    groups.insert(String(digits.suffix(3)), at: 0)
    digits.removeLast(3)
  }
  return ([digits] + groups).joined(separator: ",")
}
