// One call from its beginning to its outcome: which connection it goes over, when it is made again, how long the
// daemon may be silent, what a lost connection means. A machine that never waits, so that a thread that blocks and
// the thread that waits for all asynchronous calls drive the same one.

import Glibc
import VaultModel
import VaultWire

/// A call under way.
struct Exchange: ~Copyable, Sendable {
  /// What became of a step.
  enum Step {
    /// Nothing more can be done until a descriptor is as `descriptors` says, or this time.
    case waits(until: Deadline)
    /// It is over.
    case finished(Result<Reply, VaultError>)
  }

  private let call: Call
  private let more: Bool
  private let settings: ClientSettings
  private let deadline: Deadline

  private var connection: Connection?
  /// The connection was there before this call, and a lost call may be made again on a new one.
  private var isKept: Bool
  private var isPrepared = false
  private var isOver = false

  /// When a daemon that may wait for a person is asked whether it works at all.
  private var nextProbe: Deadline
  private var probe: Connection?
  private var probeEnd: Deadline?

  /// A call over a connection that was kept, or else a new one.
  /// - Parameters:
  ///   - call: what to ask.
  ///   - more: several replies are welcome.
  ///   - settings: where the daemon is, and how long it may take.
  ///   - kept: a connection without a call on its way.
  init(_ call: Call, more: Bool = false, _ settings: ClientSettings, over kept: consuming Connection? = nil) {
    self.call = call
    self.more = more
    self.settings = settings
    deadline = Deadline(after: settings.patience(for: call))
    nextProbe = Deadline(after: settings.timeout)
    isKept = kept != nil
    connection = kept
  }

  /// A call that makes sense on this one connection alone: under a lease that ends with it.
  init(_ call: Call, _ settings: ClientSettings, onlyOver connection: consuming Connection) {
    self.init(call, settings, over: consume connection)
    isKept = false
  }

  /// Does what can be done now.
  mutating func advance() -> Step {
    do throws(VaultError) {
      guard let reply = try next() else {
        guard !deadline.isOver else { throw lost(.silent) }
        return .waits(until: min(deadline, nextLook))
      }
      isOver = true
      return .finished(.success(reply))
    } catch {
      isOver = true
      return .finished(.failure(error))
    }
  }

  /// Ends the call because nobody waits any more; the connection is given up where the answer is still to come.
  mutating func interrupt() -> VaultError {
    let error = VaultError.noDaemon(.interrupted(socket: settings.socket, mayTakeEffect: mayTakeEffect))
    drop()
    isOver = true
    return error
  }

  /// What to poll for.
  var descriptors: [pollfd] {
    var wanted: [pollfd] = []
    if let descriptor = connection.wanted { wanted.append(descriptor) }
    if let descriptor = probe.wanted { wanted.append(descriptor) }
    return wanted
  }

  /// The connection, where it is as good as before the call, or where more replies come over it.
  mutating func takeConnection() -> Connection? {
    isOver ? connection.take() : nil
  }

  /// When something is to be done though no descriptor is ready.
  private var nextLook: Deadline {
    if connection == nil || (probeEnd != nil && probe == nil) { return .soon }
    return call.mayTakeLong ? probeEnd ?? nextProbe : deadline
  }

  private var mayTakeEffect: Bool { connection.hasDelivered && call.changes }

  /// The reply; `nil` while it hasn't come.
  private mutating func next() throws(VaultError) -> Reply? {
    do throws(Connection.Failure) {
      return try step()
    } catch {
      switch error {
      case .answered(let answer): throw answer
      case .noMemory(let problem):
        drop()
        throw VaultError(problem)
      case .lost(.ended) where isKept && (!connection.hasDelivered || call.mayBeRepeated):
        // The kept connection was that of a daemon which has ended since.
        drop()
        isKept = false
        return try next()
      case .lost(let loss): throw lost(loss)
      }
    }
  }

  private mutating func step() throws(Connection.Failure) -> Reply? {
    if connection == nil {
      do throws(VaultError) {
        connection = try Connection.open(settings.socket, of: settings.user)
      } catch {
        throw .answered(error)
      }
      guard connection != nil else { return nil }
    }
    if !isPrepared {
      try connection?.prepare(call, more: more)
      isPrepared = true
    }
    if case .reply(let reply, let continues)? = try connection?.advance(call) {
      guard continues == more else { throw .lost(.broken) }
      return reply
    }
    try look()
    return nil
  }

  /// Asks on another connection, where the daemon has been silent on this one: then it waits for a person or for a
  /// store, and else it is stopped or stuck, and no time is to be lost on it.
  private mutating func look() throws(Connection.Failure) {
    guard call.mayTakeLong, nextProbe.isOver else { return }
    let end = probeEnd ?? Deadline(after: min(settings.timeout, .seconds(Limits.clientGraceSeconds)))
    probeEnd = end
    do {
      if probe == nil {
        probe = try Connection.open(settings.socket, of: settings.user)
        try probe?.prepare(.getInfo)
      }
      if case .reply(.info, continues: false)? = try probe?.advance(.getInfo) {
        probe = nil
        probeEnd = nil
        nextProbe = Deadline(after: settings.timeout)
        return
      }
    } catch {
      throw .lost(.silent)
    }
    if end.isOver { throw .lost(.silent) }
  }

  private mutating func drop() {
    connection = nil
    probe = nil
    isPrepared = false
  }

  /// What it means that the connection is lost, which it is from now on.
  private mutating func lost(_ loss: Connection.Loss) -> VaultError {
    defer { drop() }
    return loss.outcome(settings, mayTakeEffect: mayTakeEffect)
  }
}

extension Connection? {
  /// As of the connection, where there is one.
  var wanted: pollfd? {
    switch self {
    case .some(let connection): connection.wanted
    case .none: nil
    }
  }

  /// As of the connection, where there is one.
  fileprivate var hasDelivered: Bool {
    switch self {
    case .some(let connection): connection.hasDelivered
    case .none: false
    }
  }
}

extension Connection.Loss {
  /// The outcome of what went over the connection.
  func outcome(_ settings: ClientSettings, mayTakeEffect: Bool) -> VaultError {
    let socket = settings.socket
    return switch self {
    case .ended: .noDaemon(.ended(socket: socket, mayTakeEffect: mayTakeEffect))
    case .broken: .noDaemon(.broken(socket: socket, mayTakeEffect: mayTakeEffect))
    case .silent: .noDaemon(.noAnswer(socket: socket, mayTakeEffect: mayTakeEffect))
    case .system(let code): .noDaemon(.unreachable(socket: socket, code: code))
    }
  }
}
