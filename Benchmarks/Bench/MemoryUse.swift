// What the daemon has in memory: idle, after many requests, with many entries, and whether an hour's requests make it
// grow.

import Foundation
import Measuring

/// Measures daemons of their own, on the file and on the Secret Service.
func memory(in workshop: Workshop, report: ([Row]) -> Void) throws {
  let scale = workshop.settings.scale
  let session = try SecretServiceSession(items: 100, in: workshop)
  let service = try Daemon("service", store: "auto", session: session, in: workshop)
  try service.call("Set", #"{"key":"Bench.k000000","secret":"r:0"}"#)
  try service.call("Get", #"{"key":"Bench.k000000"}"#)
  let file = try Daemon("file", in: workshop)
  try file.fill(0..<100)
  comeToRest()
  report([
    size("idle, one token in the Secret Service", try service.memory(), must: .atMost(12), aim: .atMost(6)),
    size("idle, 100 entries in the file", try file.memory()),
  ])

  let before = (service: try service.memory().resident, file: try file.memory().resident)
  let gets = Requests.gets(of: 100).repeated(1_000)
  for daemon in [service, file] { _ = try Load(daemon.peer, gets, connections: 50, seconds: 0, in: workshop) }
  comeToRest()
  report([
    size("after 100,000 Gets, Secret Service", try service.memory(), besides: before.service),
    size("after 100,000 Gets, file", try file.memory(), besides: before.file),
  ])
  report([try hour(of: file, scale.hour, "file", in: workshop)])
  report([try hour(of: service, scale.hour / 10, "Secret Service", in: workshop)])

  try file.fill(100..<scale.manyEntries)
  comeToRest()
  report([size("idle, \(grouped(scale.manyEntries)) entries in the file", try file.memory())])
}

/// Sends an hour's requests over 50 connections that are made anew for each twentieth of them.
private func hour(of daemon: Daemon, _ count: Int, _ store: String, in workshop: Workshop) throws -> Row {
  let requests = Requests.mixed(count / 20)
  var sizes: [Double] = []
  let start = ContinuousClock.now
  for _ in 0..<20 {
    _ = try Load(daemon.peer, requests, connections: 50, seconds: 0, in: workshop)
    sizes.append(try daemon.memory().resident)
  }
  let seconds = Int((ContinuousClock.now - start) / .seconds(1))
  // The first few warm up what is kept for the next ones.
  let (early, late) = (median(Array(sizes[3..<8])), median(Array(sizes[15..<20])))
  return .plain(
    "memory that an hour of \(grouped(count)) requests adds, \(store)", (late - early) / 1_000, "MB",
    besides: "\(number(early / 1_000)) MB early on", must: .atMost(0.25), aim: .atMost(0),
    note: "sent in \(seconds) s; must: no growth, and what a heap varies")
}

private func size(
  _ what: String, _ memory: Memory, besides before: Double? = nil, must: Bound? = nil, aim: Bound? = nil
) -> Row {
  .plain(
    "memory, \(what)", memory.resident / 1_000, "MB",
    besides: before.map { "before \(number($0 / 1_000)) MB" } ?? "", must: must, aim: aim,
    note: "\(number(memory.locked / 1_000)) MB may be locked")
}

/// Waits until a daemon that is asked nothing has given back what it needs for answering only (Limits.quietMilliseconds).
private func comeToRest() { sleep(5) }
