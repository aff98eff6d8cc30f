// Tokens that were read from the Secret Service, for at most a second (behaviour.md, "The two stores", rule 5): a
// provider does not announce every change. They are kept shielded, so that the cache takes no locked memory and to
// forget is to wipe one key. What is known to have changed is forgotten at once. "Nothing there" is never kept.

import SecretMemory
import VaultCrypto
import VaultModel

/// What was read a moment ago.
@VaultActor
final class TokenCache {
  private struct Kept {
    let entry: Entry
    let secret: ShieldedSecret
    let readAt: BootTime
  }

  private var kept: [EntryID: Kept] = [:]
  private let shield = Shield()
  private var bytes = 0
  private let alarms: Alarms
  private var isSweepOrdered = false

  /// An empty cache. `alarms` tell when what it has is too old.
  init(alarms: Alarms) {
    self.alarms = alarms
  }

  /// What was read at most `Limits.cacheMilliseconds` before `now`.
  func token(_ id: EntryID, now: BootTime) -> Token? {
    guard let found = kept[id] else { return nil }
    guard now < found.readAt.advanced(by: Limits.cacheMilliseconds),
      let secret = try? found.secret.opened()
    else {
      forget(id)
      return nil
    }
    return Token(entry: found.entry, secret: SharedSecret(secret))
  }

  /// Keeps a token that was asked for at `readAt`, unless a later answer is there.
  func keep(_ token: Token, readAt: BootTime) {
    let id = token.entry.id
    if let other = kept[id], other.readAt > readAt { return }
    forget(id)
    if bytes + token.secret.count > Limits.cacheBytes { forgetAll() }
    guard token.secret.count <= Limits.cacheBytes,
      let secret = token.secret.withBytes({ try? shield.cover($0) })
    else { return }
    kept[id] = Kept(entry: token.entry, secret: secret, readAt: readAt)
    bytes += token.secret.count
    orderSweep(readAt.advanced(by: Limits.cacheMilliseconds))
  }

  /// The value of a key changed, or may have.
  func forget(_ id: EntryID) {
    guard !kept.isEmpty, let gone = kept.removeValue(forKey: id) else { return }
    bytes -= gone.secret.count
  }

  /// Whatever it has may be wrong now, or is not to be readable any more.
  func forgetAll() {
    kept = [:]
    bytes = 0
    shield.wipe()
  }

  /// Lets what is too old go, also where nobody asks again.
  private func orderSweep(_ time: BootTime) {
    guard !isSweepOrdered else { return }
    isSweepOrdered = true
    alarms.set(time) { [weak self] in self?.sweep(time) }
  }

  private func sweep(_ now: BootTime) {
    isSweepOrdered = false
    let old = kept.filter { $0.value.readAt.advanced(by: Limits.cacheMilliseconds) <= now }
    for id in old.keys { forget(id) }
    if kept.isEmpty { shield.wipe() }
    if let next = kept.values.map(\.readAt).min() { orderSweep(next.advanced(by: Limits.cacheMilliseconds)) }
  }
}
