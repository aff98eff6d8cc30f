// What a provider says by itself: items that were made, changed and deleted, collections that were locked and
// unlocked. Subscribed to raw, without libsecret's proxies, which would load every item. Thousands of signals
// may come at once (two for each item of a collection that is locked): each costs a look into a dictionary.

import GLibLoop
import VaultModel

/// Listens to one provider and tells the report.
@GLibActor
final class ProviderSignals {
  private let provider: Provider
  private let report: ProviderReport
  private var subscriptions: [BusSubscription] = []
  private var check: Task<Void, Never>?
  private var checkAgain = false
  private var isWaiting = false

  init(of provider: Provider, report: ProviderReport) {
    self.provider = provider
    self.report = report
    subscribe(interface: "org.freedesktop.Secret.Collection") { [weak self] in self?.itemSignal($0) }
    subscribe(interface: "org.freedesktop.Secret.Service") { [weak self] _ in self?.locksMayHaveChanged() }
    subscribe(
      interface: "org.freedesktop.DBus.Properties", argument: "org.freedesktop.Secret.Collection"
    ) { [weak self] signal in
      // Every new item changes the property `Items`; only `Locked` is of interest.
      guard signal.parameters[1]?.entries.contains(where: { $0.key == "Locked" }) ?? false else { return }
      // Nothing that was read before is served while it is found out what that means.
      report.somethingChanged()
      self?.locksMayHaveChanged()
    }
    locksMayHaveChanged()
  }

  /// No more is told.
  func cancel() {
    for subscription in subscriptions { subscription.cancel() }
    subscriptions = []
  }

  /// Looks again how the provider is as soon as it answers; one call of ours waits for that, however often
  /// this is called.
  func watchForAnswer() {
    guard !isWaiting else { return }
    isWaiting = true
    let call = provider.begin(.service, "ReadAlias", .tuple([.string("default")]), reply: "(o)")
    Task { @GLibActor [weak self] in
      _ = try? await call.answer(by: .after(milliseconds: .max))
      self?.isWaiting = false
      self?.locksMayHaveChanged()
    }
  }

  private func subscribe(
    interface: String, argument: String? = nil, _ handler: @escaping @GLibActor (BusSignal) -> Void
  ) {
    subscriptions.append(
      provider.bus.subscribe(
        sender: provider.owner, interface: interface, member: nil, argument: argument, handler))
  }

  private func itemSignal(_ signal: BusSignal) {
    guard let path = signal.parameters[0]?.string else { return }
    provider.items.forget(path)
    let kind: ItemSignal.Kind
    switch signal.member {
    case "ItemCreated": kind = .made
    case "ItemChanged": kind = .changed
    case "ItemDeleted": kind = .deleted
    default: return  // a later version of the interface
    }
    report.onItem?(ItemSignal(kind: kind, path: path, arrival: signal.arrival))
  }

  /// Looks again whether the default collection is locked; once at a time, however many signals come.
  private func locksMayHaveChanged() {
    provider.items.forgetAll()
    provider.unlocking.lockChanged()
    if check != nil {
      checkAgain = true
      return
    }
    check = Task { @GLibActor [weak self] in
      await self?.checkLocks()
      guard let self else { return }
      check = nil
      if checkAgain {
        checkAgain = false
        locksMayHaveChanged()
      }
    }
  }

  private func checkLocks() async {
    let deadline = Deadline.after(milliseconds: Int64(Limits.timeout) * 1_000)
    if provider.program == provider.owner { await provider.identify(by: deadline) }
    do {
      let path = try await provider.defaultCollection(by: deadline)
      let isLocked = try await provider.isLocked(.collection(path), by: deadline)
      guard provider.end == nil else { return }
      report.answered(provider, isLocked: isLocked)
    } catch {
      guard provider.end == nil else { return }
      report.failed(provider, error)
    }
  }
}

extension Provider {
  /// The collection that new items go to.
  func defaultCollection(by deadline: Deadline) async throws(Trouble) -> String {
    let answer: Variant
    do throws(Trouble) {
      answer = try await call(.service, "ReadAlias", .tuple([.string("default")]), reply: "(o)", by: deadline)
    } catch .noSuchObject {
      throw .noDefaultCollection
    }
    guard let path = answer[0]?.string, path != Object.none else { throw .noDefaultCollection }
    return path
  }

  /// Whether a collection or an item is locked.
  func isLocked(_ object: Object, by deadline: Deadline) async throws(Trouble) -> Bool {
    let call = bus.begin(
      owner, object.path, "org.freedesktop.DBus.Properties", "Get",
      .tuple([.string(object.interface), .string("Locked")]), reply: "(v)")
    do throws(Trouble) {
      return try await answer(call, by: deadline)[0]?.unboxed?.boolean ?? false
    } catch .noSuchObject {
      // The alias names a collection that is not there.
      throw .noDefaultCollection
    }
  }
}
