// Which entry's time comes next: a heap, so that 100,000 entries with an end cost one alarm and no search. Knows
// points in time and names, and decides nothing.

import VaultModel

/// What is due for an entry.
struct Due: Hashable {
  /// What happens then.
  enum Step: Hashable {
    /// Its time is over, as far as was known when this was written.
    case end
    /// Its secret is to be removed.
    case purge
  }

  var time: BootTime
  var id: EntryID
  /// Of this version only.
  var version: Version
  var step: Step
}

/// What is due, the earliest first.
struct Schedule {
  private var heap: [Due] = []

  /// When something is due next; `nil` where nothing is.
  var next: BootTime? { heap.first?.time }

  /// Adds what is due.
  mutating func add(_ due: Due) {
    heap.append(due)
    var index = heap.count - 1
    while index > 0 {
      let parent = (index - 1) / 2
      if heap[parent].time <= heap[index].time { break }
      heap.swapAt(parent, index)
      index = parent
    }
  }

  /// Takes out what is due at `now`; `nil` where nothing is.
  mutating func take(now: BootTime) -> Due? {
    guard let first = heap.first, first.time <= now else { return nil }
    let last = heap.removeLast()
    if heap.isEmpty { return first }
    heap[0] = last
    var index = 0
    while true {
      let left = 2 * index + 1
      if left >= heap.count { break }
      let right = left + 1
      let child = right < heap.count && heap[right].time < heap[left].time ? right : left
      if heap[index].time <= heap[child].time { break }
      heap.swapAt(index, child)
      index = child
    }
    return first
  }

  /// Forgets everything.
  mutating func removeAll() {
    heap = []
  }
}
