// The name that somebody may have meant: for unknown commands and flags of both programs and unknown keys of
// the configuration. Decides nothing; nobody ever acts on a guess.

/// The one of `names` that the fewest changes (a byte put in, left out or replaced, two neighbours swapped)
/// make of `text`; the first of several equally near.
/// - Returns: `nil` where more than a third of the longer of both would have to change, and for `text` that no
///   name comes near in length.
public func nearest(to text: String, among names: [String]) -> String? {
  let given = Array(text.utf8)
  var best: (name: String, distance: Int)?
  for name in names {
    let other = Array(name.utf8)
    let allowed = max(given.count, other.count) / 3
    guard abs(given.count - other.count) <= allowed else { continue }
    let distance = editDistance(given, other)
    guard distance <= allowed, distance < best?.distance ?? Int.max else { continue }
    best = (name, distance)
  }
  return best?.name
}

/// The optimal string alignment distance: Levenshtein's, with a swap of neighbours as one change.
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
  var beforeLast: [Int] = []
  var last = Array(0...right.count)
  for i in left.indices {
    var row = [i + 1]
    for j in right.indices {
      var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (left[i] == right[j] ? 0 : 1))
      if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
        cost = min(cost, beforeLast[j - 1] + 1)
      }
      row.append(cost)
    }
    beforeLast = last
    last = row
  }
  return last[right.count]
}
