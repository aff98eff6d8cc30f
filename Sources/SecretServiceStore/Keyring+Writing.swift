// Storing and removing tokens in the Secret Service. An update is SetSecret on the item that is there: one
// call, no gap for any reader, and a provider killed at any moment keeps the old or the new. A new key is
// CreateItem without "replace", which destroys items of others that have more attributes. What was stored is
// read back before it is acknowledged. Nothing is ever deleted but by `remove`, which never asks anybody.

import GLibLoop
import SecretMemory
import VaultCore
import VaultModel

/// Whether a change that failed may still take effect, or has.
@GLibActor
final class Effect {
  var isPossible = false
}

extension Keyring {
  /// Stores a secret under an entry, in place of what was there. `effect` tells how a failure left it.
  func write(
    _ entry: Entry, _ secret: SharedSecret, _ allowance: Allowance, _ effect: Effect
  ) async throws(Trouble) {
    try await lanes.change(entry.id, allowance) { () async throws(Trouble) in
      // What was found out about the key until now is told before it is changed, and so is never taken for word of
      // what comes.
      self.report.tellNow()
      try await self.attempt(allowance) { provider, _ async throws(Trouble) in
        try await self.writeOnce(entry, secret, provider, allowance, effect)
      }
    }
    effect.isPossible = false
  }

  private func writeOnce(
    _ entry: Entry, _ secret: SharedSecret, _ provider: Provider, _ allowance: Allowance, _ effect: Effect
  ) async throws(Trouble) {
    while true {
      let target = try await chosen(entry.id, provider, allowance)
      let session = try await openSession(provider, allowance)
      // What has to be unlocked when the provider says so.
      let place: String
      if let target {
        place = target.path
      } else {
        place = try await provider.defaultCollection(by: allowance.deadline)
      }
      let change = Change(
        entry: entry, secret: secret, provider: provider, session: session, allowance: allowance,
        effect: effect)
      // What is sent now may take effect after the request has ended.
      guard !allowance.deadline.isOver else { throw .noAnswer }
      do throws(Trouble) {
        try await store(change, target, in: place)
        return
      } catch .isLocked where !effect.isPossible {
        try await provider.unlocking.unlock(place, allowance)
      }
    }
  }

  /// What the steps of one write share.
  @GLibActor private struct Change {
    let entry: Entry
    let secret: SharedSecret
    let provider: Provider
    let session: SecretSession
    let allowance: Allowance
    let effect: Effect
    var deadline: Deadline { allowance.deadline }
  }

  /// Tries one form after the other until what is read back is what was to be stored.
  private func store(
    _ change: Change, _ target: (path: String, item: Item?)?, in place: String
  ) async throws(Trouble) {
    var target = target
    var refusal: Trouble?
    var again: Set<SecretForm> = []
    var forms = change.secret.withBytes { change.provider.manners.forms(for: $0) }
    while !forms.isEmpty {
      let form = forms.removeFirst()
      // Once bytes came back changed, other names for the same bytes are no use.
      if refusal == .notKept, form != .base64 { continue }
      do throws(Trouble) {
        let isKept: Bool
        if let present = target {
          isKept = try await update(change, present, form)
        } else {
          let path = try await create(change, in: place, form)
          report.learn(path, change.entry.id)
          target = (path, nil)
          change.effect.isPossible = true
          isKept = try await self.isKept(change, path, form)
        }
        if isKept {
          change.provider.manners.kept(form)
          // Such bytes come back: from here on as they are.
          guard case .trial(let type, _) = form else { return }
          forms = [.plain(type), .base64]
        } else if again.insert(form).inserted {
          // Another program may have written between our write and our look.
          forms.insert(form, at: 0)
        } else {
          change.provider.manners.altered(form)
          refusal = .notKept
        }
      } catch .refused(let error) {
        refusal = refusal ?? .refused(error)
      }
    }
    throw refusal ?? .notKept
  }

  // MARK: Update

  private func update(
    _ change: Change, _ target: (path: String, item: Item?), _ form: SecretForm
  ) async throws(Trouble) -> Bool {
    let provider = change.provider
    let object = Object.item(target.path)
    let asked = askProperties(target.path, provider)
    var item = target.item
    if form.isMarked {
      // The attribute goes before: what has the mark and not the attribute would be read as it is.
      item = try await properties(target.path, asked, provider, by: change.deadline)
      var attributes = item?.attributes ?? [:]
      if attributes[Item.Attribute.encoding] != Item.base64 {
        attributes[Item.Attribute.encoding] = Item.base64
        try await setAttributes(attributes, of: object, change)
        // Who reads from now on must know.
        provider.items.forget(target.path)
      }
    }

    let encoded = try encode(change, form)
    let set = provider.begin(object, "SetSecret", .tuple([encoded]), reply: "()")
    _ = try await answer(set, change)
    change.effect.isPossible = true

    if let present = try await properties(target.path, asked, provider, by: change.deadline) {
      item = present
    }
    return try await isKept(change, target.path, form, over: item)
  }

  /// Writes the entry's copy into the item where it is not there yet, and reads the secret back.
  private func isKept(
    _ change: Change, _ path: String, _ form: SecretForm, over item: Item? = nil
  ) async throws(Trouble) -> Bool {
    let provider = change.provider
    let object = Object.item(path)
    var attributes: (call: BusCall, values: [String: String])?
    var label: BusCall?
    if let item {
      let values = Item.attributes(change.entry, encoded: form.isMarked, over: item.attributes)
      if values != item.attributes { attributes = (beginAttributes(values, of: object, provider), values) }
      let text = Item.label(for: change.entry)
      if ExactText(text) != ExactText(item.label) {
        label = provider.beginSetting(object, "Label", .string(text))
      }
    }

    // What we change is not believed to be announced: it is read back, behind the changes on the connection.
    provider.items.forget(path)
    let reading = beginSecret(path, provider, change.session)
    let asked = askProperties(path, provider)
    let stored = try await readSecret(path, reading, provider, change.session, by: change.deadline)
    var now = try await properties(path, asked, provider, by: change.deadline)
    // Where these are refused the state has the entry, and counts; the copy in the item is for the day when the state
    // is lost.
    var isRefused = false
    do throws(Trouble) {
      if let label { _ = try await provider.answer(label, by: change.deadline) }
    } catch .refused {
      isRefused = true
    }
    if let attributes {
      do throws(Trouble) {
        if try await !isTaken(attributes.call, change) {
          try await setAttributes(attributes.values, of: object, change)
          provider.items.forget(path)
          now = try await properties([path], provider, by: change.deadline).first
        }
      } catch .refused {
        isRefused = true
      }
    }
    guard let stored else {
      if now?.isLocked ?? false { throw .isLocked(nil) }
      if item != nil, now == nil { throw .noSuchObject(.vanished) }
      return false
    }
    let isKept = try change.secret.withBytes { secret throws(Trouble) in
      try form.write(secret) { expected in stored.withBytes { equal($0, expected) } }
    }
    if isKept, let now, isRefused || now.isCopy(of: change.entry, encoded: form.isMarked) {
      provider.items.note(size: change.secret.count, of: path)
      provider.writings.note(now, fingerprint: Writings.fingerprint(stored), arrival: reading.arrival)
    }
    return isKept
  }

  private func beginAttributes(
    _ attributes: [String: String], of object: Object, _ provider: Provider
  ) -> BusCall {
    provider.beginSetting(
      object, "Attributes", .strings(provider.manners.takesItsOwn ? attributes : Item.own(attributes)))
  }

  private func setAttributes(
    _ attributes: [String: String], of object: Object, _ change: Change
  ) async throws(Trouble) {
    if try await isTaken(beginAttributes(attributes, of: object, change.provider), change) { return }
    _ = try await isTaken(beginAttributes(attributes, of: object, change.provider), change)
  }

  /// Whether attributes were taken; where they were not, the provider is not given its own any more.
  private func isTaken(_ call: BusCall, _ change: Change) async throws(Trouble) -> Bool {
    do throws(Trouble) {
      _ = try await change.provider.answer(call, by: change.deadline)
      return true
    } catch .refused(let error) {
      guard change.provider.manners.takesItsOwn else { throw .refused(error) }
      change.provider.manners.takesItsOwn = false
      return false
    }
  }

  // MARK: Create

  private func create(
    _ change: Change, in collection: String, _ form: SecretForm
  ) async throws(Trouble) -> String {
    let provider = change.provider
    let attributes = Item.attributes(change.entry, encoded: form.isMarked)
    let properties = Variant.properties([
      "org.freedesktop.Secret.Item.Label": .string(Item.label(for: change.entry)),
      "org.freedesktop.Secret.Item.Attributes": .strings(attributes),
    ])
    let encoded = try encode(change, form)
    let call = provider.begin(
      .collection(collection), "CreateItem", .tuple([properties, encoded, .boolean(false)]), reply: "(oo)")
    let answered: Variant
    do throws(Trouble) {
      answered = try await answer(call, change)
    } catch .noSuchObject {
      // The alias names a collection that is not there.
      throw .noDefaultCollection
    }
    if let path = answered[0]?.string, path != Object.none { return path }
    guard let prompt = answered[1]?.string, prompt != Object.none else {
      throw .senseless("an item was made that has no path")
    }
    let made: Variant?
    do throws(Trouble) {
      made = try await provider.unlocking.show(prompt, change.allowance)
    } catch .promptNotAnswered {
      // It stays on the screen, and may be answered yet.
      change.effect.isPossible = true
      lanes.hold(change.entry.id, while: .prompt) { await provider.unlocking.end(of: prompt) }
      throw .promptNotAnswered
    }
    guard let path = made?.string, path != Object.none else { throw .dismissed }
    return path
  }

  private func encode(_ change: Change, _ form: SecretForm) throws(Trouble) -> Variant {
    try change.secret.withBytes { secret throws(Trouble) in
      try form.write(secret) { stored throws(Trouble) in
        try change.session.encode(stored, contentType: form.contentType.rawValue)
      }
    }
  }

  /// Waits for a call that changes something.
  private func answer(_ call: BusCall, _ change: Change) async throws(Trouble) -> Variant {
    do throws(Trouble) {
      return try await change.provider.answer(call, by: change.deadline)
    } catch {
      note(error, of: call, change.entry.id, change.effect)
      throw error
    }
  }

  /// A call that changes something failed: may it still have changed it?
  private func note(_ trouble: Trouble, of call: BusCall, _ id: EntryID, _ effect: Effect) {
    switch trouble {
    case .noAnswer where call.isSent:
      effect.isPossible = true
      // Nothing else is changed there until it was answered: it must not undo what comes after it.
      lanes.hold(id, while: .call) {
        _ = try? await call.answer(by: .after(milliseconds: Limits.lateMilliseconds))
      }
    case .gone where call.isSent: effect.isPossible = true
    case .noAnswer, .gone: break
    case .noBus, .noProvider, .noSession, .noSuchObject, .isLocked, .promptNotWanted, .dismissed,
      .promptNotAnswered, .noDefaultCollection, .onlyPlain, .denied, .refused, .senseless,
      .removalNeedsPrompt,
      .notRemoved, .notKept, .lostWithProvider, .tooLarge, .own:
      break  // it was answered, and refused
    }
  }

  // MARK: Remove

  /// Removes every item of a key and account, and makes sure.
  /// - Returns: whether there was one.
  func remove(_ id: EntryID, _ allowance: Allowance, _ effect: Effect) async throws(Trouble) -> Bool {
    var wasThere = false
    try await lanes.change(id, allowance) { () async throws(Trouble) in
      try await self.attempt(allowance) { provider, diedBefore async throws(Trouble) in
        let there = try await self.removeOnce(id, provider, allowance, effect)
        wasThere = wasThere || there
        // The next provider's word about what the last one had is worth nothing.
        if diedBefore, !there { throw .lostWithProvider }
      }
    }
    effect.isPossible = false
    return wasThere
  }

  /// An item is gone, and what is said of it is no news.
  private func forget(_ path: String, of id: EntryID, _ provider: Provider) {
    removed[id, default: []].insert(path)
    report.forget(path)
    provider.writings.forget(path)
    provider.items.forget(path)
  }

  private func removeOnce(
    _ id: EntryID, _ provider: Provider, _ allowance: Allowance, _ effect: Effect
  ) async throws(Trouble) -> Bool {
    var wasThere = false
    // Twice: what the second search finds was made meanwhile, or is kept in spite of what the provider said.
    for _ in 0..<2 {
      var found = try await find(id, provider, by: allowance.deadline)
      if found.isEmpty { return wasThere }
      if let locked = found.locked.first, found.unlocked.isEmpty {
        // An item that is locked by itself may open without anybody being asked.
        try await provider.unlocking.unlock(locked, allowance)
        found = try await find(id, provider, by: allowance.deadline)
      }
      for path in found.unlocked {
        let call = provider.begin(.item(path), "Delete", reply: "(o)")
        do throws(Trouble) {
          let prompt = try await provider.answer(call, by: allowance.deadline)[0]?.string
          guard prompt == nil || prompt == Object.none else { throw .removalNeedsPrompt }
          wasThere = true
          effect.isPossible = true
          forget(path, of: id, provider)
        } catch .noSuchObject {
          // Somebody else was faster.
        } catch {
          note(error, of: call, id, effect)
          throw error
        }
      }
      if !found.locked.isEmpty { throw .isLocked(nil) }
    }
    let left = try await find(id, provider, by: allowance.deadline)
    guard left.isEmpty else { throw left.unlocked.isEmpty ? .isLocked(nil) : .notRemoved }
    return wasThere
  }
}
