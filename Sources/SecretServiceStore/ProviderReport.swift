// What the vault's side is told of the Secret Service without asking: how it is now, and what changed there.
// Gathers on the bus's thread what comes within a few milliseconds, and hands it over in one piece, so that
// thousands of signals are a few visits to the vault's actor.

import GLibLoop
import VaultCore
import VaultModel

/// How the Secret Service is now.
struct ProviderSnapshot: Hashable, Sendable {
  var state: StoreStatus.State
  var detail: String
  /// The program that owns the name; `nil` where none does.
  var program: String?
  /// Whether a prompt that we asked for is on the screen.
  var isPrompting = false
}

/// Gathers what is known of the provider.
@GLibActor
final class ProviderReport {
  /// Takes what changed to the vault's side.
  var deliver: (@GLibActor ([StoreChange], ProviderSnapshot) -> Void)?
  /// Called for every signal about an item: whether it is news is to be found out.
  var onItem: (@GLibActor (ItemSignal) -> Void)?
  /// Called when the provider answers and is unlocked: what it has can be read.
  var onReadable: (@GLibActor (Provider) -> Void)?

  private(set) var snapshot = ProviderSnapshot(
    state: .unavailable, detail: "the session bus was not asked yet", program: nil)
  private var known: [String: EntryID] = [:]
  private var changes: [StoreChange] = []
  private var alarm: Timer?

  init() {}

  // MARK: How it is

  /// The provider answers.
  func answered(_ provider: Provider, isLocked: Bool) {
    let wasReadable = snapshot.state == .available && snapshot.program == provider.program
    update(
      isLocked ? .locked : .available,
      "\(provider.program)\(session(provider))" + (isLocked ? ", locked" : ""),
      program: provider.program)
    if !isLocked && !wasReadable { onReadable?(provider) }
  }

  /// A session was opened, which the status shows.
  func sessionOpened(_ provider: Provider) {
    guard snapshot.program == provider.program, snapshot.state != .unavailable else { return }
    answered(provider, isLocked: snapshot.state == .locked)
  }

  /// A request was answered by the provider, with success: it is there.
  func succeeded(_ provider: Provider) {
    if snapshot.state != .available { answered(provider, isLocked: false) }
  }

  /// A request to the provider, or looking after it, failed.
  func failed(_ provider: Provider?, _ trouble: Trouble) {
    switch trouble {
    case .noBus, .noProvider, .noAnswer, .noDefaultCollection, .onlyPlain, .denied:
      update(.unavailable, reason(trouble), program: provider?.program)
    case .isLocked, .promptNotWanted, .dismissed, .promptNotAnswered:
      if let provider { answered(provider, isLocked: true) }
    case .gone, .noSession, .noSuchObject, .refused, .senseless, .removalNeedsPrompt, .notRemoved, .notKept,
      .lostWithProvider, .tooLarge, .own:
      break  // of one request, or told by a signal
    }
  }

  /// Nobody has the name; `startable` where the bus starts somebody when asked.
  func noOwner(startable: Bool) {
    forgetItems()
    update(
      .unavailable,
      startable
        ? "not running; the session bus starts it when it is needed"
        : "nobody provides org.freedesktop.secrets on the session bus: \(Trouble.providers)", program: nil)
  }

  /// It cannot be reached.
  func unavailable(_ trouble: Trouble) {
    forgetItems()
    update(.unavailable, reason(trouble), program: nil)
  }

  private func reason(_ trouble: Trouble) -> String {
    if case .unavailable(_, let reason, _) = trouble.outcome { reason } else { trouble.outcome.description }
  }

  private func session(_ provider: Provider) -> String {
    guard let session = provider.openSession else { return "" }
    return session.isEncrypted ? ", session encrypted" : ", session not encrypted (plain)"
  }

  private func update(_ state: StoreStatus.State, _ detail: String, program: String?) {
    let old = snapshot
    let isPrompting = program != nil && program == old.program && old.isPrompting
    snapshot = ProviderSnapshot(state: state, detail: detail, program: program, isPrompting: isPrompting)
    guard snapshot != old else { return }
    if state != old.state {
      switch state {
      case .available: changes.append(old.state == .locked ? .unlocked : .available)
      case .locked: changes.append(.locked)
      case .unavailable, .absent, .damaged: changes.append(.unavailable)
      }
    } else if let program, let before = old.program, program != before {
      changes.append(.available)
    }
    // At once: whoever gets the outcome of a request sees the status that it led to.
    handOver()
  }

  /// A prompt came to the screen, or is gone.
  func prompting(_ isPrompting: Bool) {
    guard snapshot.isPrompting != isPrompting else { return }
    snapshot.isPrompting = isPrompting
    handOver()
  }

  // MARK: Items

  /// Notes which key an item has.
  func learn(_ path: String, _ id: EntryID) {
    if known.count >= Limits.knownItems, known[path] == nil { known = [:] }
    known[path] = id
  }

  /// The key that an item has, as far as is known.
  func id(of path: String) -> EntryID? { known[path] }

  /// Forgets which items a key had.
  /// - Returns: whether there were any.
  func forgetItems(of id: EntryID) -> Bool {
    let paths = known.filter { $0.value == id }.keys
    for path in paths { known[path] = nil }
    return !paths.isEmpty
  }

  /// An item is gone: what is said of its path from now on is none of a key's.
  func forget(_ path: String) { known[path] = nil }

  /// Something may have changed, and what is to be found out: told at once.
  func somethingChanged() {
    changes.append(.itemChanged(nil))
    handOver()
  }

  /// Tells of a change that was found out.
  func add(_ change: StoreChange) {
    if changes.last != change { changes.append(change) }
    schedule()
  }

  /// Another provider answers, or none: paths mean nothing any more.
  func forgetItems() {
    known = [:]
  }

  // MARK: Handing over

  /// A moment later, with whatever comes until then.
  private func schedule() {
    guard alarm == nil else { return }
    alarm = Timer(.after(milliseconds: Limits.signalMilliseconds)) { [weak self] in self?.handOver() }
  }

  /// Hands over what was found out up to now.
  func tellNow() {
    if !changes.isEmpty { handOver() }
  }

  private func handOver() {
    alarm?.stop()
    alarm = nil
    var seen = Set<StoreChange>()
    let news = changes.filter { change in
      switch change {
      case .itemChanged, .itemDeleted: seen.insert(change).inserted
      case .locked, .unlocked, .available, .unavailable: true
      }
    }
    changes = []
    deliver?(news, snapshot)
  }
}
