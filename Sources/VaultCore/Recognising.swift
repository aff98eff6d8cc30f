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
    case .present, .absent, .expired: settled(found, known)
    // It changed while the provider was asked, and this read is told to nobody who came after that.
    case .superseded, .removed, nil: firstSeen(found.entry)
    }
  }

  /// The provider has nothing: a write whose outcome was unknown, where there was nothing before, did not happen.
  /// - Returns: what is known of the key then.
  func recogniseNothing(_ id: EntryID, _ known: StateRecord?) async -> StateRecord? {
    guard let known, known.intent != nil else { return known }
    var settled: StateRecord? = known
    switch known.standing {
    case .absent: settled = nil
    case .expired: settled?.intent = nil
    case .present, .superseded, .removed: return known
    }
    guard turns.isFree(id) else { return settled }
    await turns.take(id) {
      guard (try? record(id)) == known else { return }
      if let settled {
        try? await state.keep(settled)
      } else {
        try? await state.drop(id, version: known.version)
      }
      unsettled.remove(id)
    }
    return settled
  }

  /// Looks what a write did whose outcome is unknown, and records it; in the key's turn. Where the provider has nothing
  /// all stays as it is: what is made next is a new item.
  func settleInTurn(_ id: EntryID, _ known: StateRecord, _ patience: Patience) async throws(VaultError) {
    do {
      guard let found = try await secretService.read(id, patience) else { return }
      try await keep(recognised(found, known), insteadOf: known)
    } catch {
      // Too large is another program's, and none of ours.
      if case .tooLarge = error { return }
      throw error
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
    changed.version = nextVersion()
    changed.size = found.size
    return changed
  }

  /// What a write did whose outcome is unknown, by what is there now: the entry that was to be written, or what was
  /// there before it.
  private func settled(_ found: Token, _ known: StateRecord?) -> Entry {
    guard let intent = known?.intent, found.entry.version <= intent.entry.version else {
      return withoutWrite(found.entry, known)
    }
    // The secret is written first: what has the attributes had it, and what came over it since is another's.
    if found.entry.version == intent.entry.version { return recognise(found.entry, over: intent.entry) }
    return switch isSecret(found.secret, of: intent) {
    case true?: recognisable(intent.entry, in: found.entry)
    case false?: withoutWrite(found.entry, known)
    case nil: doubtful(found, known, intent.entry)
    }
  }

  /// What is there, where no write is in doubt.
  private func withoutWrite(_ found: Entry, _ known: StateRecord?) -> Entry {
    switch known?.standing {
    case .present(let old), .expired(let old): recognise(found, over: old)
    case .superseded, .absent, .removed, nil: firstSeen(found)
    }
  }

  /// What is there after a write whose fingerprint tells nothing any more: by its size.
  private func doubtful(_ found: Token, _ known: StateRecord?, _ intent: Entry) -> Entry {
    guard found.secret.count == intent.size else { return withoutWrite(found.entry, known) }
    var old = firstSeen(found.entry)
    if case .present(let recorded) = known?.standing { old = recorded }
    if old.size != intent.size { return recognisable(intent, in: found.entry) }
    // The secret may be the new one although the item's attributes are the old ones: it is given a version of its own,
    // so that nobody takes it for what it may not be, and the earlier end of the two.
    var entry = intent
    entry.version = nextVersion()
    entry.created = old.created
    entry.expires = [old.expires, intent.expires].compactMap { $0 }.min()
    entry.idle = [old.idle, intent.idle].compactMap { $0 }.min()
    return recognisable(entry, in: found.entry)
  }

  /// An entry whose secret is there and whose attributes are not: an item that has none of ours is known again by its
  /// date.
  private func recognisable(_ entry: Entry, in found: Entry) -> Entry {
    guard found.version == 0 else { return entry }
    var entry = entry
    (entry.modified, entry.setAt) = (found.modified, nil)
    return entry
  }

  /// Records what the key's value turned out to be, and tells who watches.
  private func note(_ entry: Entry, insteadOf known: StateRecord?) async {
    // A change of the key is under way: it will record what comes of it.
    guard state.trouble == nil, turns.isFree(entry.id) else { return }
    await turns.take(entry.id) {
      guard (try? record(entry.id)) == known else { return }
      // The token is in hand: that this could not be recorded is no reason to hold it back.
      try? await keep(entry, insteadOf: known)
    }
  }

  private func keep(_ entry: Entry, insteadOf known: StateRecord?) async throws(VaultError) {
    try await state.keep(StateRecord(id: entry.id, version: entry.version, standing: .present(entry)))
    unsettled.remove(entry.id)
    schedule(entry)
    if case .present(let old) = known?.standing, old.version == entry.version { return }
    watchers.tell(VaultEvent(.set, id: entry.id, version: entry.version, store: .secretService))
    changeCount += 1
  }
}
