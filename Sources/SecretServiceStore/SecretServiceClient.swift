// The way from a request to whoever provides the Secret Service now: one connection to the session bus, and
// the present owner of org.freedesktop.secrets on it. When the owner changes or the bus goes away, everything
// that belonged to it is dropped, and the next request finds the new one. It starts no bus, and a provider
// only in the way that the bus itself has for that.

import GLibLoop
import VaultModel

/// Finds the provider, and watches it.
@GLibActor
final class SecretServiceClient {
  static let name = "org.freedesktop.secrets"
  private static let driver = "org.freedesktop.DBus"
  private static let driverPath = "/org/freedesktop/DBus"

  private let allowsPlain: Bool
  private let report: ProviderReport

  private var opening: Shared<Result<BusConnection, GLibError>>?
  private var bus: BusConnection?
  private var ownerChanges: BusSubscription?
  private var starting: Shared<Result<Provider, Trouble>>?
  private(set) var provider: Provider?
  private var signals: ProviderSignals?

  private var isWatching = false
  private var isClosed = false
  private var retry: Timer?
  private var retryMilliseconds = Limits.busRetryMilliseconds.lowerBound

  /// Nothing is connected yet. What changes is told to `report`.
  init(allowsPlain: Bool, report: ProviderReport) {
    self.allowsPlain = allowsPlain
    self.report = report
  }

  /// Connects, and connects again whenever the bus was away, without a request.
  func watch() async {
    isWatching = true
    _ = try? await connectedBus(by: .after(milliseconds: Int64(Limits.timeout) * 1_000))
  }

  /// Ends in order and for good: the session is closed, and its opening not cut off half-way.
  func close(by deadline: Deadline) async {
    isWatching = false
    isClosed = true
    retry?.stop()
    await provider?.closeSession(by: deadline)
    signals?.cancel()
    signals = nil
    ownerChanges?.cancel()
    ownerChanges = nil
    provider = nil
    bus = nil
    opening = nil
  }

  /// The provider; started by the bus where it can be and nobody has the name.
  func provider(by deadline: Deadline) async throws(Trouble) -> Provider {
    if isClosed { throw .gone(.closing) }
    if let provider, provider.end == nil { return provider }
    let bus = try await connectedBus(by: deadline)
    if let provider, provider.end == nil { return provider }
    let starting = starting ?? Shared { [weak self] in await self?.start(on: bus) ?? .failure(.noAnswer) }
    self.starting = starting
    guard let result = await starting.value(by: deadline) else { throw .noAnswer }
    return try result.get()
  }

  /// The provider did not answer somebody in time: finds out when it answers again, without anybody asking.
  func watchForAnswer() {
    signals?.watchForAnswer()
  }

  // MARK: The bus

  private func connectedBus(by deadline: Deadline) async throws(Trouble) -> BusConnection {
    if let bus, bus.isOpen { return bus }
    let opening = opening ?? Shared { [weak self] in await self?.open() ?? .failure(.timedOut) }
    self.opening = opening
    switch await opening.value(by: deadline) {
    case .success(let bus): return bus
    case .failure(let error):
      if self.opening === opening { self.opening = nil }
      throw .noBus(error)
    case nil: throw .noBus(.timedOut)
    }
  }

  private func open() async -> Result<BusConnection, GLibError> {
    var result: Result<BusConnection, GLibError> = .failure(.timedOut)
    // GLib hands out the old connection as long as anybody refers to it: those whose calls were cut off by its
    // end are about to let go.
    for _ in 0..<20 {
      do {
        let bus = try await BusConnection.open(.session, limit: Limits.busCalls)
        if bus.isOpen {
          result = .success(bus)
          break
        }
        result = .failure(.timedOut)
      } catch {
        result = .failure(error)
        break
      }
      _ = await Waiters().wait(by: .after(milliseconds: 25))
    }
    switch result {
    case .success(let bus): await opened(bus)
    case .failure(let error):
      report.unavailable(.noBus(error))
      tryAgainLater()
    }
    return result
  }

  private func opened(_ bus: BusConnection) async {
    retryMilliseconds = Limits.busRetryMilliseconds.lowerBound
    self.bus = bus
    opening = nil
    bus.onClosed = { [weak self, weak bus] in self?.closed(bus) }
    ownerChanges = bus.subscribe(
      sender: Self.driver, interface: Self.driver, member: "NameOwnerChanged", path: Self.driverPath,
      argument: Self.name
    ) { [weak self] signal in
      self?.ownerChanged(to: signal.parameters[2]?.string ?? "")
    }
    if let owner = try? await nameOwner(on: bus, by: .after(milliseconds: Int64(Limits.timeout) * 1_000)) {
      adopt(owner, on: bus)
    } else if provider == nil {
      await nobodyHasTheName(on: bus)
    }
  }

  private func closed(_ bus: BusConnection?) {
    guard self.bus === bus else { return }
    let end = GLibError.connectionLost
    ownerChanges = nil
    signals = nil
    self.bus = nil
    opening = nil
    starting = nil
    provider?.ended(end)
    provider = nil
    report.unavailable(.gone(end))
    tryAgainLater()
  }

  private func tryAgainLater() {
    guard isWatching, retry == nil else { return }
    let wait = retryMilliseconds
    retryMilliseconds = min(2 * wait, Limits.busRetryMilliseconds.upperBound)
    retry = Timer(.after(milliseconds: wait)) { [weak self] in
      self?.retry = nil
      Task { @GLibActor in
        guard let self, self.bus == nil, self.isWatching else { return }
        _ = try? await self.connectedBus(by: .after(milliseconds: Int64(Limits.timeout) * 1_000))
      }
    }
  }

  // MARK: The owner of the name

  private func start(on bus: BusConnection) async -> Result<Provider, Trouble> {
    defer { starting = nil }
    // The bus has limits of its own for this, and those who wait have theirs.
    let patience = Deadline.after(milliseconds: .max)
    do throws(GLibError) {
      // Asked first: where there is nothing to start, StartServiceByName fails also for a name that has an owner.
      if let owner = try? await nameOwner(on: bus, by: patience) { return .success(adopt(owner, on: bus)) }
      _ = try await bus.call(
        Self.driver, Self.driverPath, Self.driver, "StartServiceByName",
        .tuple([.string(Self.name), .uint32(0)]), reply: "(u)", by: patience)
      return .success(adopt(try await nameOwner(on: bus, by: patience), on: bus))
    } catch {
      let trouble: Trouble = error.isConnectionLost ? .gone(error) : .noProvider(error)
      report.unavailable(trouble)
      return .failure(trouble)
    }
  }

  /// The unique name of whoever has the name.
  private func nameOwner(on bus: BusConnection, by deadline: Deadline) async throws(GLibError) -> String {
    let answer = try await bus.call(
      Self.driver, Self.driverPath, Self.driver, "GetNameOwner", .tuple([.string(Self.name)]), reply: "(s)",
      by: deadline)
    return answer[0]?.string ?? ""
  }

  private func ownerChanged(to owner: String) {
    if let provider, provider.owner != owner {
      provider.ended(.ownerLost)
      self.provider = nil
      signals = nil
    }
    guard let bus else { return }
    if owner.isEmpty {
      Task { @GLibActor in await nobodyHasTheName(on: bus) }
    } else {
      adopt(owner, on: bus)
    }
  }

  private func nobodyHasTheName(on bus: BusConnection) async {
    let names = try? await bus.call(
      Self.driver, Self.driverPath, Self.driver, "ListActivatableNames", reply: "(as)",
      by: .after(milliseconds: Int64(Limits.timeout) * 1_000))
    guard provider == nil, self.bus === bus else { return }
    report.noOwner(startable: names?[0]?.texts.contains(Self.name) ?? false)
  }

  @discardableResult
  private func adopt(_ owner: String, on bus: BusConnection) -> Provider {
    if let provider, provider.owner == owner, provider.end == nil { return provider }
    let provider = Provider(owner: owner, on: bus, allowsPlain: allowsPlain)
    self.provider = provider
    report.forgetItems()
    provider.onPrompt = { [report] in report.prompting($0) }
    signals = ProviderSignals(of: provider, report: report)
    return provider
  }
}

extension GLibError {
  /// The connection to the bus was closed from the other side.
  static let connectionLost = GLibError(
    domain: "g-io-error-quark", code: 18, message: "the connection to the session bus was closed")

  /// An item was there a moment ago.
  static let vanished = GLibError(
    domain: "g-dbus-error-quark", code: 41, message: "the item is not there any more")

  /// We are ending.
  static let closing = GLibError(domain: "g-io-error-quark", code: 18, message: "vaultd is ending")

  /// The name has another owner now, or none.
  static let ownerLost = GLibError(
    domain: "g-dbus-error-quark", code: 4, message: "the program that provided it ended")
}
