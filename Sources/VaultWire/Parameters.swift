// The parameters of calls, each read by the rule that holds for it wherever it appears. Only the rules that
// need nothing but the value: whether an `expires` is over already, or a version is the present one, is for
// the vault to say.

import SecretMemory
import VaultModel

extension Document {
  /// A value that must be given.
  func needed<Value>(_ field: Field, _ value: Value?) throws(Misfit) -> Value {
    guard let value else { throw .field(field) }
    return value
  }

  // MARK: Names

  func entryID(_ given: Fields) throws(Misfit) -> EntryID {
    EntryID(try needed(.key, try key(given)), try account(given) ?? .empty)
  }

  func key(_ given: Fields) throws(Misfit) -> Key? {
    guard let text = try text(.key, given) else { return nil }
    do throws(VaultError) { return try Key(text) } catch { throw .value(error) }
  }

  func account(_ given: Fields) throws(Misfit) -> Account? {
    guard let text = try text(.account, given) else { return nil }
    do throws(VaultError) { return try Account(text) } catch { throw .value(error) }
  }

  func namespace(_ given: Fields) throws(Misfit) -> Namespace? {
    guard let text = try text(.namespace, given) else { return nil }
    do throws(VaultError) { return try Namespace(text) } catch { throw .value(error) }
  }

  func lease(_ given: Fields) throws(Misfit) -> String? {
    guard let text = try text(.lease, given) else { return nil }
    try require(!text.isEmpty && text.utf8.count <= Limits.leaseBytes, .lease, "is no lease")
    return text
  }

  private func label(_ given: Fields) throws(Misfit) -> String? {
    guard let text = try text(.label, given) else { return nil }
    do throws(VaultError) { try checkLabel(text) } catch { throw .value(error) }
    return text
  }

  /// Another interface than ours is asked for by a name that may be repeated in the answer.
  func interfaceName(_ given: Fields) throws(Misfit) -> String {
    let name = try needed(.interface, try stringToken(.interface, given))
    return withBytes(at: name) { PlainName.method($0) }
  }

  // MARK: Numbers

  func duration(_ field: Field, _ given: Fields) throws(Misfit) -> Int64? {
    try positive(field, given, limit: Limits.longestDuration)
  }

  func version(_ given: Fields) throws(Misfit) -> Version? {
    guard let version = try integer(.ifVersion, given) else { return nil }
    try require(version >= 0, .ifVersion, "is negative")
    return version
  }

  private func positive(_ field: Field, _ given: Fields, limit: Int64) throws(Misfit) -> Int64? {
    guard let seconds = try integer(field, given) else { return nil }
    try require(seconds > 0, field, "is not a positive number of seconds")
    try require(seconds <= limit, field, "is more than \(limit) seconds")
    return seconds
  }

  // MARK: Secrets

  func setRequest(_ given: Fields) throws(Misfit) -> SetRequest {
    let id = try entryID(given)
    let expires = try positive(.expires, given, limit: Limits.latestTime)
    let expiresIn = try duration(.expiresIn, given)
    try require(
      expires == nil || expiresIn == nil, .expiresIn, "is given beside expires: give one of them")
    return SetRequest(
      id: id, secret: try secret(given), expires: expires, expiresIn: expiresIn,
      idle: try duration(.idle, given), untilLogout: try flag(.untilLogout, given) ?? false,
      label: try label(given), ifVersion: try version(given), lease: try lease(given),
      interactive: try flag(.interactive, given) ?? true)
  }

  private func secret(_ given: Fields) throws(Misfit) -> SharedSecret {
    let plain = try stringToken(.secret, given)
    let encoded = try stringToken(.secretBase64, given)
    try require(
      plain == nil || encoded == nil, .secret, "is given twice, as secret and as secretBase64")
    guard let secret = try sharedSecret(plain: plain, encoded: encoded) else {
      throw .value(
        .invalidArgument(argument: Field.secret.name, reason: "is missing, and so is secretBase64"))
    }
    return secret
  }

  /// The secret in a string, or in the Base64 of another; `nil` where there is neither.
  func sharedSecret(plain: Int?, encoded: Int?) throws(Misfit) -> SharedSecret? {
    guard let index = plain ?? encoded else { return nil }
    return try withBytes(at: index) { text throws(Misfit) in
      let size = plain != nil ? text.count : Base64.decodedCount(text)
      guard size <= Limits.secretBytes else {
        throw .value(.tooLarge(size: size, limit: Limits.secretBytes))
      }
      do throws(SecretMemoryError) {
        return SharedSecret(plain != nil ? try SecretBytes(copying: text) : try Base64.decode(text))
      } catch {
        throw .value(VaultError(error))
      }
    }
  }

  /// What opens a slot; one way at most.
  func slotKey(_ given: Fields) throws(Misfit) -> SlotKey? {
    let ways = [Field.passphrase, .keyFile, .credential].filter { has($0, given) }
    guard let way = ways.first else { return nil }
    try require(ways.count == 1, ways[ways.count - 1], "is given beside \(way.name): give one of them")
    if let token = try stringToken(.passphrase, given) { return .passphrase(try passphrase(token)) }
    if let path = try text(.keyFile, given) {
      try require(path.utf8.first == UInt8(ascii: "/"), .keyFile, "is no absolute path")
      try require(path.utf8.count <= Limits.pathBytes, .keyFile, "is longer than \(Limits.pathBytes) bytes")
      try require(!path.utf8.contains(0), .keyFile, "holds a NUL")
      return .keyFile(path)
    }
    guard let name = try text(.credential, given) else { return nil }
    try require(
      !name.isEmpty && name.utf8.count <= Limits.credentialBytes && !name.utf8.contains(UInt8(ascii: "/"))
        && name != "." && name != ".." && !name.holdsControl,
      .credential, "is no name of a credential")
    return .credential(name)
  }

  func neededSlotKey(_ given: Fields) throws(Misfit) -> SlotKey {
    guard let key = try slotKey(given) else {
      throw .value(
        .invalidArgument(
          argument: Field.passphrase.name, reason: "is missing, and so are keyFile and credential"))
    }
    return key
  }

  private func passphrase(_ token: Int) throws(Misfit) -> SharedSecret {
    try withBytes(at: token) { text throws(Misfit) in
      try require(!text.isEmpty, .passphrase, "is empty")
      try require(
        text.count <= Limits.passphraseBytes, .passphrase,
        "is longer than \(Limits.passphraseBytes) bytes")
      do throws(SecretMemoryError) {
        return SharedSecret(try SecretBytes(copying: text))
      } catch {
        throw .value(VaultError(error))
      }
    }
  }

  private func require(_ holds: Bool, _ field: Field, _ reason: String) throws(Misfit) {
    guard holds else { throw .value(.invalidArgument(argument: field.name, reason: reason)) }
  }
}
