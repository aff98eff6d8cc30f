// The outcomes of a request other than success: one closed set, the same as error names on the socket, exit
// statuses of the command and cases of the client library (behaviour.md, "Outcomes"). A text says what
// happened, to what, and what to do next, in one line. It never holds a secret.

import SecretMemory

/// What an outcome speaks of.
public enum Place: String, Sendable, CaseIterable {
  /// The Secret Service.
  case secretService = "secret_service"
  /// The vault file.
  case file
  /// The session store.
  case session
  /// `state.db`.
  case state
  /// The daemon as a whole.
  case vault

  /// The place that a store is.
  public init(_ store: StoreName) {
    switch store {
    case .secretService: self = .secretService
    case .file: self = .file
    case .session: self = .session
    }
  }
}

/// Why a request did not succeed (behaviour.md, "Outcomes"): what the daemon answers, and what the client library
/// throws. Indirect, so that an answer which is none is small: on the way of a request it is handed on a dozen times.
public indirect enum VaultError: Error, Hashable, Sendable {
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
  case unavailable(store: Place, reason: String, stored: WallTime? = nil)
  /// No daemon was reached, or it did not answer. Clients alone meet this one.
  case noDaemon(NoDaemon)
  /// The vault file, or this record of it, fails authentication.
  case damaged(store: Place, reason: String)
  /// No slot opens with this passphrase.
  case wrongPassphrase
  /// The vault file was written by a newer version; nothing was touched.
  case unsupportedVersion(found: Int64, supported: Int64)
  /// The secret is over the limit; nothing was stored.
  case tooLarge(size: Int, limit: Int)
  /// A bug of ours.
  case `internal`(reason: String)
}

/// The outcomes by name and exit status.
public enum Outcome: String, Sendable, CaseIterable {
  case notFound = "NotFound"
  case invalidArgument = "InvalidArgument"
  case expired = "Expired"
  case locked = "Locked"
  case denied = "Denied"
  case conflict = "Conflict"
  case unavailable = "Unavailable"
  case noDaemon = "NoDaemon"
  case damaged = "Damaged"
  case wrongPassphrase = "WrongPassphrase"
  case unsupportedVersion = "UnsupportedVersion"
  case tooLarge = "TooLarge"
  case `internal` = "Internal"

  /// The exit status of the command.
  public var exitStatus: Int32 {
    switch self {
    case .notFound: 1
    case .invalidArgument: 2
    case .expired: 3
    case .locked: 4
    case .denied: 5
    case .conflict: 6
    case .unavailable: 7
    case .noDaemon: 8
    case .damaged: 9
    case .wrongPassphrase: 10
    case .unsupportedVersion: 11
    case .tooLarge: 12
    case .internal: 70
    }
  }
}

extension VaultError {
  /// Which outcome this is.
  public var outcome: Outcome {
    switch self {
    case .notFound: .notFound
    case .invalidArgument: .invalidArgument
    case .expired: .expired
    case .locked: .locked
    case .denied: .denied
    case .conflict: .conflict
    case .unavailable: .unavailable
    case .noDaemon: .noDaemon
    case .damaged: .damaged
    case .wrongPassphrase: .wrongPassphrase
    case .unsupportedVersion: .unsupportedVersion
    case .tooLarge: .tooLarge
    case .internal: .internal
    }
  }

  /// The outcome of a failure of secret memory, wherever it happened.
  public init(_ error: SecretMemoryError) {
    switch error {
    case .exhausted(let bytes):
      self = .unavailable(
        store: .vault, reason: "no memory for \(bytes) bytes of a secret; try again when the machine has some"
      )
    case .notBase64:
      self = .invalidArgument(
        argument: "secretBase64", reason: "is not Base64 (RFC 4648, section 4, with padding)")
    case .notText:
      self = .invalidArgument(argument: "passphrase", reason: "is not UTF-8 text")
    case .notOpened:
      self = .internal(reason: "OpenSSL did not open a secret that it had opened before")
    }
  }
}

extension VaultError: CustomStringConvertible {
  /// One line for a person: what happened, to what, what to do next.
  public var description: String {
    switch self {
    case .notFound(let id): "nothing is stored under \(id)"
    case .invalidArgument(let argument, let reason): "\(argument): \(reason)"
    case .expired(let id, let at): "the token under \(id) expired at \(at.rfc3339); set a new one"
    case .locked(_, let reason): reason
    case .denied(let reason): reason
    case .conflict(let id, let version):
      version == 0
        ? "\(id) changed meanwhile: nothing is stored there now; read it and decide again"
        : "\(id) changed meanwhile: its version is \(version) now; read it and decide again"
    case .unavailable(_, let reason, let stored):
      stored.map { "\(reason) (it was stored at \($0.rfc3339))" } ?? reason
    case .noDaemon(let cause): cause.description
    case .damaged(_, let reason): reason
    case .wrongPassphrase: "this passphrase or key opens no slot of the vault file; nothing was changed"
    case .unsupportedVersion(let found, let supported):
      "the vault file has format \(found), this program reads up to \(supported): "
        + "install a newer vaultd; nothing was changed"
    case .tooLarge(let size, let limit):
      "the secret has \(size) bytes, the limit is \(limit); nothing was stored"
    case .internal(let reason): "a bug of vaultd: \(reason); please report it"
    }
  }
}
