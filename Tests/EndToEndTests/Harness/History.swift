// What a key may hold after changes that several clients made at once, some of them never answered. A change counts
// for good when it was acknowledged; one that began after that supersedes it. So the rule needs no order among
// changes that overlap.

/// The changes of one key that may be the last.
struct History {
  /// What a change leaves: the number of a set, or nothing.
  enum Value: Hashable {
    case nothing
    case token(Int)
  }

  /// One change.
  private struct Change {
    let value: Value
    let began: Int
    /// `nil`: nobody knows whether it took effect.
    var acknowledged: Int?
    /// When whoever asked was told that it failed, or lost the one who was asked.
    var failed: Int?
  }

  private var changes: [Change]

  /// A key that holds this.
  init(_ value: Value = .nothing) {
    changes = [Change(value: value, began: 0, acknowledged: 0)]
  }

  /// A change was sent, at this point of the test's own time.
  mutating func begin(_ value: Value, at time: Int) {
    changes.append(Change(value: value, began: time, acknowledged: nil))
  }

  /// The change that began then was acknowledged now: what had ended before it began, one way or the other, is over.
  mutating func acknowledge(_ began: Int, at time: Int) {
    changes.removeAll { ($0.acknowledged ?? $0.failed ?? .max) < began }
    if let index = changes.firstIndex(where: { $0.began == began }) { changes[index].acknowledged = time }
  }

  /// The change that began then ended without a word about whether it took effect.
  mutating func fail(_ began: Int, at time: Int) {
    if let index = changes.firstIndex(where: { $0.began == began }) { changes[index].failed = time }
  }

  /// The change that began then surely did not happen.
  mutating func withdraw(_ began: Int) { changes.removeAll { $0.began == began } }

  /// What the key may hold.
  var possible: Set<Value> { Set(changes.map(\.value)) }

  /// It holds this, as was just read.
  /// - Parameters:
  ///   - value: one of the possible.
  ///   - time: when.
  ///   - late: whether what was not acknowledged may still come.
  mutating func settle(_ value: Value, at time: Int, late: Bool) {
    let open = late ? changes.filter { $0.acknowledged == nil && $0.value != value } : []
    changes = [Change(value: value, began: time, acknowledged: time)] + open
  }
}
