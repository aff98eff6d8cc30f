// What a provider says of one item by itself.

/// A signal about an item.
struct ItemSignal {
  /// What was done to it.
  enum Kind {
    case made, changed, deleted
  }

  let kind: Kind
  /// The item's path.
  let path: String
  /// Where the signal stands in the order of all that came over the connection.
  let arrival: UInt64
}
