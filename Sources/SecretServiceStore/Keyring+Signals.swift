// What the provider's signals lead to. A signal about an item is news unless our own write caused it: what is said
// while a key is being changed is judged when the change ends, by what the item was read to be then, and what comes
// after that by another look. A deletion is told only where no other item of the key is left.

import GLibLoop
import VaultCore
import VaultModel

extension Keyring {
  /// A signal about an item.
  func hear(_ signal: ItemSignal) {
    guard let id = report.id(of: signal.path) else {
      switch signal.kind {
      case .made: identify(signal)
      case .changed: report.add(.itemChanged(nil))
      case .deleted: break  // nothing that we know of
      }
      return
    }
    if signal.kind == .deleted { report.forget(signal.path) }
    judge(signal, id)
  }

  /// An item was made: whose is it?
  private func identify(_ signal: ItemSignal) {
    guard let provider = client.provider else { return }
    Task { @GLibActor in
      guard let item = try? await properties([signal.path], provider, by: lookLimit).first, let id = item.id
      else { return }
      judge(signal, id)
    }
  }

  /// Is it news?
  private func judge(_ signal: ItemSignal, _ id: EntryID) {
    if lanes.isChanging(id) {
      heard[id, default: []].append(signal)
      return
    }
    switch signal.kind {
    case .deleted:
      // Whatever it turns out to be, what was read before counts no more.
      report.add(.itemChanged(id))
      confirmDeletion(of: id)
    case .made, .changed:
      guard let writing = client.provider?.writings[signal.path] else {
        report.add(.itemChanged(id))
        return
      }
      if signal.arrival > writing.arrival { look(at: signal, id) }
    }
  }

  /// A change of ours has ended: judges what was said of the key meanwhile.
  func changeEnded(_ id: EntryID) {
    let ours = removed.removeValue(forKey: id) ?? []
    for signal in heard.removeValue(forKey: id) ?? [] where !ours.contains(signal.path) { judge(signal, id) }
  }

  // MARK: Looking

  private var lookLimit: Deadline { .after(milliseconds: Int64(Limits.timeout) * 1_000) }

  /// Finds out whether an item is still what we wrote; one item at a time, however many signals come.
  private func look(at signal: ItemSignal, _ id: EntryID) {
    suspects[signal.path] = (id, signal)
    guard !isLooking else { return }
    isLooking = true
    Task { @GLibActor in
      while let (path, (id, signal)) = suspects.popFirst() {
        let writing = client.provider?.writings[path]?.arrival
        if await isOurs(path) { continue }
        if lanes.isChanging(id) || client.provider?.writings[path]?.arrival != writing {
          // A change of ours went on meanwhile, and has read it or will.
          judge(signal, id)
          continue
        }
        client.provider?.writings.forget(path)
        report.add(.itemChanged(id))
      }
      isLooking = false
    }
  }

  private func isOurs(_ path: String) async -> Bool {
    guard let provider = client.provider, let session = provider.openSession else { return false }
    let asked = askProperties(path, provider)
    do throws(Trouble) {
      guard let secret = try await readSecret(path, provider, session, by: lookLimit),
        let item = try await properties(path, asked, provider, by: lookLimit),
        // Of what was written last.
        let writing = provider.writings[path]
      else { return false }
      return writing.isStill(item, fingerprint: Writings.fingerprint(secret))
    } catch {
      return false
    }
  }

  // MARK: Deletions

  /// An item of a known key was deleted: is that the last one, with everything unlocked?
  private func confirmDeletion(of id: EntryID) {
    guard let provider = client.provider else { return }
    let before = deletions[id]
    let looking = Shared { [weak self] in
      // One after the other: the last look is the one that counts.
      if let before { _ = await before.value(by: .after(milliseconds: .max)) }
      await self?.deleted(id, provider)
    }
    deletions[id] = looking
    Task { @GLibActor in
      _ = await looking.value(by: .after(milliseconds: .max))
      if deletions[id] === looking { deletions[id] = nil }
    }
  }

  private func deleted(_ id: EntryID, _ provider: Provider) async {
    let limit = lookLimit
    // The items last, and nothing is waited for after that: a change of ours that came in between would be undone by
    // this word.
    guard let path = try? await provider.defaultCollection(by: limit),
      (try? await provider.isLocked(.collection(path), by: limit)) == false,
      let found = try? await find(id, provider, by: limit), provider.end == nil
    else { return report.add(.itemChanged(id)) }
    guard !lanes.isChanging(id) else { return }
    report.add(found.isEmpty ? .itemDeleted(id) : .itemChanged(id))
  }

  /// Waits, where an item of the key was deleted a moment ago, until what came of it was told: who finds nothing then
  /// knows why. What was there while we watched and is not found any more was deleted, also before its signal comes.
  func deletionIsTold(_ id: EntryID, by deadline: Deadline) async {
    if deletions[id] == nil, !lanes.isChanging(id), report.forgetItems(of: id) { confirmDeletion(of: id) }
    if let looking = deletions[id] { _ = await looking.value(by: deadline) }
    // Also what was found out already and waits to be told with others.
    report.tellNow()
  }

  // MARK: Learning

  /// Learns which item has which key, so that a deletion can be told by key.
  func learnItems(of provider: Provider) {
    Task { @GLibActor in
      let deadline = lookLimit
      guard let found = try? await findAll(nil, provider, by: deadline) else { return }
      // A few at a time: requests come first.
      var rest = found.unlocked.prefix(Limits.knownItems)
      while !rest.isEmpty, client.provider === provider {
        _ = try? await properties(Array(rest.prefix(8)), provider, by: deadline)
        rest = rest.dropFirst(8)
      }
    }
  }
}
