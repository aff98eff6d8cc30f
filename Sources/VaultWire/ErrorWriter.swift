// Errors to frames, in the daemon. The parameters are those of the interface, and nothing else of an error
// leaves the process.

import SecretMemory
import VaultModel

extension VaultError {
  /// Adds the error reply to `buffer` as a frame, with the NUL at its end. Where it throws, nothing is added.
  public func writeReply(into buffer: inout SecretBuffer) throws(SecretMemoryError) {
    // Who answers is there.
    if case .noDaemon(let cause) = self {
      return try VaultError.internal(reason: cause.description).writeReply(into: &buffer)
    }
    try buffer.appendFrame { buffer throws(SecretMemoryError) in
      try buffer.append(#"{"error":"#)
      try buffer.appendString("\(VaultInterface.name).\(outcome.rawValue)")
      try buffer.append(#","parameters":{"#)
      try writeParameters(into: &buffer)
      try buffer.append("}}")
    }
  }

  private func writeParameters(into buffer: inout SecretBuffer) throws(SecretMemoryError) {
    switch self {
    case .notFound(let id): try buffer.appendID(id)
    case .invalidArgument(let argument, let reason):
      try buffer.append(#""argument":"#)
      try buffer.appendString(argument)
      try buffer.append(#","reason":"#)
      try buffer.appendString(reason)
    case .expired(let id, let at):
      try buffer.appendID(id)
      try buffer.append(#","expired":"#)
      try buffer.appendInteger(at.seconds)
    case .locked(let store, let reason), .damaged(let store, let reason):
      try buffer.appendPlace(store, reason)
    case .denied(let reason), .internal(let reason):
      try buffer.append(#""reason":"#)
      try buffer.appendString(reason)
    case .conflict(let id, let version):
      try buffer.appendID(id)
      try buffer.append(#","version":"#)
      try buffer.appendInteger(version)
    case .unavailable(let store, let reason, let stored):
      try buffer.appendPlace(store, reason)
      if let stored {
        try buffer.append(#","stored":"#)
        try buffer.appendInteger(stored.seconds)
      }
    case .wrongPassphrase, .noDaemon: break
    case .unsupportedVersion(let found, let supported):
      try buffer.append(#""found":"#)
      try buffer.appendInteger(found)
      try buffer.append(#","supported":"#)
      try buffer.appendInteger(supported)
    case .tooLarge(let size, let limit):
      try buffer.append(#""size":"#)
      try buffer.appendInteger(Int64(size))
      try buffer.append(#","limit":"#)
      try buffer.appendInteger(Int64(limit))
    }
  }
}

extension ServiceError {
  /// Adds the error reply to `buffer` as a frame, with the NUL at its end. Where it throws, nothing is added.
  public func writeReply(into buffer: inout SecretBuffer) throws(SecretMemoryError) {
    try buffer.appendFrame { buffer throws(SecretMemoryError) in
      try buffer.append(#"{"error":"#)
      try buffer.appendString("\(ServiceInterface.name).\(name.rawValue)")
      try buffer.append(#","parameters":{"#)
      switch self {
      case .interfaceNotFound(let interface):
        try buffer.append(#""interface":"#)
        try buffer.appendString(interface)
      case .methodNotFound(let method), .methodNotImplemented(let method):
        try buffer.append(#""method":"#)
        try buffer.appendString(method)
      case .invalidParameter(let parameter):
        try buffer.append(#""parameter":"#)
        try buffer.appendString(parameter)
      case .permissionDenied, .expectedMore: break
      }
      try buffer.append("}}")
    }
  }

  /// The errors by name.
  enum Name: String {
    case interfaceNotFound = "InterfaceNotFound"
    case methodNotFound = "MethodNotFound"
    case methodNotImplemented = "MethodNotImplemented"
    case invalidParameter = "InvalidParameter"
    case permissionDenied = "PermissionDenied"
    case expectedMore = "ExpectedMore"
  }

  private var name: Name {
    switch self {
    case .interfaceNotFound: .interfaceNotFound
    case .methodNotFound: .methodNotFound
    case .methodNotImplemented: .methodNotImplemented
    case .invalidParameter: .invalidParameter
    case .permissionDenied: .permissionDenied
    case .expectedMore: .expectedMore
    }
  }
}

extension SecretBuffer {
  fileprivate mutating func appendID(_ id: EntryID) throws(SecretMemoryError) {
    try append(#""key":"#)
    try appendString(id.key.text)
    try append(#","account":"#)
    try appendString(id.account.text)
  }

  fileprivate mutating func appendPlace(_ place: Place, _ reason: String) throws(SecretMemoryError) {
    try append(#""store":"#)
    try appendString(place.rawValue)
    try append(#","reason":"#)
    try appendString(reason)
  }
}
