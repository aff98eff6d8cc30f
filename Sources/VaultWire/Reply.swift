// The replies, one case a shape that the interfaces know. Between the vault, which gives them, and
// `Reply.write`, which turns them into a frame; on the client's side `ReplyReader` makes them again. Secrets
// stay in `SharedSecret` all the way.

import VaultModel

/// What `GetInfo` of `org.varlink.service` tells.
public struct ServiceInfo: Hashable, Sendable {
  /// Who made the program.
  public var vendor: String
  /// Its name.
  public var product: String
  /// Its version.
  public var version: String
  /// Where to read about it.
  public var url: String
  /// The interfaces on this socket.
  public var interfaces: [String]

  /// Information with these fields.
  public init(vendor: String, product: String, version: String, url: String, interfaces: [String]) {
    self.vendor = vendor
    self.product = product
    self.version = version
    self.url = url
    self.interfaces = interfaces
  }
}

/// The parameters of a reply. All but a token and what is as small are indirect.
public enum Reply: Sendable {
  /// To `GetInfo`.
  indirect case info(ServiceInfo)
  /// To `GetInterfaceDescription`.
  indirect case interfaceDescription(String)
  /// To `Get`.
  case token(Token)
  /// The same, of a token that is opened as it is written.
  case sealedToken(any SealedToken)
  /// To `Set` and `Touch`.
  indirect case entry(Entry)
  /// To `Clear`: whether something was there.
  indirect case clearance(Clearance)
  /// To `ClearNamespace`: how many there were.
  indirect case namespaceClearance(Clearance)
  /// To `List`.
  case entries([Entry])
  /// To `Watch`: first nothing, when watching has begun, then a change each.
  indirect case event(VaultEvent?)
  /// To `Refresh`: a lease, with the entry where there is one; or a token.
  indirect case refreshed(lease: String?, token: Token?, entry: Entry?)
  /// To `Slots`.
  case slots([Slot])
  /// To `AddSlot`.
  indirect case slot(Slot)
  /// To `Verify`.
  indirect case verification(Verification)
  /// To `Status`.
  indirect case status(DaemonStatus)
  /// To all methods that return nothing.
  case empty
}
