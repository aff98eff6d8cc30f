// From the reply to what a call returns. The reader has read each reply as one to its call, so another shape than
// the call's is no answer.

import VaultModel
import VaultWire

extension Client {
  func token(in reply: Reply) throws(VaultError) -> Token {
    guard case .token(let token) = reply else { throw unexpected }
    return token
  }

  func entry(in reply: Reply) throws(VaultError) -> Entry {
    guard case .entry(let entry) = reply else { throw unexpected }
    return entry
  }

  func clearance(in reply: Reply) throws(VaultError) -> Clearance {
    switch reply {
    case .clearance(let clearance), .namespaceClearance(let clearance): return clearance
    default: throw unexpected
    }
  }

  func entries(in reply: Reply) throws(VaultError) -> [Entry] {
    guard case .entries(let entries) = reply else { throw unexpected }
    return entries
  }

  func status(in reply: Reply) throws(VaultError) -> DaemonStatus {
    guard case .status(let status) = reply else { throw unexpected }
    return status
  }

  func slots(in reply: Reply) throws(VaultError) -> [Slot] {
    guard case .slots(let slots) = reply else { throw unexpected }
    return slots
  }

  func slot(in reply: Reply) throws(VaultError) -> Slot {
    guard case .slot(let slot) = reply else { throw unexpected }
    return slot
  }

  func verification(in reply: Reply) throws(VaultError) -> Verification {
    guard case .verification(let verification) = reply else { throw unexpected }
    return verification
  }

  func nothing(in reply: Reply) throws(VaultError) {
    guard case .empty = reply else { throw unexpected }
  }

  /// What `Refresh` answered; a lease keeps the connection that it was granted on.
  func refreshed(
    in reply: Reply, over connection: consuming Connection?
  ) throws(VaultError) -> Refreshed {
    guard case .refreshed(let name, let token, let entry) = reply else { throw unexpected }
    if let token {
      keep(connection)
      return .token(token)
    }
    guard let name, let connection else { throw unexpected }
    return .lease(Lease(named: name, entry: entry, settings, over: connection))
  }

  private var unexpected: VaultError {
    .noDaemon(.broken(socket: settings.socket, mayTakeEffect: false))
  }
}
