// Get through the Secret Service, beside libsecret's own look-up of the same items over a connection that is kept.
// The value of a key that is asked again within a second comes from the daemon's memory.

import Foundation
import Measuring

/// Measures with a gnome-keyring of 100 items.
func keyring(in workshop: Workshop) throws -> [Row] {
  let items = 100
  let session = try SecretServiceSession(items: items, in: workshop)
  let daemon = try Daemon("keyring", store: "secret-service", session: session, in: workshop)
  // Entries of the daemon's own, as they are once a client has stored them.
  _ = try Load(daemon.peer, .sets(0..<items), connections: 1, seconds: 0, in: workshop)
  // Each is asked less than once in a second, so that no value is young enough when its turn comes.
  let each = Requests.gets(of: items)
  let same = Requests.call("Get", #"{"key":"\#(Requests.key(1))"}"#)
  let answer = try daemon.call("Get", #"{"key":"\#(Requests.key(1))"}"#)
  guard answer.contains(#""secret":"\#(Requests.token(1))""#) else {
    throw Failure("not the token: \(answer)")
  }
  let times = try inTurn(
    workshop.settings.scale.rounds,
    { try Load(daemon.peer, same, connections: 1, in: workshop).median / 1_000 },
    { try Load(daemon.peer, each, connections: 1, seconds: 4, every: 1.1, in: workshop).median / 1_000 },
    { try session.libsecret(.lookup, times: 5 * items) })
  let peer = "libsecret look-up"
  return [
    .ratio("Get through the Secret Service, cached", times[0], times[2], of: "ms", peer: peer),
    .ratio("Get through the Secret Service, not cached", times[1], times[2], of: "ms", peer: peer),
  ]
}
