// For programs that have keys, tokens or both as strings: the calls with these. A `String` or an array of bytes
// stays in memory that nobody can wipe; where that matters, take the calls with `SecretBytes`.

import SecretMemory
import VaultModel

// MARK: Blocking
extension Client {
  /// The token under `key`, as text, in memory that nobody wipes.
  /// - Parameters:
  ///   - key: `NAMESPACE.NAME`, at most 255 bytes.
  ///   - account: which of several logins; empty: the one without a name.
  /// - Returns: the token.
  /// - Throws: `.invalidArgument` for a token that is not UTF-8; else as `get`.
  public func text(_ key: String, account: String = "") throws(VaultError) -> String {
    try text(of: get(GetRequest(id: try EntryID(key, account))))
  }

  /// The token under `key`, as bytes, in memory that nobody wipes.
  /// - Parameters:
  ///   - key: `NAMESPACE.NAME`, at most 255 bytes.
  ///   - account: which of several logins; empty: the one without a name.
  /// - Returns: the token, byte for byte as it was stored.
  /// - Throws: as `get`.
  public func bytes(_ key: String, account: String = "") throws(VaultError) -> [UInt8] {
    try get(GetRequest(id: try EntryID(key, account))).secret.bytes
  }

  /// The token under `key`, in locked memory that is wiped at the end of its owner's life.
  /// - Parameters:
  ///   - key: `NAMESPACE.NAME`, at most 255 bytes.
  ///   - account: which of several logins; empty: the one without a name.
  /// - Returns: the token; the caller owns it.
  /// - Throws: as `get`.
  public func secret(_ key: String, account: String = "") throws(VaultError) -> SecretBytes {
    try copy(of: get(GetRequest(id: try EntryID(key, account))))
  }

  /// Stores `text` under `key`, until it is cleared.
  /// - Parameters:
  ///   - key: `NAMESPACE.NAME`, at most 255 bytes.
  ///   - account: which of several logins; empty: the one without a name.
  ///   - text: 0 to 1,048,576 bytes of UTF-8.
  /// - Returns: the entry as it is stored.
  /// - Throws: as `set`.
  @discardableResult
  public func set(_ key: String, account: String = "", to text: String) throws(VaultError) -> Entry {
    try set(SetRequest(id: try EntryID(key, account), secret: try SharedSecret(copying: text.utf8.span)))
  }

  /// Stores `bytes` under `key`, until it is cleared.
  /// - Parameters:
  ///   - key: `NAMESPACE.NAME`, at most 255 bytes.
  ///   - account: which of several logins; empty: the one without a name.
  ///   - bytes: 0 to 1,048,576 of them.
  /// - Returns: the entry as it is stored.
  /// - Throws: as `set`.
  @discardableResult
  public func set(_ key: String, account: String = "", to bytes: [UInt8]) throws(VaultError) -> Entry {
    try set(SetRequest(id: try EntryID(key, account), secret: try SharedSecret(copying: bytes.span)))
  }

  /// Stores `secret` under `key`, until it is cleared.
  /// - Parameters:
  ///   - key: `NAMESPACE.NAME`, at most 255 bytes.
  ///   - account: which of several logins; empty: the one without a name.
  ///   - secret: 0 to 1,048,576 bytes; wiped once it was sent.
  /// - Returns: the entry as it is stored.
  /// - Throws: as `set`.
  @discardableResult
  public func set(
    _ key: String, account: String = "", to secret: consuming SecretBytes
  ) throws(VaultError) -> Entry {
    let secret = SharedSecret(secret)
    return try set(SetRequest(id: try EntryID(key, account), secret: secret))
  }

  /// Removes the token under `key`.
  /// - Parameters:
  ///   - key: `NAMESPACE.NAME`, at most 255 bytes.
  ///   - account: which of several logins; empty: the one without a name.
  /// - Returns: whether there was one, and whether a copy is removed later.
  /// - Throws: where it is not cleared.
  @discardableResult
  public func clear(_ key: String, account: String = "") throws(VaultError) -> Clearance {
    try clear(try EntryID(key, account))
  }
}

// MARK: Awaited
extension Client {
  /// The token under `key`, as text, in memory that nobody wipes.
  /// - Parameters:
  ///   - key: `NAMESPACE.NAME`, at most 255 bytes.
  ///   - account: which of several logins; empty: the one without a name.
  /// - Returns: the token.
  /// - Throws: `.invalidArgument` for a token that is not UTF-8; else as `get`.
  public func text(_ key: String, account: String = "") async throws(VaultError) -> String {
    try text(of: await get(GetRequest(id: try EntryID(key, account))))
  }

  /// The token under `key`, as bytes, in memory that nobody wipes.
  /// - Parameters:
  ///   - key: `NAMESPACE.NAME`, at most 255 bytes.
  ///   - account: which of several logins; empty: the one without a name.
  /// - Returns: the token, byte for byte as it was stored.
  /// - Throws: as `get`.
  public func bytes(_ key: String, account: String = "") async throws(VaultError) -> [UInt8] {
    try await get(GetRequest(id: try EntryID(key, account))).secret.bytes
  }

  /// The token under `key`, in locked memory that is wiped at the end of its owner's life.
  /// - Parameters:
  ///   - key: `NAMESPACE.NAME`, at most 255 bytes.
  ///   - account: which of several logins; empty: the one without a name.
  /// - Returns: the token; the caller owns it.
  /// - Throws: as `get`.
  public func secret(_ key: String, account: String = "") async throws(VaultError) -> SecretBytes {
    try copy(of: await get(GetRequest(id: try EntryID(key, account))))
  }

  /// Stores `text` under `key`, until it is cleared.
  /// - Parameters:
  ///   - key: `NAMESPACE.NAME`, at most 255 bytes.
  ///   - account: which of several logins; empty: the one without a name.
  ///   - text: 0 to 1,048,576 bytes of UTF-8.
  /// - Returns: the entry as it is stored.
  /// - Throws: as `set`.
  @discardableResult
  public func set(_ key: String, account: String = "", to text: String) async throws(VaultError) -> Entry {
    try await set(
      SetRequest(id: try EntryID(key, account), secret: try SharedSecret(copying: text.utf8.span)))
  }

  /// Stores `bytes` under `key`, until it is cleared.
  /// - Parameters:
  ///   - key: `NAMESPACE.NAME`, at most 255 bytes.
  ///   - account: which of several logins; empty: the one without a name.
  ///   - bytes: 0 to 1,048,576 of them.
  /// - Returns: the entry as it is stored.
  /// - Throws: as `set`.
  @discardableResult
  public func set(_ key: String, account: String = "", to bytes: [UInt8]) async throws(VaultError) -> Entry {
    try await set(SetRequest(id: try EntryID(key, account), secret: try SharedSecret(copying: bytes.span)))
  }

  /// Stores `secret` under `key`, until it is cleared.
  /// - Parameters:
  ///   - key: `NAMESPACE.NAME`, at most 255 bytes.
  ///   - account: which of several logins; empty: the one without a name.
  ///   - secret: 0 to 1,048,576 bytes; wiped once it was sent.
  /// - Returns: the entry as it is stored.
  /// - Throws: as `set`.
  @discardableResult
  public func set(
    _ key: String, account: String = "", to secret: consuming SecretBytes
  ) async throws(VaultError) -> Entry {
    let secret = SharedSecret(secret)
    return try await set(SetRequest(id: try EntryID(key, account), secret: secret))
  }

  /// Removes the token under `key`.
  /// - Parameters:
  ///   - key: `NAMESPACE.NAME`, at most 255 bytes.
  ///   - account: which of several logins; empty: the one without a name.
  /// - Returns: whether there was one, and whether a copy is removed later.
  /// - Throws: where it is not cleared.
  @discardableResult
  public func clear(_ key: String, account: String = "") async throws(VaultError) -> Clearance {
    try await clear(try EntryID(key, account))
  }
}

extension Client {
  fileprivate func text(of token: Token) throws(VaultError) -> String {
    guard let text = token.secret.text else {
      throw .invalidArgument(
        argument: "key", reason: "the token under \(token.entry.id) is no text; read its bytes")
    }
    return text
  }

  fileprivate func copy(of token: Token) throws(VaultError) -> SecretBytes {
    do throws(SecretMemoryError) {
      return try token.secret.withBytes { bytes throws(SecretMemoryError) in try SecretBytes(copying: bytes) }
    } catch {
      throw VaultError(error)
    }
  }
}

extension EntryID {
  /// The entry of `account` under `key`.
  /// - Throws: `.invalidArgument` that names the rule.
  public init(_ key: String, _ account: String = "") throws(VaultError) {
    self.init(try Key(key), try Account(account))
  }
}

extension SharedSecret {
  /// A copy of `bytes`; the caller wipes its own.
  /// - Throws: `.unavailable` where there is no memory.
  public convenience init(copying bytes: Span<UInt8>) throws(VaultError) {
    do throws(SecretMemoryError) {
      self.init(try SecretBytes(copying: bytes))
    } catch {
      throw VaultError(error)
    }
  }

  /// A copy of the bytes as text, in memory that nobody wipes; `nil` where they are not UTF-8.
  public var text: String? {
    withBytes { bytes in
      unsafe bytes.withUnsafeBufferPointer { unsafe String(validating: $0, as: UTF8.self) }
    }
  }

  /// A copy of the bytes, in memory that nobody wipes.
  public var bytes: [UInt8] {
    withBytes { bytes in bytes.indices.map { bytes[$0] } }
  }
}
