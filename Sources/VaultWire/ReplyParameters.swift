// The parameters of replies, in a client. An object that lacks what it must have, or has it of another type,
// makes the whole reply malformed: there are no halves of answers.

import VaultModel

extension Document {
  /// The reply to `method` with the parameters at `index`; `nil`: it has none.
  func reply(to method: Method, _ index: Int?) throws(Misfit) -> Reply {
    switch method {
    case .getInfo: .info(try info(index))
    case .getInterfaceDescription:
      .interfaceDescription(try neededText(.description, try object(index, [.description])))
    case .get:
      .token(try needed(.secret, try token(try object(index, [.secret, .secretBase64, .entry]))))
    case .set, .touch: .entry(try needed(.entry, try entryMember(try object(index, [.entry]))))
    case .clear:
      .clearance(try clearance(index) { given throws(Misfit) in try neededFlag(.cleared, given) ? 1 : 0 })
    case .clearNamespace:
      .namespaceClearance(try clearance(index) { given throws(Misfit) in try neededCount(.cleared, given) })
    case .list:
      .entries(
        try elements(.entries, try object(index, [.entries])) { index throws(Misfit) in try entry(index) })
    case .watch: .event(try event(index))
    case .refresh: try refreshed(try object(index, [.lease, .secret, .secretBase64, .entry]))
    case .slots:
      .slots(try elements(.slots, try object(index, [.slots])) { index throws(Misfit) in try slot(index) })
    case .addSlot: .slot(try slot(try needed(.slot, value(.slot, try object(index, [.slot])))))
    case .verify: .verification(try verification(index))
    case .status: .status(try status(index))
    case .giveUp, .initialise, .lock, .unlock, .removeSlot: .empty
    }
  }

  private func info(_ index: Int?) throws(Misfit) -> ServiceInfo {
    let given = try object(index, [.vendor, .product, .version, .url, .interfaces])
    return ServiceInfo(
      vendor: try neededText(.vendor, given), product: try neededText(.product, given),
      version: try neededText(.version, given), url: try neededText(.url, given),
      interfaces: try elements(.interfaces, given) { index throws(Misfit) in try text(at: index, .interfaces)
      })
  }

  private func token(_ given: Fields) throws(Misfit) -> Token? {
    let plain = try stringToken(.secret, given)
    let encoded = try stringToken(.secretBase64, given)
    guard plain == nil || encoded == nil else { throw .field(.secret) }
    guard let secret = try sharedSecret(plain: plain, encoded: encoded) else { return nil }
    return Token(entry: try needed(.entry, try entryMember(given)), secret: secret)
  }

  private func refreshed(_ given: Fields) throws(Misfit) -> Reply {
    let token = try token(given)
    let entry = try entryMember(given)
    return .refreshed(lease: try text(.lease, given), token: token, entry: entry)
  }

  private func entryMember(_ given: Fields) throws(Misfit) -> Entry? {
    guard let index = value(.entry, given) else { return nil }
    return try entry(index)
  }

  private func entry(_ index: Int) throws(Misfit) -> Entry {
    let given = try object(
      index,
      [
        .key, .account, .version, .created, .modified, .expires, .idle, .untilLogout, .label, .size, .store,
        .pending,
      ])
    return Entry(
      id: try entryID(given), version: try neededInteger(.version, given),
      created: try neededTime(.created, given), modified: try neededTime(.modified, given),
      expires: try integer(.expires, given).map(WallTime.init(seconds:)), idle: try integer(.idle, given),
      untilLogout: try neededFlag(.untilLogout, given), label: try text(.label, given),
      size: try neededCount(.size, given), store: try needed(.store, try named(.store, given)),
      pending: try neededFlag(.pending, given))
  }

  private func clearance(
    _ index: Int?, _ cleared: (Fields) throws(Misfit) -> Int
  ) throws(Misfit) -> Clearance {
    let given = try object(index, [.cleared, .pending])
    return Clearance(cleared: try cleared(given), pending: try neededFlag(.pending, given))
  }

  private func event(_ index: Int?) throws(Misfit) -> VaultEvent? {
    let given = try object(index, [.event, .key, .account, .version, .store])
    guard let kind: VaultEvent.Kind = try named(.event, given) else { return nil }
    return VaultEvent(
      kind, id: has(.key, given) ? try entryID(given) : nil, version: try integer(.version, given),
      store: try named(.store, given))
  }

  private func slot(_ index: Int) throws(Misfit) -> Slot {
    let given = try object(index, [.slot, .kind, .detail, .created])
    return Slot(
      number: try neededInteger(.slot, given), kind: try needed(.kind, try named(.kind, given)),
      detail: try neededText(.detail, given), created: try neededTime(.created, given))
  }

  private func verification(_ index: Int?) throws(Misfit) -> Verification {
    let given = try object(index, [.records, .damaged, .sound])
    return Verification(
      records: try neededCount(.records, given), damaged: try neededCount(.damaged, given),
      sound: try neededFlag(.sound, given))
  }

  private func status(_ index: Int?) throws(Misfit) -> DaemonStatus {
    let given = try object(index, [.version, .pid, .since, .preference, .stores, .protections])
    return DaemonStatus(
      version: try neededText(.version, given),
      pid: try needed(.pid, Int32(exactly: try neededInteger(.pid, given))),
      since: try neededTime(.since, given),
      preference: try needed(.preference, try named(.preference, given)),
      stores: try elements(.stores, given) { index throws(Misfit) in try storeStatus(index) },
      protections: try flags(.protections, given))
  }

  private func storeStatus(_ index: Int) throws(Misfit) -> StoreStatus {
    let given = try object(index, [.store, .state, .detail, .entries, .pending])
    return StoreStatus(
      store: try needed(.store, try named(.store, given)),
      state: try needed(.state, try named(.state, given)), detail: try neededText(.detail, given),
      entries: try neededCount(.entries, given), pending: try neededCount(.pending, given))
  }
}

// What errors carry.
extension Document {
  /// The failure that the error reply of this name, with the parameters at `index`, stands for.
  func failure(named name: String, _ index: Int?) throws(Misfit) -> ReplyFailure {
    if let name = name.stripping(VaultInterface.name), let outcome = Outcome(rawValue: name) {
      return .vault(try vaultError(outcome, index))
    }
    if let name = name.stripping(ServiceInterface.name), let error = ServiceError.Name(rawValue: name) {
      return .service(try serviceError(error, index))
    }
    return .malformed
  }

  private func vaultError(_ outcome: Outcome, _ index: Int?) throws(Misfit) -> VaultError {
    let given = try object(
      index,
      [
        .key, .account, .argument, .reason, .expired, .store, .version, .stored, .found, .supported, .size,
        .limit,
      ])
    return switch outcome {
    case .notFound: .notFound(try entryID(given))
    case .invalidArgument:
      .invalidArgument(argument: try neededText(.argument, given), reason: try neededText(.reason, given))
    case .expired: .expired(try entryID(given), at: try neededTime(.expired, given))
    case .locked: .locked(store: try place(given), reason: try neededText(.reason, given))
    case .denied: .denied(reason: try neededText(.reason, given))
    case .conflict: .conflict(try entryID(given), version: try neededInteger(.version, given))
    case .unavailable:
      .unavailable(
        store: try place(given), reason: try neededText(.reason, given),
        stored: try integer(.stored, given).map(WallTime.init(seconds:)))
    case .damaged: .damaged(store: try place(given), reason: try neededText(.reason, given))
    case .wrongPassphrase: .wrongPassphrase
    case .unsupportedVersion:
      .unsupportedVersion(
        found: try neededInteger(.found, given), supported: try neededInteger(.supported, given))
    case .tooLarge: .tooLarge(size: try neededCount(.size, given), limit: try neededCount(.limit, given))
    case .internal: .internal(reason: try neededText(.reason, given))
    // Nobody answers with the absence of a daemon.
    case .noDaemon: throw .field(.error)
    }
  }

  /// A place that a newer daemon has and we don't is somewhere in the daemon; the reason says more.
  private func place(_ given: Fields) throws(Misfit) -> Place {
    Place(rawValue: try neededText(.store, given)) ?? .vault
  }

  private func serviceError(_ name: ServiceError.Name, _ index: Int?) throws(Misfit) -> ServiceError {
    let given = try object(index, [.interface, .method, .parameter])
    return switch name {
    case .interfaceNotFound: .interfaceNotFound(try neededText(.interface, given))
    case .methodNotFound: .methodNotFound(try neededText(.method, given))
    case .methodNotImplemented: .methodNotImplemented(try neededText(.method, given))
    case .invalidParameter: .invalidParameter(try neededText(.parameter, given))
    case .permissionDenied: .permissionDenied
    case .expectedMore: .expectedMore
    }
  }
}

// Values that must be there.
extension Document {
  private func object(_ index: Int?, _ known: FieldSet) throws(Misfit) -> Fields {
    guard let index else { return Fields() }
    return try fields(of: index, known, others: .ignored)
  }

  private func neededText(_ field: Field, _ given: Fields) throws(Misfit) -> String {
    try needed(field, try text(field, given))
  }

  private func neededInteger(_ field: Field, _ given: Fields) throws(Misfit) -> Int64 {
    try needed(field, try integer(field, given))
  }

  private func neededCount(_ field: Field, _ given: Fields) throws(Misfit) -> Int {
    Int(try neededInteger(field, given))
  }

  private func neededTime(_ field: Field, _ given: Fields) throws(Misfit) -> WallTime {
    WallTime(seconds: try neededInteger(field, given))
  }

  private func neededFlag(_ field: Field, _ given: Fields) throws(Misfit) -> Bool {
    try needed(field, try flag(field, given))
  }

  /// One of the words that the interface lists for a member.
  private func named<Word: RawRepresentable<String>>(
    _ field: Field, _ given: Fields
  ) throws(Misfit) -> Word? {
    guard let text = try text(field, given) else { return nil }
    return try needed(field, Word(rawValue: text))
  }
}

extension String {
  /// What is behind `interface` and a dot; `nil` where this does not begin so.
  fileprivate func stripping(_ interface: String) -> String? {
    hasPrefix(interface + ".") ? String(dropFirst(interface.count + 1)) : nil
  }
}
