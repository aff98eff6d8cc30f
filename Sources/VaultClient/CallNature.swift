// What a client must know of a call beside its parameters: whether the daemon may put a question on the user's
// screen before it answers.

import VaultWire

extension Call {
  /// Whether the answer may wait for a person, or for something else that takes long by its nature: reading
  /// the whole vault file.
  var mayTakeLong: Bool {
    switch self {
    case .get(let request): request.interactive
    case .set(let request): request.interactive
    case .refresh, .verify: true
    case .getInfo, .getInterfaceDescription, .clear, .clearNamespace, .list, .touch, .watch, .giveUp,
      .initialise, .lock, .unlock, .slots, .addSlot, .removeSlot, .status:
      false
    }
  }
}
