// What is known of a provider's items by their paths, so that it is not asked again: their attributes, labels
// and sizes, never a secret. The provider's signals keep it true: it announces every change of attributes, and
// what is announced is forgotten. An item whose date matters (another program's, which has no version) is
// not kept, since a change of its secret is not announced.

import GLibLoop
import VaultModel

/// The items of one provider, as long as nothing is said of them.
@GLibActor
struct ItemCache {
  /// What is known of a path.
  enum Known {
    /// One of ours.
    case ours(Item)
    /// It is no token: it has no `namespace` or no `name`.
    case notOurs
  }

  private var items: [String: Known] = [:]
  private var sizes: [String: Int] = [:]

  /// Counts what was forgotten. Who asks for an item notes it before, and hands it in with the answer: what was
  /// forgotten meanwhile may be newer than the answer.
  private(set) var changes: UInt64 = 0

  init() {}

  /// What is known of an item; `nil` where it has to be asked for.
  subscript(path: String) -> Known? { items[path] }

  /// Keeps what an item was read to be, by a question that was asked when `changes` was `asked`.
  mutating func keep(_ item: Item, asked: UInt64) {
    guard !item.isLocked, asked == changes else { return }
    if items.count >= Limits.knownItems { items = [:] }
    if !item.has(Item.Attribute.namespace) || !item.has(Item.Attribute.name) {
      items[item.path] = .notOurs
    } else if item.attributes[Item.Attribute.version] != nil {
      items[item.path] = .ours(item)
    }
  }

  /// How many bytes a secret was found to have when it was read last; its attributes tell what we stored there, and
  /// another program may have changed it since.
  func size(of path: String) -> Int? { sizes[path] }

  /// Notes how many bytes a secret was found to have.
  mutating func note(size: Int, of path: String) {
    if sizes.count >= Limits.knownItems { sizes = [:] }
    sizes[path] = size
  }

  /// An item changed, or is gone.
  mutating func forget(_ path: String) {
    changes += 1
    items[path] = nil
    sizes[path] = nil
  }

  /// Something was locked or unlocked: attributes may read differently now.
  mutating func forgetAll() {
    changes += 1
    items = [:]
    sizes = [:]
  }
}
