// The calls that a client can make, one case a method of the two interfaces that the daemon serves. Between
// `RequestReader`, which makes them from a frame, and the vault, which carries them out; on the client's side
// `Call.write` turns them into a frame. A call holds only values that are valid by themselves.

import VaultModel

/// A method with its parameters. What is large and not `Get` is indirect: a call is handed on several times.
public enum Call: Sendable {
  // org.varlink.service

  /// Who serves this socket, and which interfaces.
  case getInfo
  /// The text of one of these interfaces.
  case getInterfaceDescription(interface: String)

  // org.vaultd.Vault

  /// Reads a secret.
  case get(GetRequest)
  /// Stores a secret.
  indirect case set(SetRequest)
  /// Removes a secret; with `ifVersion`, only that version of it.
  indirect case clear(EntryID, ifVersion: Version?)
  /// Removes all keys of a namespace; `account` `nil`: of every account.
  indirect case clearNamespace(Namespace, account: Account?)
  /// The entries of a namespace, or all.
  case list(Namespace?)
  /// Starts the idle time anew.
  case touch(EntryID)
  /// Reports changes until the connection ends.
  indirect case watch(namespace: Namespace?, key: Key?)
  /// The valid token or a lease to renew it; `minValidity` and `wait` in seconds.
  indirect case refresh(EntryID, minValidity: Int64?, wait: Int64?)
  /// Ends a lease without a new token.
  case giveUp(lease: String)
  /// Makes the vault file (`Init`).
  case initialise(SlotKey)
  /// Wipes every key and value in memory.
  case lock
  /// Opens the vault file; `nil` tries the key files and credentials of its slots.
  case unlock(SlotKey?)
  /// The slots of the vault file.
  case slots
  /// Adds a slot.
  case addSlot(SlotKey)
  /// Removes the slot of this number.
  case removeSlot(Int64)
  /// Authenticates every record of the vault file.
  case verify
  /// The daemon, its stores and its protections.
  case status
}

/// A call as it came in, with what the caller said about replies.
public struct Request: Sendable {
  /// What to do.
  public var call: Call
  /// Carry it out and send no reply.
  public var oneway: Bool
  /// Several replies are welcome.
  public var more: Bool

  /// A request with these fields.
  public init(call: Call, oneway: Bool = false, more: Bool = false) {
    self.call = call
    self.oneway = oneway
    self.more = more
  }
}
