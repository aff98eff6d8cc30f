// Everything that can come of a call but success: the outcomes of the daemon and the one that only a client
// knows, that there is no daemon. The place where errors of the wire become outcomes. Never holds a secret.

import SecretMemory
import VaultModel
import VaultWire

/// Why a call did not succeed (behaviour.md, "Outcomes").
public enum ClientError: Error, Hashable, Sendable {
  /// The store that owns the key was searched and has nothing, or the key was cleared.
  case notFound(EntryID)
  /// Nothing was done: `argument` is not what it may be.
  case invalidArgument(argument: String, reason: String)
  /// There was a token; its time is over. It is never handed out again.
  case expired(EntryID, at: WallTime)
  /// It cannot be read until somebody unlocks `store`.
  case locked(store: Place, reason: String)
  /// This caller may not.
  case denied(reason: String)
  /// The key changed since the version that the caller named; `version` is the present one, 0 where nothing is stored.
  case conflict(EntryID, version: Version)
  /// `store` cannot be reached, cannot take the write, or no longer has what was `stored` in it.
  case unavailable(store: Place, reason: String, stored: WallTime?)
  /// No daemon was reached, or it did not answer.
  case noDaemon(NoDaemon)
  /// The vault file, or this record of it, fails authentication.
  case damaged(store: Place, reason: String)
  /// No slot of the vault file opens with this passphrase.
  case wrongPassphrase
  /// The vault file was written by a newer version; nothing was touched.
  case unsupportedVersion(found: Int64, supported: Int64)
  /// The secret is over the limit; nothing was stored.
  case tooLarge(size: Int, limit: Int)
  /// A bug of ours.
  case `internal`(reason: String)
}

extension ClientError {
  /// The outcome that the daemon answered with.
  public init(_ error: VaultError) {
    switch error {
    case .notFound(let id): self = .notFound(id)
    case .invalidArgument(let argument, let reason):
      self = .invalidArgument(argument: argument, reason: reason)
    case .expired(let id, let at): self = .expired(id, at: at)
    case .locked(let store, let reason): self = .locked(store: store, reason: reason)
    case .denied(let reason): self = .denied(reason: reason)
    case .conflict(let id, let version): self = .conflict(id, version: version)
    case .unavailable(let store, let reason, let stored):
      self = .unavailable(store: store, reason: reason, stored: stored)
    case .damaged(let store, let reason): self = .damaged(store: store, reason: reason)
    case .wrongPassphrase: self = .wrongPassphrase
    case .unsupportedVersion(let found, let supported):
      self = .unsupportedVersion(found: found, supported: supported)
    case .tooLarge(let size, let limit): self = .tooLarge(size: size, limit: limit)
    case .internal(let reason): self = .internal(reason: reason)
    }
  }

  /// The same as the daemon would say it; `nil` for what only a client can know.
  private var ofVault: VaultError? {
    switch self {
    case .notFound(let id): .notFound(id)
    case .invalidArgument(let argument, let reason): .invalidArgument(argument: argument, reason: reason)
    case .expired(let id, let at): .expired(id, at: at)
    case .locked(let store, let reason): .locked(store: store, reason: reason)
    case .denied(let reason): .denied(reason: reason)
    case .conflict(let id, let version): .conflict(id, version: version)
    case .unavailable(let store, let reason, let stored):
      .unavailable(store: store, reason: reason, stored: stored)
    case .noDaemon: nil
    case .damaged(let store, let reason): .damaged(store: store, reason: reason)
    case .wrongPassphrase: .wrongPassphrase
    case .unsupportedVersion(let found, let supported):
      .unsupportedVersion(found: found, supported: supported)
    case .tooLarge(let size, let limit): .tooLarge(size: size, limit: limit)
    case .internal(let reason): .internal(reason: reason)
    }
  }

  /// Which outcome this is.
  public var outcome: Outcome { ofVault?.outcome ?? .noDaemon }

  init(_ error: SecretMemoryError) {
    self.init(VaultError(error))
  }

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

extension ClientError: CustomStringConvertible {
  /// One line for a person: what happened, to what, what to do next.
  public var description: String {
    if case .noDaemon(let reason) = self { return reason.description }
    return ofVault?.description ?? ""
  }
}
