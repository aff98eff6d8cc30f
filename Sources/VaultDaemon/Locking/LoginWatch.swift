// What systemd-logind says on the system bus (org.freedesktop.login1(5)): that the machine goes to sleep, and that the
// screen of a session of this user is locked. Says so to its owner, and holds the machine awake until the owner is done.
// Connects only while something is wanted, and again whenever the bus or logind was away. Asks for nothing else.

import GLibLoop
import VaultCore
import VaultModel

/// Watches the login manager.
@GLibActor
final class LoginWatch {
  private static let name = "org.freedesktop.login1"
  private static let path = "/org/freedesktop/login1"
  private static let manager = "org.freedesktop.login1.Manager"
  private static let session = "org.freedesktop.login1.Session"
  private static let properties = "org.freedesktop.DBus.Properties"
  private static let driver = "org.freedesktop.DBus"
  private static let driverPath = "/org/freedesktop/DBus"

  private let user: UInt32
  private let lock: @Sendable @VaultActor (LockOccasion) -> Void
  private let warn: @Sendable @VaultActor (String) -> Void

  private var wanted = LockTriggers()
  private var isConnecting = false
  private var bus: BusConnection?
  private var ownerChanges: BusSubscription?
  private var owner: String?
  private var sleepSignals: BusSubscription?
  private var screenSignals: [BusSubscription] = []
  // While it is open, the machine waits with its sleep, for as long as logind lets it (InhibitDelayMaxSec).
  private var inhibitor: BusDescriptor?
  private var isGoingToSleep = false

  private var hasWarned = false
  private var retry: Timer?
  private var retryMilliseconds = Limits.busRetryMilliseconds.lowerBound

  /// Watches nothing yet. `lock` returns when the vault is locked; the sessions that count are those of `user`.
  nonisolated init(
    user: UInt32, lock: @escaping @Sendable @VaultActor (LockOccasion) -> Void,
    warn: @escaping @Sendable @VaultActor (String) -> Void
  ) {
    self.user = user
    self.lock = lock
    self.warn = warn
  }

  /// From now on what `triggers` names is wanted.
  func watch(_ triggers: LockTriggers) {
    wanted = triggers
    if !triggers.needsLogin {
      disconnect()
    } else if bus == nil {
      connect()
    } else {
      subscribe()
    }
  }

  private static func limit() -> Deadline { .after(milliseconds: Int64(Limits.timeout) * 1_000) }

  // MARK: The bus

  private func connect() {
    if isConnecting { return }
    isConnecting = true
    retry?.stop()
    retry = nil
    Task { @GLibActor in
      let opening = Shared<Result<BusConnection, GLibError>> { () async in
        do throws(GLibError) {
          return .success(try await BusConnection.open(.system, limit: Limits.busCalls))
        } catch {
          return .failure(error)
        }
      }
      let outcome = await opening.value(by: Self.limit()) ?? .failure(.timedOut)
      isConnecting = false
      guard wanted.needsLogin else { return }
      switch outcome {
      case .success(let bus): await connected(bus)
      case .failure(let error):
        say("the system bus cannot be reached", error)
        tryAgainLater()
      }
    }
  }

  private func connected(_ bus: BusConnection) async {
    self.bus = bus
    retryMilliseconds = Limits.busRetryMilliseconds.lowerBound
    bus.onClosed = { [weak self, weak bus] in
      guard let self, self.bus === bus else { return }
      self.disconnect()
      self.tryAgainLater()
    }
    ownerChanges = bus.subscribe(
      sender: Self.driver, interface: Self.driver, member: "NameOwnerChanged", path: Self.driverPath,
      argument: Self.name
    ) { [weak self] signal in
      self?.adopt(signal.parameters[2]?.string)
    }
    do throws(GLibError) {
      let answer = try await bus.call(
        Self.driver, Self.driverPath, Self.driver, "GetNameOwner", .tuple([.string(Self.name)]), reply: "(s)",
        by: Self.limit())
      if self.bus === bus { adopt(answer[0]?.string) }
    } catch {
      if self.bus === bus, owner == nil { say("systemd-logind is not on the system bus", error) }
    }
  }

  private func disconnect() {
    retry?.stop()
    retry = nil
    forgetOwner()
    ownerChanges = nil
    bus = nil
  }

  private func tryAgainLater() {
    let wait = retryMilliseconds
    retryMilliseconds = min(2 * wait, Limits.busRetryMilliseconds.upperBound)
    retry = Timer(.after(milliseconds: wait)) { [weak self] in self?.connect() }
  }

  /// logind has this name now; it has none where it ended.
  private func adopt(_ owner: String?) {
    let owner = owner.flatMap { $0.isEmpty ? nil : $0 }
    if self.owner == owner { return }
    forgetOwner()
    self.owner = owner
    subscribe()
  }

  private func forgetOwner() {
    owner = nil
    sleepSignals = nil
    screenSignals = []
    inhibitor = nil
    isGoingToSleep = false
  }

  /// Says once what keeps the settings from being in force; again only after they were.
  private func say(_ what: String, _ error: GLibError) {
    if hasWarned { return }
    hasWarned = true
    let text = "lock-on-suspend and lock-on-screen-lock are not in force: \(what): \(error)"
    Task { @VaultActor [warn] in warn(text) }
  }

  // MARK: What is wanted of logind

  /// Listens for what is wanted and for nothing else; what is so already counts too.
  private func subscribe() {
    guard let bus, let owner else { return }
    if !wanted.onSuspend {
      sleepSignals = nil
      inhibitor = nil
    } else if sleepSignals == nil {
      sleepSignals = bus.subscribe(
        sender: owner, interface: Self.manager, member: "PrepareForSleep", path: Self.path
      ) { [weak self] signal in
        if signal.parameters[0]?.boolean == true { self?.goToSleep() } else { self?.wakeUp() }
      }
      Task { @GLibActor in await holdAwake(bus, owner) }
    }
    if !wanted.onScreenLock {
      screenSignals = []
    } else if screenSignals.isEmpty {
      screenSignals = [
        bus.subscribe(sender: owner, interface: Self.session, member: "Lock") { [weak self] signal in
          self?.screenLocked(signal.path, bus, owner)
        },
        // Where the desktop locks the screen by itself, logind is told and passes it on like this.
        bus.subscribe(
          sender: owner, interface: Self.properties, member: "PropertiesChanged", argument: Self.session
        ) { [weak self] signal in
          let changed = signal.parameters[1]?.entries ?? []
          if changed.contains(where: { $0.key == "LockedHint" && $0.value.boolean == true }) {
            self?.screenLocked(signal.path, bus, owner)
          }
        },
      ]
      Task { @GLibActor in await lookAtScreens(bus, owner) }
    }
  }

  // MARK: Sleep

  private func goToSleep() {
    isGoingToSleep = true
    let held = inhibitor
    inhibitor = nil
    Task { @GLibActor [lock] in
      await lock(.suspend)
      // Only now the machine may sleep.
      withExtendedLifetime(held) {}
    }
  }

  private func wakeUp() {
    isGoingToSleep = false
    guard let bus, let owner else { return }
    Task { @GLibActor in await holdAwake(bus, owner) }
  }

  /// Takes the descriptor that makes the machine wait for us before it sleeps.
  private func holdAwake(_ bus: BusConnection, _ owner: String) async {
    do throws(GLibError) {
      let arguments = ["sleep", "vaultd", "locks the vault first", "delay"].map(Variant.string)
      let descriptor = try await bus.callForDescriptor(
        owner, Self.path, Self.manager, "Inhibit", .tuple(arguments), by: Self.limit())
      guard self.owner == owner, wanted.onSuspend, !isGoingToSleep else { return }
      inhibitor = descriptor
      hasWarned = false
    } catch {
      guard self.owner == owner else { return }
      // Too late for this sleep: nothing is held, and the vault is locked all the same.
      if await isTrue("PreparingForSleep", bus, owner) {
        goToSleep()
      } else {
        say("systemd-logind does not let vaultd delay sleep", error)
      }
    }
  }

  private func isTrue(_ property: String, _ bus: BusConnection, _ owner: String) async -> Bool {
    let arguments = [Self.manager, property].map(Variant.string)
    let answer = try? await bus.call(
      owner, Self.path, Self.properties, "Get", .tuple(arguments), reply: "(v)", by: Self.limit())
    return answer?[0]?.unboxed?.boolean == true
  }

  // MARK: Screens

  private func screenLocked(_ path: String, _ bus: BusConnection, _ owner: String) {
    Task { @GLibActor [lock] in
      let session = await self.session(path, bus, owner)
      // One that is gone before it could be asked may have been ours.
      if let user = session?.user, user != Int64(self.user) { return }
      await lock(.screenLock(session: session?.id ?? path))
    }
  }

  /// Locks where the screen of a session of this user is locked already.
  private func lookAtScreens(_ bus: BusConnection, _ owner: String) async {
    let user = try? await bus.call(
      owner, Self.path, Self.manager, "GetUser", .tuple([.uint32(user)]), reply: "(o)", by: Self.limit())
    guard let user = user?[0]?.string else { return }
    let arguments = ["org.freedesktop.login1.User", "Sessions"].map(Variant.string)
    let answer = try? await bus.call(
      owner, user, Self.properties, "Get", .tuple(arguments), reply: "(v)", by: Self.limit())
    for place in answer?[0]?.unboxed?.parts ?? [] {
      guard let path = place[1]?.string, let session = await session(path, bus, owner) else { continue }
      if session.isLocked { await lock(.screenLock(session: session.id)) }
    }
  }

  private func session(
    _ path: String, _ bus: BusConnection, _ owner: String
  ) async -> (id: String, user: Int64?, isLocked: Bool)? {
    let answer = try? await bus.call(
      owner, path, Self.properties, "GetAll", .tuple([.string(Self.session)]), reply: "(a{sv})",
      by: Self.limit())
    guard let entries = answer?[0]?.entries else { return nil }
    func value(_ name: String) -> Variant? { entries.last { $0.key == name }?.value }
    return (
      value("Id")?.string ?? path, value("User")?[0]?.integer, value("LockedHint")?.boolean == true
    )
  }
}
