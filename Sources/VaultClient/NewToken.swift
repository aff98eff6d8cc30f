// What a renewal brings back from a service, before it is stored.

import SecretMemory
import VaultModel
import VaultWire

/// A token that a service has just given.
public struct NewToken: Sendable {
  /// When a token is over, by the word of who gave it.
  public enum Expiry: Hashable, Sendable {
    /// Not by itself.
    case never
    /// At this time; the second that it falls into is not handed out any more.
    case at(WallTime)
    /// So long from now; parts of a second are dropped.
    case after(Duration)
  }

  /// The token: 0 to 1,048,576 bytes.
  public var secret: SharedSecret
  /// When it is over.
  public var expiry: Expiry
  /// Seconds after the last use in which it is over, too; `nil`: as for the token before, where there was one.
  public var idle: Int64?
  /// What a person should read, one line of at most 1,024 bytes; `nil`: as for the token before.
  public var label: String?

  /// A token in locked memory.
  public init(
    _ secret: SharedSecret, expiry: Expiry = .never, idle: Int64? = nil, label: String? = nil
  ) {
    self.secret = secret
    self.expiry = expiry
    self.idle = idle
    self.label = label
  }

  /// A token as text.
  /// - Throws: `.unavailable` where there is no memory.
  public init(
    _ text: String, expiry: Expiry = .never, idle: Int64? = nil, label: String? = nil
  ) throws(VaultError) {
    self.init(try SharedSecret(copying: text.utf8.span), expiry: expiry, idle: idle, label: label)
  }

  /// A JSON Web Token, which says itself when it is over (`exp`, RFC 7519, section 4.1.4); one that doesn't never is.
  /// Its signature is not checked: who asked the service has decided to trust it.
  /// - Throws: `.invalidArgument` for what is no JWT.
  public init(jwt text: String, idle: Int64? = nil, label: String? = nil) throws(VaultError) {
    let secret = try SharedSecret(copying: text.utf8.span)
    let expiry = try JWT.expiry(of: secret, argument: "token").map { Expiry.at(WallTime(seconds: $0)) }
    self.init(secret, expiry: expiry ?? .never, idle: idle, label: label)
  }

  func request(for id: EntryID, inPlaceOf old: Entry?) -> SetRequest {
    var request = SetRequest(
      id: id, secret: secret, idle: idle ?? old?.idle, untilLogout: old?.untilLogout ?? false,
      label: label ?? old?.label)
    switch expiry {
    case .never: break
    case .at(let time): request.expires = time.seconds
    case .after(let duration): request.expiresIn = duration.components.seconds
    }
    return request
  }
}
