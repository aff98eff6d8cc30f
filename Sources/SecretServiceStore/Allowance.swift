// What one request may still use up, as it goes through its calls: time, and a prompt. Made when the request
// arrives on the bus's thread; every wait of the request is cut by it.

import GLibLoop
import VaultModel

/// The patience of one request, by the clock of the bus's thread.
@GLibActor
final class Allowance {
  /// The end of the next wait.
  private(set) var deadline: Deadline
  /// The end once a prompt is on the screen.
  let promptDeadline: Deadline
  /// Whether somebody may be asked.
  let interactive: Bool
  /// When the request arrived: a prompt that was dismissed later was dismissed for it too.
  let arrival = Deadline.now

  /// How often an unlock was tried for the request; a provider that never means it is not asked for ever.
  var unlocks = 0

  /// The session that it used last: the one to forget where the provider does not know it any more.
  var session: SecretSession?

  private var searches = 0

  init(_ time: TimeLeft) {
    deadline = .after(milliseconds: time.plain)
    promptDeadline = .after(milliseconds: time.prompt)
    interactive = time.interactive
  }

  /// Begins to search again, since what was found is not there any more; a few times only.
  func searchAgain(_ trouble: Trouble = .senseless("items are found that are not there")) throws(Trouble) {
    searches += 1
    guard searches <= Limits.searches else { throw trouble }
  }

  /// A prompt is on the screen: there is more time.
  func extend() {
    deadline = max(deadline, promptDeadline)
  }
}

/// A request's patience on its way to the bus's thread, whose clock is another: what is left of it.
struct TimeLeft: Sendable {
  /// Milliseconds without a prompt.
  var plain: Int64
  /// Milliseconds with one.
  var prompt: Int64
  /// Whether somebody may be asked.
  var interactive: Bool
}
