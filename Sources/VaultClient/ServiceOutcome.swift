// What an error of org.varlink.service is to a program that calls this library: one of the outcomes, like
// everything else that can come of a call.

import VaultModel
import VaultWire

extension VaultError {
  /// The daemon does not know the call, or refuses its shape.
  init(_ error: ServiceError) {
    switch error {
    case .interfaceNotFound(let name), .methodNotFound(let name), .methodNotImplemented(let name):
      self = .invalidArgument(
        argument: name, reason: "this vaultd does not do that; nothing was done; a newer one may")
    case .invalidParameter(let name):
      self = .invalidArgument(argument: name, reason: "vaultd does not take this; nothing was done")
    case .permissionDenied:
      self = .denied(reason: "vaultd refuses this caller")
    case .expectedMore:
      self = .internal(reason: "a call that has several replies was made as one that has one")
    }
  }
}
