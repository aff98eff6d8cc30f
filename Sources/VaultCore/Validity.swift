// Whether an entry's time is over (behaviour.md, "Expiry"): decided by the wall clock and the boot clock together.
// Judges, and changes nothing; what follows from it is in `Reading` and `Expiring`.

import VaultModel

/// How it stands with the time of an entry.
enum Validity: Hashable {
  /// It has no end.
  case forever
  /// So many milliseconds are left, at least one.
  case left(Int64)
  /// It is over, since then by the wall clock.
  case over(at: WallTime)
  /// The wall clock is behind what it was before the machine was started: until it has caught up the entry is hidden,
  /// and may still have time left.
  case doubtful(end: WallTime, until: WallTime)

  /// Milliseconds left; `nil` where there is no end, 0 where it is not to be handed out.
  var milliseconds: Int64? {
    switch self {
    case .forever: nil
    case .left(let milliseconds): milliseconds
    case .over, .doubtful: 0
    }
  }
}

extension Entry {
  /// How it stands with it now.
  /// - Parameters:
  ///   - use: its last use, where that is known to be later than `lastUse`.
  ///   - now: now, by all clocks.
  ///   - latest: the latest wall time that was ever recorded.
  /// - Returns: how much is left, or since when it is over.
  func validity(use: Moment?, now: Moment, latest: WallTime) -> Validity {
    guard let end = end(use: use) else { return .forever }
    if isPurged { return .over(at: end) }
    var left = Int64.max
    var isOfThisBoot = true
    if let expires {
      left = expires.milliseconds.minus(now.wall.milliseconds)
      if let setAt, setAt.bootID == now.bootID {
        let length = expires.milliseconds.minus(setAt.wall.milliseconds)
        left = min(left, length.minus(now.boot.milliseconds.minus(setAt.boot.milliseconds)))
      } else {
        isOfThisBoot = false
      }
    }
    if let idle {
      let length = idle.inMilliseconds
      if let use = use ?? lastUse ?? setAt {
        left = min(left, length.minus(now.wall.milliseconds.minus(use.wall.milliseconds)))
        if use.bootID == now.bootID {
          left = min(left, length.minus(now.boot.milliseconds.minus(use.boot.milliseconds)))
        } else {
          isOfThisBoot = false
        }
      } else {
        left = min(left, length.minus(now.wall.milliseconds.minus(modified.milliseconds)))
        isOfThisBoot = false
      }
    }
    if left <= 0 { return .over(at: end) }
    if !isOfThisBoot, now.wall < latest { return .doubtful(end: end, until: latest) }
    return .left(left)
  }

  /// When it ends by the wall clock; `nil` for never.
  private func end(use: Moment?) -> WallTime? {
    var end = expires
    if let idle {
      let last = (use ?? lastUse)?.wall ?? setAt?.wall ?? modified
      let idleEnd = WallTime(milliseconds: last.milliseconds.minus(-idle.inMilliseconds))
      end = end.map { min($0, idleEnd) } ?? idleEnd
    }
    return end
  }
}

// What is computed with may come from a file that anybody can write: it is cut off, and never traps.
extension Int64 {
  /// The difference, or the number nearest to it.
  fileprivate func minus(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    if !overflow { return difference }
    return self < 0 ? .min : .max
  }

  /// Seconds as milliseconds, or the most there are.
  fileprivate var inMilliseconds: Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: 1_000)
    return overflow ? .max : product
  }
}
