// What an item in the Secret Service is to us: the value that we stored, one that another program put in its place, or
// what a write of ours did whose answer never came. What is learned is recorded, so that a version is never the name
// of two values. Called after each read from the provider; asks nobody itself.

import SecretMemory
import VaultModel

extension Vault {
  /// Makes of what the provider has, and of what is recorded, the token that is answered.
  func recognise(_ found: Token, _ known: StateRecord?) async -> Token {
    let entry = recognised(found, known)
    switch known?.standing {
    case .present(let recorded):
      // The same as what is recorded: nothing to write down.
      if known?.intent != nil || entry.version != recorded.version { await note(entry, insteadOf: known) }
    case .expired(let old):
      if entry.version != old.version { await note(entry, insteadOf: known) }
    case .absent, nil: await note(entry, insteadOf: known)
    case .superseded, .removed: break
    }
    return Token(entry: entry, secret: found.secret)
  }

  /// The same, without writing anything down.
  func recognised(_ found: Token, _ known: StateRecord?) -> Entry {
    switch known?.standing {
    case .present(let recorded):
      known?.intent == nil ? recognise(found.entry, over: recorded) : settled(found, known)
    case .absent: settled(found, known)
    case nil: firstSeen(found.entry)
    case .expired(let old): recognise(found.entry, over: old)
    // It changed while the provider was asked, and this read is told to nobody who came after that.
    case .superseded, .removed: firstSeen(found.entry)
    }
  }

  /// The provider has nothing: a first write whose outcome was unknown did not happen.
  func recogniseNothing(_ id: EntryID, _ known: StateRecord?) async {
    guard let known, known.standing == .absent, known.intent != nil, turns.isFree(id) else { return }
    await turns.take(id) {
      guard (try? record(id)) == known else { return }
      try? await state.drop(id, version: known.version)
      unsettled.remove(id)
    }
  }

  /// Another program's item, seen for the first time: its version is the date of its last change.
  func firstSeen(_ entry: Entry) -> Entry {
    guard entry.version == 0 else { return entry }
    var seen = entry
    seen.version = max(1, entry.modified.milliseconds)
    return seen
  }

  /// The entry in a list.
  func listed(_ recorded: Entry, as found: Entry) -> Entry {
    recognise(found, over: recorded)
  }

  /// An item of which something is recorded: that, or what another program made of it.
  private func recognise(_ found: Entry, over recorded: Entry) -> Entry {
    if found.version == 0 {
      if recorded.setAt == nil, recorded.modified == found.modified, recorded.size == found.size {
        return recorded
      }
      var changed = found
      changed.version = max(recorded.version + 1, found.modified.milliseconds)
      changed.created = recorded.created
      return changed
    }
    if found.version > recorded.version { return found }
    if found.size == recorded.size { return recorded }
    // Our item with a secret that is not ours; what we said of its end still holds.
    var changed = recorded
    changed.version = max(recorded.version + 1, clock.wall.milliseconds)
    changed.size = found.size
    return changed
  }

  /// What a write did whose outcome is unknown, by what is there now.
  private func settled(_ found: Token, _ known: StateRecord?) -> Entry {
    guard let intent = known?.intent else { return firstSeen(found.entry) }
    if found.entry.version == intent.version { return intent }
    guard case .present(let old) = known?.standing else { return firstSeen(found.entry) }
    if found.entry.version == 0 || found.entry.version > intent.version {
      return recognise(found.entry, over: old)
    }
    let size = found.secret.count
    if size == old.size, size != intent.size { return old }
    // The secret may be the new one although the item's attributes are the old ones: it is given a version of its own,
    // so that nobody takes it for what it may not be, and the earlier end of the two.
    var entry = intent
    entry.version = nextVersion()
    entry.created = old.created
    entry.size = size
    entry.expires = [old.expires, intent.expires].compactMap { $0 }.min()
    entry.idle = [old.idle, intent.idle].compactMap { $0 }.min()
    return entry
  }

  /// Records what the key's value turned out to be, and tells who watches.
  private func note(_ entry: Entry, insteadOf known: StateRecord?) async {
    // A change of the key is under way: it will record what comes of it.
    guard state.trouble == nil, turns.isFree(entry.id) else { return }
    await turns.take(entry.id) {
      guard (try? record(entry.id)) == known else { return }
      let record = StateRecord(id: entry.id, version: entry.version, standing: .present(entry))
      // The token is in hand: that this could not be recorded is no reason to hold it back.
      guard (try? await state.keep(record)) != nil else { return }
      unsettled.remove(entry.id)
      schedule(entry)
      if case .present(let old) = known?.standing, old.version == entry.version { return }
      watchers.tell(VaultEvent(.set, id: entry.id, version: entry.version, store: .secretService))
      changeCount += 1
    }
  }
}
