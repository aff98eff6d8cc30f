// Whoever owns org.freedesktop.secrets now, by its unique name: a call meant for this one can never reach
// another that came after it, whose objects may have the same paths. Holds the one session with it, and what
// was learned of it. Once it is gone it stays gone.

import CSecret
import GLibLoop
import VaultModel

/// One provider of the Secret Service, for as long as it lives.
@GLibActor
final class Provider {
  /// The unique name on the bus.
  let owner: String
  /// The program that has the name, as `gnome-keyring-daemon`; the unique name where that can't be told.
  private(set) var program: String
  /// Set when it, or the bus, went away.
  private(set) var end: GLibError?
  /// What it was found to do to secrets.
  var manners = ProviderManners()
  /// What is known of its items.
  var items = ItemCache()
  /// What we wrote into them a moment ago.
  var writings = Writings()
  /// Told when a prompt comes to the screen and when it is gone.
  var onPrompt: (@GLibActor (Bool) -> Void)?
  /// Prompts, one at a time.
  private(set) lazy var unlocking = Unlocking(self)

  let bus: BusConnection
  private let allowsPlain: Bool
  private var isClosing = false
  private var opening: Shared<Result<SecretSession, Trouble>>?

  init(owner: String, on bus: BusConnection, allowsPlain: Bool) {
    self.owner = owner
    self.bus = bus
    self.allowsPlain = allowsPlain
    program = owner
  }

  /// Notes that it is gone, and wakes whoever waits for a prompt of it.
  func ended(_ error: GLibError) {
    guard end == nil else { return }
    end = error
    opening = nil
    unlocking.providerEnded()
  }

  // MARK: Calls

  /// Begins a call of one of its objects.
  func begin(
    _ object: Object, _ method: String, _ parameters: Variant? = nil, reply: StaticString
  ) -> BusCall {
    bus.begin(owner, object.path, object.interface, method, parameters, reply: reply)
  }

  /// Waits for what was begun.
  func answer(_ call: BusCall, by deadline: Deadline) async throws(Trouble) -> Variant {
    do {
      return try await call.answer(by: deadline)
    } catch {
      throw Trouble(error)
    }
  }

  /// Calls one of its objects.
  func call(
    _ object: Object, _ method: String, _ parameters: Variant? = nil, reply: StaticString,
    by deadline: Deadline
  ) async throws(Trouble) -> Variant {
    try await answer(begin(object, method, parameters, reply: reply), by: deadline)
  }

  /// Begins reading all properties of an object.
  func beginProperties(_ object: Object) -> BusCall {
    bus.begin(
      owner, object.path, "org.freedesktop.DBus.Properties", "GetAll", .tuple([.string(object.interface)]),
      reply: "(a{sv})")
  }

  /// Begins changing a property of an object.
  func beginSetting(_ object: Object, _ property: String, _ value: Variant) -> BusCall {
    bus.begin(
      owner, object.path, "org.freedesktop.DBus.Properties", "Set",
      .tuple([.string(object.interface), .string(property), .box(value)]), reply: "()")
  }

  // MARK: The session

  /// The session: opened by the first who need it, together.
  func session(by deadline: Deadline) async throws(Trouble) -> SecretSession {
    if let end { throw .gone(end) }
    if isClosing { throw .gone(.closing) }
    let opening = opening ?? Shared { [owner] in await Self.open(owner) }
    self.opening = opening
    guard let result = await opening.value(by: deadline) else { throw .noAnswer }
    switch result {
    case .success(let session):
      guard session.isEncrypted || allowsPlain else {
        // It is closed again, so that nobody uses it; the next request looks anew, for another provider's sake.
        dropSession(session)
        await close(session, by: deadline)
        throw .onlyPlain
      }
      return session
    case .failure(let trouble):
      if self.opening === opening { self.opening = nil }
      throw trouble
    }
  }

  /// The session, where it is open already.
  var openSession: SecretSession? {
    if case .success(let session)? = opening?.outcome { session } else { nil }
  }

  /// Forgets a session that the provider does not know any more.
  func dropSession(_ session: SecretSession) {
    if openSession === session { opening = nil }
  }

  /// Ends the session in order, and opens no other.
  func closeSession(by deadline: Deadline) async {
    isClosing = true
    guard let opening, end == nil, case .success(let session)? = await opening.value(by: deadline) else {
      return
    }
    self.opening = nil
    await close(session, by: deadline)
  }

  private func close(_ session: SecretSession, by deadline: Deadline) async {
    // Nothing hangs on the answer: the provider drops the session with the connection anyway.
    _ = try? await call(.session(session.path), "Close", reply: "()", by: deadline)
  }

  private static func open(_ owner: String) async -> Result<SecretSession, Trouble> {
    // Once in about 256 sessions a key of the exchange is shorter than KWallet takes; the next one is not.
    for _ in 0..<2 {
      do {
        return .success(try await SecretSession.open(owner))
      } catch {
        let trouble = Trouble(error)
        guard case .refused = trouble else { return .failure(trouble) }
      }
    }
    do {
      return .success(try await SecretSession.open(owner))
    } catch {
      return .failure(Trouble(error))
    }
  }

  // MARK: Who it is

  /// Finds out which program it is. Costs the provider nothing: the bus knows.
  func identify(by deadline: Deadline) async {
    let answer = try? await bus.call(
      "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "GetConnectionUnixProcessID",
      .tuple([.string(owner)]), reply: "(u)", by: deadline)
    guard let pid = answer?[0]?.integer else { return }
    program = programName(of: pid) ?? "process \(pid)"
  }
}

/// The name of the program of a process: of its first argument, or the kernel's short name for it.
private func programName(of pid: Int64) -> String? {
  func read(_ file: String) -> String? {
    var contents: UnsafeMutablePointer<CChar>?
    guard unsafe g_file_get_contents("/proc/\(pid)/\(file)", &contents, nil, nil) != 0,
      let text = unsafe contents
    else { return nil }
    defer { unsafe g_free(text) }
    // Up to the first NUL: of `cmdline` that is the first argument.
    return unsafe String(cString: text)
  }
  let path = read("cmdline") ?? ""
  let name = path.split(separator: "/").last.map(String.init) ?? read("comm") ?? ""
  let first = name.split(whereSeparator: { $0 == " " || $0.isNewline }).first.map(String.init) ?? ""
  return first.isEmpty || first.holdsControl ? nil : first
}
