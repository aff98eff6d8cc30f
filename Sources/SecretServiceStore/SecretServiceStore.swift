// The store that is the user's own keyring: the Secret Service on the session bus. The vault calls it on its
// own actor; the work is done on the bus's thread, and every wait there ends by the patience that came with
// the request. It answers nothing at once, keeps no secret, and shows from a snapshot how things are.

import GLibLoop
import SecretMemory
import VaultCore
import VaultModel

/// Tokens in gnome-keyring, KWallet, KeePassXC or whatever owns org.freedesktop.secrets.
@VaultActor
public final class SecretServiceStore: ObservedStore {
  public nonisolated var name: StoreName { .secretService }

  /// Called with what changed there, in order, after it did.
  public var onChange: (@VaultActor ([StoreChange]) -> Void)?

  private let clock: any Clock
  private let allowsPlain: Bool
  private var snapshot = ProviderSnapshot(
    state: .unavailable, detail: "the session bus was not asked yet", program: nil)
  // Made on the bus's thread, with the first request or `start`.
  private var keyring: Promise<Keyring>?

  /// Connects to nothing yet.
  /// - Parameters:
  ///   - plainSession: whether secrets may go over the bus unencrypted where the provider offers no more.
  ///   - clock: what the patience of requests is told by.
  public init(plainSession: Bool, clock: any Clock) {
    allowsPlain = plainSession
    self.clock = clock
  }

  /// Connects and watches, so that the status is right and changes are told also while nobody asks.
  public func start() async {
    await keyring().client.watch()
  }

  /// Ends in order and for good: the session is closed; a request after that is `.unavailable`.
  public func close() async {
    await keyring().client.close(by: .after(milliseconds: Limits.sessionCloseMilliseconds))
  }

  public var provider: String? { snapshot.program }

  public var isPrompting: Bool { snapshot.isPrompting }

  /// `entries` is 0: what is in the keyring is known to `state.db`.
  public var status: StoreStatus {
    StoreStatus(store: name, state: snapshot.state, detail: snapshot.detail, entries: 0, pending: 0)
  }

  /// 0: the versions that were given are known to `state.db`.
  public var highestVersion: Version { 0 }

  public func lookUp(_ id: EntryID) -> LookUp { .mustWait }

  public func read(_ id: EntryID, _ patience: Patience) async throws(VaultError) -> Token? {
    try await keyring().token(id, timeLeft(patience))
  }

  public func write(
    _ entry: Entry, _ secret: SharedSecret, _ patience: Patience
  ) async throws(WriteFailure) {
    guard secret.count <= Limits.secretBytes else {
      throw WriteFailure(.tooLarge(size: secret.count, limit: Limits.secretBytes))
    }
    try await keyring().store(entry, secret, timeLeft(patience))
  }

  public func remove(
    _ id: EntryID, version: Version, _ patience: Patience
  ) async throws(WriteFailure) -> Bool {
    try await keyring().clear(id, timeLeft(patience))
  }

  public func list(_ namespace: Namespace?, _ patience: Patience) async throws(VaultError) -> [Entry] {
    try await keyring().entries(namespace, timeLeft(patience))
  }

  public func lastChange(_ id: EntryID, _ patience: Patience) async throws(VaultError) -> WallTime? {
    try await keyring().changeDate(id, timeLeft(patience))
  }

  /// Nothing: no secret and no key of ours is kept here between requests.
  public func forget() {}

  // MARK: The other half

  private func keyring() async -> Keyring {
    if let keyring { return await keyring.value() }
    let allowsPlain = allowsPlain
    let making = Promise<Keyring>()
    keyring = making
    Task { @GLibActor [weak self] in
      let keyring = Keyring(allowsPlain: allowsPlain)
      keyring.report.deliver = { changes, snapshot in
        Task { @VaultActor in self?.changed(changes, snapshot) }
      }
      making.resume(returning: keyring)
    }
    return await making.value()
  }

  private func changed(_ changes: [StoreChange], _ snapshot: ProviderSnapshot) {
    self.snapshot = snapshot
    if !changes.isEmpty { onChange?(changes) }
  }

  private func timeLeft(_ patience: Patience) -> TimeLeft {
    let now = clock.boot.milliseconds
    return TimeLeft(
      plain: patience.deadline.milliseconds - now, prompt: patience.promptDeadline.milliseconds - now,
      interactive: patience.interactive)
  }
}

/// The requests as they arrive on the bus's thread: patience becomes a deadline there, trouble an outcome.
extension Keyring {
  fileprivate func token(_ id: EntryID, _ time: TimeLeft) async throws(VaultError) -> Token? {
    do throws(Trouble) {
      return try await read(id, Allowance(time))
    } catch {
      throw error.outcome
    }
  }

  fileprivate func changeDate(_ id: EntryID, _ time: TimeLeft) async throws(VaultError) -> WallTime? {
    do throws(Trouble) {
      return try await lastChange(id, Allowance(time))
    } catch {
      throw error.outcome
    }
  }

  fileprivate func store(_ entry: Entry, _ secret: SharedSecret, _ time: TimeLeft) async throws(WriteFailure)
  {
    let effect = Effect()
    do throws(Trouble) {
      try await write(entry, secret, Allowance(time), effect)
    } catch {
      throw WriteFailure(error.outcome, mayTakeEffect: effect.isPossible)
    }
  }

  fileprivate func clear(_ id: EntryID, _ time: TimeLeft) async throws(WriteFailure) -> Bool {
    var time = time
    time.interactive = false
    let effect = Effect()
    do throws(Trouble) {
      return try await remove(id, Allowance(time), effect)
    } catch {
      throw WriteFailure(error.outcome, mayTakeEffect: effect.isPossible)
    }
  }

  fileprivate func entries(_ namespace: Namespace?, _ time: TimeLeft) async throws(VaultError) -> [Entry] {
    var time = time
    time.interactive = false
    do throws(Trouble) {
      return try await list(namespace, Allowance(time))
    } catch {
      throw error.outcome
    }
  }
}
