// A thousand connections: what they cost while they are silent, and what is answered when all of them ask.

import Foundation
import Measuring

/// Measures with a daemon that has 100 entries in its file.
func connections(few: Daemon, in workshop: Workshop) throws -> [Row] {
  let gets = Requests.gets(of: 100)
  let times = try inTurn(
    workshop.settings.scale.rounds,
    { try Load(few.peer, gets, connections: 1, idle: 1_000, in: workshop).median },
    { try Load(few.peer, gets, connections: 1, idle: 10, in: workshop).median })
  let rates = try Rates(few, connections: 1_000, in: workshop)
  let busy = "Gets a second, 1,000 connections"
  return [
    .ratio(
      "Get beside 1,000 idle connections", times[0], times[1], of: "µs", peer: "beside 10",
      must: .atMost(1.05), aim: .atMost(1), note: "must: no slower, and 5 % for what medians vary"),
    .ratio(busy, rates.ours, rates.redis, of: "/s", peer: "Redis GET", note: rates.redisNote),
    .ratio(busy, rates.ours, rates.echo, of: "/s", peer: "C echo", note: rates.echoNote),
  ]
}
