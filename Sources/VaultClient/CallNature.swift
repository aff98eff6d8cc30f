// What a client must know of a call beside its parameters: whether the daemon may wait for a person before it
// answers, and whether the call may be made again where nobody knows if the first was carried out.

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

  /// Whether the call is made again, once and by itself, where the kept connection ended after the whole call
  /// was sent. A call that the daemon cannot have got whole is always made again.
  ///
  /// Beside those that change nothing these are: `touch`, which says the same a moment later; `lock`, which errs
  /// on the safe side; `refresh`, whose lease ended with the connection. Not these: `set` and `clear`, since
  /// another program's change may lie between; `unlock`, since somebody's lock may; `giveUp`, which the end of the
  /// connection did already; and what makes or removes slots, which is not the same twice.
  var mayBeRepeated: Bool {
    switch self {
    case .getInfo, .getInterfaceDescription, .get, .list, .watch, .slots, .verify, .status: true
    case .touch, .lock, .refresh: true
    case .set, .clear, .clearNamespace, .giveUp, .initialise, .unlock, .addSlot, .removeSlot: false
    }
  }
}
