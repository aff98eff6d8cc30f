// The tokens in the Secret Service: finding the items of a key, and reading them. Every step is a call with a
// limit, made to the one provider that the request began with. What a provider says is acted upon as
// designed: an item in the locked half of a search, or missing from GetSecrets, is locked and not missing; an
// item that vanished is searched again; a session that is gone is opened anew; "nothing there" is believed
// only of a provider that did not die while it was asked. Writing is in `Keyring+Writing`, what signals lead to in
// `Keyring+Signals`.

import GLibLoop
import SecretMemory
import VaultCore
import VaultModel

/// Reads and writes tokens through whoever provides the Secret Service.
@GLibActor
final class Keyring {
  let client: SecretServiceClient
  let report: ProviderReport
  let lanes = Lanes()

  /// What signals said of keys that are being changed by us, until the change ends.
  var heard: [EntryID: [ItemSignal]] = [:]
  /// The items that the change which is under way removed, key by key.
  var removed: [EntryID: Set<String>] = [:]
  /// Items that are to be looked at, since they may have changed after we wrote them.
  var suspects: [String: (id: EntryID, signal: ItemSignal)] = [:]
  var isLooking = false
  /// Deletions that are being looked at.
  var deletions: [EntryID: Shared<Void>] = [:]

  init(allowsPlain: Bool) {
    report = ProviderReport()
    client = SecretServiceClient(allowsPlain: allowsPlain, report: report)
    lanes.onEnd = { [weak self] id in self?.changeEnded(id) }
    report.onItem = { [weak self] signal in self?.hear(signal) }
    report.onReadable = { [weak self] provider in self?.learnItems(of: provider) }
  }

  /// Reads the token of a key and account; `nil` where there is none.
  func read(_ id: EntryID, _ allowance: Allowance) async throws(Trouble) -> Token? {
    try await attempt(allowance) { provider, diedBefore async throws(Trouble) in
      guard let token = try await self.readOnce(id, provider, allowance) else {
        if diedBefore { throw .lostWithProvider }
        await self.deletionIsTold(id, by: allowance.deadline)
        return nil
      }
      return token
    }
  }

  /// When an item of a key was last changed, as the provider says now; `nil` where there is none.
  func lastChange(_ id: EntryID, _ allowance: Allowance) async throws(Trouble) -> WallTime? {
    try await attempt(allowance) { provider, diedBefore async throws(Trouble) in
      let found = try await self.find(id, provider, by: allowance.deadline)
      if diedBefore, found.isEmpty { throw .lostWithProvider }
      let paths = found.unlocked + found.locked
      // A change of a secret alone is not announced: what is known of the items may be from before it.
      for path in paths { provider.items.forget(path) }
      let items = try await self.properties(paths, provider, by: allowance.deadline)
      return items.map(\.modified).filter { $0.milliseconds > 0 }.max()
    }
  }

  /// The entries of a namespace, or all.
  func list(_ namespace: Namespace?, _ allowance: Allowance) async throws(Trouble) -> [Entry] {
    try await attempt(allowance) { provider, diedBefore async throws(Trouble) in
      let entries = try await self.listOnce(namespace, provider, allowance)
      if diedBefore, entries.isEmpty { throw .lostWithProvider }
      return entries
    }
  }

  // MARK: Trying again

  /// Runs `body` with the provider; again where that makes sense: once with the next provider or connection
  /// when it went away, once with a new session, a few times when items vanished under it.
  func attempt<Result>(
    _ allowance: Allowance,
    _ body: @GLibActor (Provider, _ diedBefore: Bool) async throws(Trouble) -> Result
  ) async throws(Trouble) -> Result {
    var died = false
    var sessions = 0
    while true {
      var provider: Provider?
      do throws(Trouble) {
        let present = try await client.provider(by: allowance.deadline)
        provider = present
        let result = try await body(present, died)
        report.succeeded(present)
        return result
      } catch {
        if let end = provider?.end, !died, error != .gone(end) {
          // Whatever it said on its way out.
          died = true
          continue
        }
        switch error {
        case .gone where !died: died = true
        case .noSession where sessions == 0:
          sessions += 1
          // Not a newer one, which another request has opened meanwhile.
          if let session = allowance.session { provider?.dropSession(session) }
        case .noSuchObject: try allowance.searchAgain(error)
        case .gone, .noSession, .noBus, .noProvider, .noAnswer, .isLocked, .promptNotWanted,
          .dismissed, .promptNotAnswered, .noDefaultCollection, .onlyPlain, .denied, .refused, .senseless,
          .removalNeedsPrompt, .notRemoved, .notKept, .lostWithProvider, .tooLarge, .own:
          report.failed(provider, error)
          if error == .noAnswer { client.watchForAnswer() }
          throw error
        }
      }
    }
  }

  // MARK: Finding

  /// The items of a key and account.
  struct Found {
    var unlocked: [String]
    var locked: [String]
    var isEmpty: Bool { unlocked.isEmpty && locked.isEmpty }
  }

  /// Searches for the items of exactly this key and account. An item without the attribute `account` is of
  /// the empty account.
  func find(_ id: EntryID, _ provider: Provider, by deadline: Deadline) async throws(Trouble) -> Found {
    let exact = beginSearch(Item.exact(id), provider)
    guard id.account == .empty else { return try await found(exact, provider, by: deadline) }
    var wide = Item.exact(id)
    wide[Item.Attribute.account] = nil
    let all = beginSearch(wide, provider)
    var result = try await found(exact, provider, by: deadline)
    let others = try await found(all, provider, by: deadline)

    // What only the wide search found is of another account, or of none.
    let known = Set(result.unlocked + result.locked)
    let unlocked = others.unlocked.filter { !known.contains($0) }
    let locked = others.locked.filter { !known.contains($0) }
    let isOurs = try await properties(unlocked + locked, provider, by: deadline)
      .filter { !$0.has(Item.Attribute.account) }.map(\.path)
    result.unlocked += unlocked.filter(isOurs.contains)
    result.locked += locked.filter(isOurs.contains)
    return result
  }

  func beginSearch(_ attributes: [String: String], _ provider: Provider) -> BusCall {
    provider.begin(.service, "SearchItems", .tuple([.strings(attributes)]), reply: "(aoao)")
  }

  func found(_ call: BusCall, _ provider: Provider, by deadline: Deadline) async throws(Trouble) -> Found {
    let answer = try await provider.answer(call, by: deadline)
    return Found(unlocked: answer[0]?.texts ?? [], locked: answer[1]?.texts ?? [])
  }

  /// What is known of these items. Left out are those that are gone meanwhile, and those that are known to be
  /// none of ours.
  func properties(
    _ paths: [String], _ provider: Provider, by deadline: Deadline
  ) async throws(Trouble) -> [Item] {
    let asked = paths.map { path in (path, askProperties(path, provider)) }
    var items: [Item] = []
    for (path, question) in asked {
      if let item = try await properties(path, question, provider, by: deadline) { items.append(item) }
    }
    return items
  }

  /// What an item is, known already or asked for.
  enum Question {
    case known(Item?)
    case asked(BusCall, UInt64)
  }

  func askProperties(_ path: String, _ provider: Provider) -> Question {
    switch provider.items[path] {
    case .ours(let item): .known(item)
    case .notOurs: .known(nil)
    case nil: .asked(provider.beginProperties(.item(path)), provider.items.changes)
    }
  }

  /// The answer to a question; `nil` where the item is gone, or known to be none of ours.
  func properties(
    _ path: String, _ question: Question, _ provider: Provider, by deadline: Deadline
  ) async throws(Trouble) -> Item? {
    switch question {
    case .known(let item): return item
    case .asked(let call, let changes):
      do throws(Trouble) {
        let item = Item(path: path, properties: try await provider.answer(call, by: deadline))
        if let id = item.id { report.learn(path, id) }
        provider.items.keep(item, asked: changes)
        return item
      } catch .noSuchObject {
        return nil
      }
    }
  }

  /// The item that counts, of those that can be read; unlocks what has to be.
  func chosen(
    _ id: EntryID, _ provider: Provider, _ allowance: Allowance
  ) async throws(Trouble) -> (path: String, item: Item?)? {
    while true {
      let found = try await find(id, provider, by: allowance.deadline)
      if found.isEmpty { return nil }
      if found.locked.isEmpty, found.unlocked.count == 1 { return (found.unlocked[0], nil) }
      if let first = found.locked.first, found.unlocked.isEmpty {
        try await provider.unlocking.unlock(first, allowance)
        continue
      }
      // Several: the one that was changed last counts. A locked one of which that can't be told does not.
      let items = try await properties(found.unlocked + found.locked, provider, by: allowance.deadline)
      guard let best = items.max(by: { $1.counts(before: $0) }) else {
        try allowance.searchAgain()
        continue
      }
      if found.locked.contains(best.path) {
        try await provider.unlocking.unlock(best.path, allowance)
        continue
      }
      return (best.path, best)
    }
  }

  // MARK: Reading

  private func readOnce(
    _ id: EntryID, _ provider: Provider, _ allowance: Allowance
  ) async throws(Trouble) -> Token? {
    while true {
      guard let (path, known) = try await chosen(id, provider, allowance) else { return nil }
      report.learn(path, id)
      let session = try await openSession(provider, allowance)
      let asked = askProperties(path, provider)
      var secret = try await readSecret(path, provider, session, by: allowance.deadline)
      guard var item = try await properties(path, asked, provider, by: allowance.deadline) ?? known else {
        try allowance.searchAgain()
        continue
      }
      if secret?.withBytes({ SecretForm.beginsWithMark($0) }) ?? false, !item.isEncoded {
        // Written between the two answers? The attribute was there before the mark.
        provider.items.forget(path)
        let now = try await properties([path], provider, by: allowance.deadline).first
        item = now ?? item
      }
      guard let stored = secret.take() else {
        // Not in the answer of GetSecrets, and there: the item itself is locked. Or it is gone.
        provider.items.forget(path)
        guard try await !properties([path], provider, by: allowance.deadline).isEmpty else {
          try allowance.searchAgain()
          continue
        }
        try await provider.unlocking.unlock(path, allowance)
        continue
      }
      let value = try SecretForm.read(stored, marked: item.isEncoded)
      // A provider that was killed while it made the item left it without its secret: nothing was stored.
      if value.count == 0, let size = item.size, size > 0 { return nil }
      guard value.count <= Limits.secretBytes else { throw .tooLarge(value.count) }
      let size = value.count
      provider.items.note(size: size, of: path)
      return Token(entry: item.entry(id, size: size), secret: SharedSecret(value))
    }
  }

  /// The session, opened where it is not.
  func openSession(_ provider: Provider, _ allowance: Allowance) async throws(Trouble) -> SecretSession {
    if let session = provider.openSession, session.isEncrypted {
      allowance.session = session
      return session
    }
    let session = try await provider.session(by: allowance.deadline)
    allowance.session = session
    report.sessionOpened(provider)
    return session
  }

  /// What an item has stored; `nil` where the provider does not give it.
  func readSecret(
    _ path: String, _ provider: Provider, _ session: SecretSession, by deadline: Deadline
  ) async throws(Trouble) -> SecretBytes? {
    try await readSecret(path, beginSecret(path, provider, session), provider, session, by: deadline)
  }

  func beginSecret(_ path: String, _ provider: Provider, _ session: SecretSession) -> BusCall {
    provider.begin(
      .service, "GetSecrets", .tuple([.paths([path]), .path(session.path) ?? .string(Object.none)]),
      reply: "(a{o(oayays)})")
  }

  func readSecret(
    _ path: String, _ call: BusCall, _ provider: Provider, _ session: SecretSession, by deadline: Deadline
  ) async throws(Trouble) -> SecretBytes? {
    let answer: Variant
    do throws(Trouble) {
      answer = try await provider.answer(call, by: deadline)
    } catch .isLocked {
      return nil  // the other way to say it
    }
    guard let encoded = answer[0]?.entries.first(where: { $0.key == path })?.value else { return nil }
    return try session.decode(encoded)
  }

  // MARK: Listing

  private func listOnce(
    _ namespace: Namespace?, _ provider: Provider, _ allowance: Allowance
  ) async throws(Trouble) -> [Entry] {
    let found = try await findAll(namespace, provider, by: allowance.deadline)
    let items = try await properties(found.unlocked + found.locked, provider, by: allowance.deadline)
    let locked = Set(found.locked)
    var entries: [EntryID: Item] = [:]
    for item in items {
      if locked.contains(item.path) {
        if item.has(Item.Attribute.namespace), item.has(Item.Attribute.name) { throw .isLocked(nil) }
        continue
      }
      guard let id = item.id, namespace == nil || id.key.namespace == namespace else { continue }
      if let other = entries[id], other.counts(before: item) { continue }
      entries[id] = item
    }
    let sizes = try await sizes(of: entries.values.filter { $0.size == nil }.map(\.path), provider, allowance)
    return entries.map { $1.entry($0, size: sizes[$1.path] ?? provider.items.size(of: $1.path)) }
  }

  /// How large the secrets of items are that don't say so themselves: other programs' items.
  private func sizes(
    of paths: [String], _ provider: Provider, _ allowance: Allowance
  ) async throws(Trouble) -> [String: Int] {
    guard !paths.isEmpty else { return [:] }
    let session = try await openSession(provider, allowance)
    let answer = try await provider.call(
      .service, "GetSecrets", .tuple([.paths(paths), .path(session.path) ?? .string(Object.none)]),
      reply: "(a{o(oayays)})", by: allowance.deadline)
    var sizes: [String: Int] = [:]
    for (path, secret) in answer[0]?.entries ?? [] { sizes[path] = try session.decode(secret).count }
    return sizes
  }

  /// All items that may be of a namespace, or all there are.
  func findAll(
    _ namespace: Namespace?, _ provider: Provider, by deadline: Deadline
  ) async throws(Trouble) -> Found {
    if let namespace {
      let attributes = [Item.Attribute.namespace: namespace.text]
      return try await found(beginSearch(attributes, provider), provider, by: deadline)
    }
    let found = try await found(beginSearch([:], provider), provider, by: deadline)
    if !found.isEmpty { return found }
    // A provider may read an empty search as one that nothing fits.
    let service = try await provider.answer(provider.beginProperties(.service), by: deadline)
    let collections = service[0]?.entries.first { $0.key == "Collections" }?.value.texts ?? []
    var all = Found(unlocked: [], locked: [])
    for path in collections {
      let collection = try await provider.answer(provider.beginProperties(.collection(path)), by: deadline)
      let properties = collection[0]?.entries ?? []
      let items = properties.first { $0.key == "Items" }?.value.texts ?? []
      let isLocked = properties.first { $0.key == "Locked" }?.value.boolean ?? false
      if isLocked { all.locked += items } else { all.unlocked += items }
    }
    return all
  }
}
