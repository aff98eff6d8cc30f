// What one request may still use up, as it goes through its calls: time, and a prompt. Made when the request
// arrives on the bus's thread; every wait of the request is cut by it.

import GLibLoop

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

  init(milliseconds: Int64, promptMilliseconds: Int64, interactive: Bool) {
    deadline = .after(milliseconds: milliseconds)
    promptDeadline = .after(milliseconds: promptMilliseconds)
    self.interactive = interactive
  }

  /// A prompt is on the screen: there is more time.
  func extend() {
    deadline = max(deadline, promptDeadline)
  }
}
