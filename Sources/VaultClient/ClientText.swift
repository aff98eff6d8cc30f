// For programs that have tokens as text or bytes of their own: the calls with strings. A `String` or an array
// stays in memory that nobody can wipe; where that matters, use the calls with `SharedSecret`.

import SecretMemory
import VaultModel

extension Client {
  /// The token under `key`, as text.
  /// - Throws: `.invalidArgument` for a token that is not UTF-8; else as `get`.
  public func text(_ key: String, account: String = "") throws(VaultError) -> String {
    let token = try get(GetRequest(id: try entryID(key, account)))
    guard let text = token.secret.text else {
      throw .invalidArgument(
        argument: "key", reason: "the token under \(token.entry.id) is no text; read its bytes")
    }
    return text
  }

  /// The token under `key`, as bytes.
  public func bytes(_ key: String, account: String = "") throws(VaultError) -> [UInt8] {
    try get(GetRequest(id: try entryID(key, account))).secret.bytes
  }

  /// Stores `text` under `key`.
  @discardableResult
  public func set(_ key: String, account: String = "", to text: String) throws(VaultError) -> Entry {
    try set(SetRequest(id: try entryID(key, account), secret: try shared(text.utf8.span)))
  }

  /// Stores `bytes` under `key`.
  @discardableResult
  public func set(_ key: String, account: String = "", to bytes: [UInt8]) throws(VaultError) -> Entry {
    try set(SetRequest(id: try entryID(key, account), secret: try shared(bytes.span)))
  }

  /// Removes the token under `key`.
  @discardableResult
  public func clear(_ key: String, account: String = "") throws(VaultError) -> Clearance {
    try clear(try entryID(key, account))
  }

  private func entryID(_ key: String, _ account: String) throws(VaultError) -> EntryID {
    EntryID(try Key(key), try Account(account))
  }

  private func shared(_ bytes: Span<UInt8>) throws(VaultError) -> SharedSecret {
    do throws(SecretMemoryError) {
      return SharedSecret(try SecretBytes(copying: bytes))
    } catch {
      throw VaultError(error)
    }
  }
}

extension SharedSecret {
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
