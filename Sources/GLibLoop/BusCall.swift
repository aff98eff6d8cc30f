// One call on the bus, from the moment it is begun: it goes out when there is room for it, and its answer is
// kept for whoever waits. Several may wait; each as long as it likes. One that nobody holds any more before it
// was sent is never sent.

import CSecret

/// A call that was begun.
@GLibActor
public final class BusCall {
  let destination: String
  let path: String
  let interface: String
  let method: String
  var parameters: Variant?
  let reply: StaticString

  /// Whether it was handed to the bus. A call that was not can no longer have an effect once nobody waits.
  public internal(set) var isSent = false

  /// Where its answer stands in the order of all that came over the connection; 0 while there is none.
  public private(set) var arrival: UInt64 = 0

  /// Its answer; `nil` while there is none.
  public private(set) var outcome: Result<Variant, GLibError>?

  private let waiters = Waiters()
  private var someoneGaveUp = false

  init(
    destination: String, path: String, interface: String, method: String, parameters: Variant?,
    reply: StaticString
  ) {
    self.destination = destination
    self.path = path
    self.interface = interface
    self.method = method
    self.parameters = parameters
    self.reply = reply
  }

  /// Waits for the answer.
  /// - Throws: `.timedOut` where the deadline came first: a call that was not sent by then never is, one
  ///   that was may still take effect.
  public func answer(by deadline: Deadline) async throws(GLibError) -> Variant {
    if outcome == nil, await !waiters.wait(by: deadline) { someoneGaveUp = true }
    guard let outcome else { throw .timedOut }
    return try outcome.get()
  }

  /// Whether nobody wants it any more and it was not sent.
  var isAbandoned: Bool { !isSent && someoneGaveUp && waiters.isEmpty }

  func finish(_ outcome: Result<Variant, GLibError>, arrival: UInt64) {
    guard self.outcome == nil else { return }
    self.arrival = arrival
    self.outcome = outcome
    waiters.wakeAll()
  }
}

extension GLibError {
  /// No answer came in time: the code that GIO has for that.
  public static let timedOut = GLibError(
    domain: "g-io-error-quark", code: Int32(G_IO_ERROR_TIMED_OUT.rawValue), message: "no answer in time")

  /// The connection is closed: the code that GIO has for that.
  static let closed = GLibError(
    domain: "g-io-error-quark", code: Int32(G_IO_ERROR_CLOSED.rawValue), message: "the connection is closed")
}
