// How reading and writing grow with the number of entries: the vault file beside gnome-keyring, one client each.

import Foundation
import Measuring

/// The median times that were measured, in microseconds.
struct Curves {
  /// What was timed; in this order are the times of each size.
  static let names = ["vault Get", "vault Set", "libsecret look-up", "libsecret store"]

  /// For each number of entries the times, where there is one.
  var points: [(entries: Int, times: [Double?])]

  /// As rows of a table.
  var cells: [[String]] {
    let heading = ["entries"] + Self.names
    return [heading]
      + points.map { point in
        [grouped(point.entries)] + point.times.map { $0.map(Plot.time) ?? "" }
      }
  }

  /// As a picture.
  var plot: Plot {
    let series = Self.names.indices.map { index in
      Plot.Series(
        name: Self.names[index] + (index < 2 ? " (file)" : " (gnome-keyring)"), isOurs: index < 2,
        isWriting: index % 2 == 1,
        points: points.compactMap { point in point.times[index].map { (Double(point.entries), $0) } })
    }
    return Plot(
      title: "One request of one client, by the number of entries", horizontal: "entries in the store",
      vertical: "median time", series: series)
  }
}

/// Measures one file that grows, and a gnome-keyring of each size.
func growth(in workshop: Workshop) throws -> Curves {
  let scale = workshop.settings.scale
  let daemon = try Daemon("growing", in: workshop)
  var points: [(entries: Int, times: [Double?])] = []
  var size = 10
  var filled = 0
  while size <= scale.manyEntries {
    try daemon.fill(filled..<size)
    filled = size
    let (gets, sets) = (Requests.gets(of: size), Requests.sets(of: size))
    var times: [Double?] = try inTurn(
      scale.rounds, { try Load(daemon.peer, gets, connections: 1, in: workshop).median },
      { try Load(daemon.peer, sets, connections: 1, in: workshop).median })
    times += try keyring(size, in: workshop)
    points.append((size, times))
    size *= 10
  }
  return Curves(points: points)
}

/// Look-up and store in a gnome-keyring of some sizes: at 10, 1,000 and 10,000 items.
private func keyring(_ size: Int, in workshop: Workshop) throws -> [Double?] {
  guard [10, 1_000, 10_000].contains(size), size <= workshop.settings.scale.manyItems else {
    return [nil, nil]
  }
  let session = try SecretServiceSession(items: size, in: workshop)
  // A store takes the better part of a second at 10,000.
  let (lookups, stores) = size < 10_000 ? (400, 60) : (100, 7)
  return [
    try session.libsecret(.lookup, times: lookups) * 1_000,
    try session.libsecret(.store, times: stores) * 1_000,
  ]
}
