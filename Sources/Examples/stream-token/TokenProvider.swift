// The two services that a Stream Chat client speaks to: the app's own token provider, and Stream. Knows nothing of
// the vault.

import ExampleWeb
import Foundation

/// The app's server, which knows Stream's secret and gives tokens to users who are logged in to the app.
struct TokenProvider: Sendable {
  private let service: Service

  /// The provider that the environment names.
  init() throws(Ending) {
    service = try Service(variable: "STREAM_TOKEN_PROVIDER")
  }

  /// Asks for a new token.
  /// - Parameters:
  ///   - user: whose.
  ///   - login: what the app's server knows the user by.
  /// - Returns: the token, a JWT.
  /// - Throws: `Unreachable`, or `Ending` where the provider refuses.
  func token(for user: String, login: String) async throws -> String {
    let body = try JSONEncoder().encode(["user_id": user])
    let answer = try await service.send(
      "POST", headers: ["Content-Type": "application/json", "Authorization": "Bearer \(login)"], body: body)
    guard answer.status == 200, let token = answer.text(at: "token") else {
      throw Ending(1, "the token provider gives no token: status \(answer.status)")
    }
    return token
  }
}

/// Stream's interface.
struct Stream: Sendable {
  private let service: Service

  /// Where the environment says that it is.
  init() throws(Ending) {
    service = try Service(variable: "STREAM_URL")
  }

  /// Reads something as a user.
  func get(_ path: String, token: String) async throws -> Answer {
    try await service.send("GET", path, headers: ["Authorization": token, "stream-auth-type": "jwt"])
  }
}

extension Answer {
  /// Stream's code for a token that has expired.
  var saysTokenExpired: Bool { status == 401 && integer(at: "code") == 40 }
}
