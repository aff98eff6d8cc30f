// One connection to a bus, shared by all of this process that speak to that bus. Calls go out in the order
// in which they are begun, a bounded number at once; every wait has a limit of its own. A connection that
// the other side closed stays closed: let go of it and open another. It never ends the process, whatever
// happens to the bus, and never starts a bus.

import CSecret
import VaultModel

/// The buses.
public enum Bus: Sendable {
  /// The user's.
  case session
  /// The machine's.
  case system
}

/// A connection to a bus.
@GLibActor
@safe public final class BusConnection {
  private let connection: OpaquePointer
  private let limit: Int
  private var inFlight = 0
  private var queue: [Queued] = []
  private var arrivals: UInt64 = 0
  private var closedHandler: gulong = 0

  /// Called once, when the connection was closed.
  public var onClosed: (@GLibActor () -> Void)?

  /// Whether it still can be used.
  public var isOpen: Bool { unsafe g_dbus_connection_is_closed(connection) == 0 }

  /// Connects to `bus`, with at most `limit` calls on their way at once. Takes as long as the bus does: wait
  /// for it with a limit (`Shared`). Connections to the session bus that live at the same time are one, because
  /// libsecret uses it too; each to the system bus is its own, so that none is left over from a bus that went away.
  public static func open(_ bus: Bus, limit: Int) async throws(GLibError) -> BusConnection {
    let opened =
      switch bus {
      case .session: try await openShared()
      case .system: try await openOwn(try systemAddress())
      }
    return unsafe BusConnection(consuming: opened.connection, limit: limit)
  }

  private static func openShared() async throws(GLibError) -> Opened {
    let result: Result<Opened, GLibError> = await withPromise { continuation in
      let box = unsafe Unmanaged.passRetained(Opening(continuation)).toOpaque()
      unsafe g_bus_get(
        G_BUS_TYPE_SESSION, nil,
        { _, result, data in
          guard let data = unsafe data else { return }
          var error: UnsafeMutablePointer<GError>?
          let connection = unsafe g_bus_get_finish(result, &error)
          unsafe Unmanaged<Opening>.fromOpaque(data).takeRetainedValue().end(connection, error)
        }, box)
    }
    return try result.get()
  }

  private static func openOwn(_ address: String) async throws(GLibError) -> Opened {
    let result: Result<Opened, GLibError> = await withPromise { continuation in
      let box = unsafe Unmanaged.passRetained(Opening(continuation)).toOpaque()
      unsafe g_dbus_connection_new_for_address(
        address, csecret_bus_client_flags(), nil, nil,
        { _, result, data in
          guard let data = unsafe data else { return }
          var error: UnsafeMutablePointer<GError>?
          let connection = unsafe g_dbus_connection_new_for_address_finish(result, &error)
          unsafe Unmanaged<Opening>.fromOpaque(data).takeRetainedValue().end(connection, error)
        }, box)
    }
    return try result.get()
  }

  /// Where the system bus is: `DBUS_SYSTEM_BUS_ADDRESS`, else where every system has it. Starts and asks nothing.
  private static func systemAddress() throws(GLibError) -> String {
    var error: UnsafeMutablePointer<GError>?
    guard let address = unsafe g_dbus_address_get_for_bus_sync(G_BUS_TYPE_SYSTEM, nil, &error) else {
      throw unsafe GLibError(optional: error)
    }
    defer { unsafe g_free(address) }
    return unsafe String(cString: address)
  }

  private init(consuming connection: OpaquePointer, limit: Int) {
    unsafe self.connection = unsafe connection
    self.limit = limit
    let box = unsafe Unmanaged.passRetained(Weak(self)).toOpaque()
    closedHandler = unsafe csecret_connect_closed(
      connection,
      { _, _, _, data in
        guard let data = unsafe data else { return }
        let weak = unsafe Unmanaged<Weak>.fromOpaque(data).takeUnretainedValue()
        GLibActor.assumeIsolated { weak.connection?.closed() }
      }, box,
      { data, _ in
        if let data = unsafe data { unsafe Unmanaged<Weak>.fromOpaque(data).release() }
      })
  }

  isolated deinit {
    unsafe csecret_disconnect(connection, closedHandler)
    unsafe g_object_unref(UnsafeMutableRawPointer(connection))
  }

  // MARK: Calls

  /// Begins a call of `method` of an object's `interface`; it is sent at once, or when there is room. The
  /// parameters are a tuple; `nil` stands for none. `reply` is the type of the answer in D-Bus's letters, as
  /// `(ao)`; an answer of another type is an error. The call that is returned is where the answer comes: let go of it
  /// before it is sent, and it never is.
  public func begin(
    _ destination: String, _ path: String, _ interface: String, _ method: String,
    _ parameters: Variant? = nil,
    reply: StaticString
  ) -> BusCall {
    let call = BusCall(
      destination: destination, path: path, interface: interface, method: method, parameters: parameters,
      reply: reply)
    // While the other end is stopped, those that were given up would pile up.
    if queue.count >= 4 * limit { queue.removeAll { $0.isAbandoned } }
    queue.append(Queued(call: call))
    sendNext()
    return call
  }

  /// Makes a call and waits for its answer.
  public func call(
    _ destination: String, _ path: String, _ interface: String, _ method: String,
    _ parameters: Variant? = nil,
    reply: StaticString, by deadline: Deadline
  ) async throws(GLibError) -> Variant {
    try await begin(destination, path, interface, method, parameters, reply: reply).answer(by: deadline)
  }

  /// Makes a call that answers with one open descriptor and nothing else. Outside the limit of calls at once: it is
  /// for the few that a daemon makes in its life.
  public func callForDescriptor(
    _ destination: String, _ path: String, _ interface: String, _ method: String, _ parameters: Variant,
    by deadline: Deadline
  ) async throws(GLibError) -> BusDescriptor {
    let result: Result<BusDescriptor, GLibError> = await withPromise { continuation in
      let box = unsafe Unmanaged.passRetained(Descriptor(continuation)).toOpaque()
      // With a limit of GLib's: of an answer that comes too late it closes the descriptor.
      unsafe g_dbus_connection_call_with_unix_fd_list(
        connection, destination, path, interface, method, parameters.pointer,
        csecret_variant_type(("(h)" as StaticString).utf8Start), G_DBUS_CALL_FLAGS_NONE,
        gint(clamping: max(1, deadline.millisecondsLeft)), nil, nil,
        { source, result, data in
          guard let data = unsafe data else { return }
          let waiting = unsafe Unmanaged<Descriptor>.fromOpaque(data).takeRetainedValue()
          waiting.continuation.resume(returning: unsafe BusDescriptor.finish(OpaquePointer(source), result))
        }, box)
    }
    return try result.get()
  }

  private func sendNext() {
    while inFlight < limit, !queue.isEmpty {
      guard let call = queue.removeFirst().call, !call.isAbandoned else { continue }
      inFlight += 1
      send(call)
    }
  }

  private func send(_ call: BusCall) {
    call.isSent = true
    let box = unsafe Unmanaged.passRetained(Sent(call, on: self)).toOpaque()
    // Without a limit of GLib's: a call keeps its place among those in flight until it is answered, or the
    // other end or the bus is gone. Who waits for it has limits; a provider that is stopped gets no more
    // than `limit` calls, and answers all of them when it continues.
    unsafe g_dbus_connection_call(
      connection, call.destination, call.path, call.interface, call.method, call.parameters?.pointer,
      csecret_variant_type(call.reply.utf8Start), G_DBUS_CALL_FLAGS_NONE, Int32.max, nil,
      { source, result, data in
        guard let data = unsafe data else { return }
        let sent = unsafe Unmanaged<Sent>.fromOpaque(data).takeRetainedValue()
        var error: UnsafeMutablePointer<GError>?
        let answer: Result<Variant, GLibError>
        if let value = unsafe g_dbus_connection_call_finish(OpaquePointer(source), result, &error) {
          answer = .success(unsafe Variant(consuming: value))
        } else {
          answer = .failure(unsafe GLibError(optional: error))
        }
        GLibActor.assumeIsolated { sent.connection.answered(sent.call, answer) }
      }, box)
    call.parameters = nil  // GLib has its own reference, until it has written the message
  }

  private func answered(_ call: BusCall, _ answer: Result<Variant, GLibError>) {
    inFlight -= 1
    arrivals += 1
    call.finish(answer, arrival: arrivals)
    sendNext()
  }

  private func closed() {
    let waiting = queue
    queue = []
    for waiting in waiting { waiting.call?.finish(.failure(.closed), arrival: arrivals) }
    let tell = onClosed
    onClosed = nil
    tell?()
  }

  // MARK: Signals

  /// Calls `handler` for each signal that fits; `nil` fits anything.
  /// - Returns: what keeps it so: let go of it, or cancel it, and no more come.
  public func subscribe(
    sender: String?, interface: String?, member: String?, path: String? = nil, argument: String? = nil,
    _ handler: @escaping @GLibActor (BusSignal) -> Void
  ) -> BusSubscription {
    let box = unsafe Unmanaged.passRetained(SignalHandler(self, handler)).toOpaque()
    let number = unsafe g_dbus_connection_signal_subscribe(
      connection, sender, interface, member, path, argument, G_DBUS_SIGNAL_FLAGS_NONE,
      { _, sender, path, interface, member, parameters, data in
        guard let data = unsafe data, let path = unsafe path, let member = unsafe member,
          let interface = unsafe interface, let parameters = unsafe parameters
        else { return }
        let handler = unsafe Unmanaged<SignalHandler>.fromOpaque(data).takeUnretainedValue()
        let signal = unsafe BusSignal(
          sender: sender.map { unsafe String(cString: $0) } ?? "", path: String(cString: path),
          interface: String(cString: interface), member: String(cString: member),
          parameters: Variant(consuming: g_variant_ref(parameters)))
        GLibActor.assumeIsolated { handler.take(signal) }
      }, box,
      { data in
        if let data = unsafe data { unsafe Unmanaged<SignalHandler>.fromOpaque(data).release() }
      })
    return BusSubscription(to: self, number: number)
  }

  fileprivate func unsubscribe(_ number: guint) {
    unsafe g_dbus_connection_signal_unsubscribe(connection, number)
  }

  // What goes through C as a pointer, each retained once and released once.

  private final class Opening: Sendable {
    let continuation: Promise<Result<Opened, GLibError>>
    init(_ continuation: Promise<Result<Opened, GLibError>>) {
      self.continuation = continuation
    }

    @unsafe func end(_ connection: OpaquePointer?, _ error: UnsafeMutablePointer<GError>?) {
      if let connection = unsafe connection {
        // GLib ends the process with its bus unless it is told not to, so it is told before anything else.
        unsafe g_dbus_connection_set_exit_on_close(connection, 0)
        continuation.resume(returning: .success(unsafe Opened(connection: connection)))
      } else {
        continuation.resume(returning: .failure(unsafe GLibError(optional: error)))
      }
    }
  }

  private final class Descriptor: Sendable {
    let continuation: Promise<Result<BusDescriptor, GLibError>>
    init(_ continuation: Promise<Result<BusDescriptor, GLibError>>) {
      self.continuation = continuation
    }
  }

  /// A connection on its way from the callback to the actor. GDBusConnection may be used from any thread.
  @safe private struct Opened: @unchecked Sendable {
    let connection: OpaquePointer
  }

  private final class Sent: Sendable {
    let call: BusCall
    let connection: BusConnection
    init(_ call: BusCall, on connection: BusConnection) { (self.call, self.connection) = (call, connection) }
  }

  @GLibActor private final class Weak {
    weak var connection: BusConnection?
    init(_ connection: BusConnection) { self.connection = connection }
  }

  /// A call that waits for room, as long as somebody holds it.
  private struct Queued {
    weak var call: BusCall?
    @GLibActor var isAbandoned: Bool { call?.isAbandoned ?? true }
  }

  @GLibActor private final class SignalHandler {
    private let call: @GLibActor (BusSignal) -> Void
    private weak var connection: BusConnection?

    init(_ connection: BusConnection, _ call: @escaping @GLibActor (BusSignal) -> Void) {
      self.connection = connection
      self.call = call
    }

    func take(_ signal: BusSignal) {
      var signal = signal
      if let connection {
        connection.arrivals += 1
        signal.arrival = connection.arrivals
      }
      call(signal)
    }
  }
}

/// A signal that came over the bus.
public struct BusSignal: Sendable {
  /// The unique name of who sent it.
  public let sender: String
  /// The object that it speaks of.
  public let path: String
  /// The interface that it belongs to.
  public let interface: String
  /// Its name.
  public let member: String
  /// Its arguments, a tuple.
  public let parameters: Variant
  /// Where it stands in the order of all that came over the connection.
  public internal(set) var arrival: UInt64 = 0
}

/// Keeps signals coming.
@GLibActor
public final class BusSubscription {
  private let connection: BusConnection
  private var number: guint?

  fileprivate init(to connection: BusConnection, number: guint) {
    self.connection = connection
    self.number = number
  }

  isolated deinit { cancel() }

  /// No more signals come.
  public func cancel() {
    guard let number else { return }
    self.number = nil
    connection.unsubscribe(number)
  }
}
