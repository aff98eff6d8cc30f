// What both ends must know of a call beside its parameters: whether it changes anything. A client makes one that
// doesn't a second time where the first was lost; the daemon doesn't answer one whose caller has left.

extension Call {
  /// Whether carrying it out twice, or not knowing whether it was carried out, could matter.
  public var changes: Bool {
    switch self {
    // A lease ends with the connection on which it would have been granted.
    case .getInfo, .getInterfaceDescription, .get, .list, .watch, .refresh, .slots, .verify, .status: false
    case .set, .clear, .clearNamespace, .touch, .giveUp, .initialise, .lock, .unlock, .addSlot, .removeSlot:
      true
    }
  }
}
