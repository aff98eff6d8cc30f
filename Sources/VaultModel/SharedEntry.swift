// An entry that many answers are about: read once, written once. A store keeps it beside a record that is asked for
// again and again; whoever writes answers leaves in it what it wrote. It never changes: a change of the record makes
// another one. Holds no secret.

import Synchronization

/// An entry with its text.
public final class SharedEntry: Sendable {
  /// The entry.
  public let entry: Entry
  private let written: Mutex<[UInt8]?>

  /// The entry, with no text yet.
  public init(_ entry: Entry) {
    self.entry = entry
    written = Mutex(nil)
  }

  /// The entry as text: what `write` makes of it, which is asked once.
  public func text(_ write: (Entry) -> [UInt8]) -> [UInt8] {
    if let text = written.withLock({ $0 }) { return text }
    let text = write(entry)
    written.withLock { $0 = text }
    return text
  }
}
