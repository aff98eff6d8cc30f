// The methods of the two interfaces by name, and which parameters each may have (org.vaultd.Vault.varlink,
// and "org.varlink.service" in the description of Varlink). Shared by both readers and writers.

/// A method.
enum Method: String, CaseIterable {
  // Of org.varlink.service.
  case getInfo = "GetInfo"
  case getInterfaceDescription = "GetInterfaceDescription"
  // Of org.vaultd.Vault.
  case get = "Get"
  case set = "Set"
  case clear = "Clear"
  case clearNamespace = "ClearNamespace"
  case list = "List"
  case touch = "Touch"
  case watch = "Watch"
  case refresh = "Refresh"
  case giveUp = "GiveUp"
  case initialise = "Init"
  case lock = "Lock"
  case unlock = "Unlock"
  case slots = "Slots"
  case addSlot = "AddSlot"
  case removeSlot = "RemoveSlot"
  case verify = "Verify"
  case status = "Status"

  /// The method of this whole name, which is split at its last dot.
  static func named(_ name: Span<UInt8>) throws(ServiceError) -> Method {
    for known in wholeNames where name.isEqual(to: known.name) { return known.method }
    // It is none: say what of it is unknown.
    guard let dot = name.indices.last(where: { name[$0] == UInt8(ascii: ".") }), dot > 0 else {
      throw .invalidParameter(Field.method.name)
    }
    let interface = name.extracting(..<dot)
    guard interface.isEqual(to: VaultInterface.name) || interface.isEqual(to: ServiceInterface.name) else {
      throw .interfaceNotFound(PlainName.method(interface))
    }
    throw .methodNotFound(PlainName.method(name))
  }

  private static let wholeNames = allCases.map { (method: $0, name: "\($0.interface).\($0.rawValue)") }

  /// The interface that has it.
  var interface: String {
    switch self {
    case .getInfo, .getInterfaceDescription: ServiceInterface.name
    case .get, .set, .clear, .clearNamespace, .list, .touch, .watch, .refresh, .giveUp, .initialise, .lock,
      .unlock, .slots, .addSlot, .removeSlot, .verify, .status:
      VaultInterface.name
    }
  }

  /// The parameters that a call may have.
  var parameters: FieldSet {
    switch self {
    case .getInfo, .lock, .slots, .verify, .status: []
    case .getInterfaceDescription: [.interface]
    case .get: [.key, .account, .minValidity, .interactive]
    case .set:
      [
        .key, .account, .secret, .secretBase64, .expires, .expiresIn, .idle, .untilLogout, .label, .ifVersion,
        .lease, .interactive,
      ]
    case .clear: [.key, .account, .ifVersion]
    case .clearNamespace: [.namespace, .account]
    case .list: [.namespace]
    case .touch: [.key, .account]
    case .watch: [.namespace, .key]
    case .refresh: [.key, .account, .minValidity, .wait]
    case .giveUp: [.lease]
    case .initialise, .addSlot: [.passphrase, .keyFile, .credential]
    case .unlock: [.passphrase, .keyFile]
    case .removeSlot: [.slot]
    }
  }
}

extension Call {
  /// The method that is called.
  var method: Method {
    switch self {
    case .getInfo: .getInfo
    case .getInterfaceDescription: .getInterfaceDescription
    case .get: .get
    case .set: .set
    case .clear: .clear
    case .clearNamespace: .clearNamespace
    case .list: .list
    case .touch: .touch
    case .watch: .watch
    case .refresh: .refresh
    case .giveUp: .giveUp
    case .initialise: .initialise
    case .lock: .lock
    case .unlock: .unlock
    case .slots: .slots
    case .addSlot: .addSlot
    case .removeSlot: .removeSlot
    case .verify: .verify
    case .status: .status
    }
  }

  /// The whole name of the method, as `org.vaultd.Vault.Get`: for errors and for the log.
  public var methodName: String { "\(method.interface).\(method.rawValue)" }
}

extension Span<UInt8> {
  /// Whether these are the bytes of `text`.
  func isEqual(to text: String) -> Bool {
    let text = text.utf8.span
    guard text.count == count else { return false }
    // From the end: names of one interface differ there.
    for index in indices.reversed() where self[index] != text[index] { return false }
    return true
  }
}
