// A Parse Server's GraphQL endpoint, as its clients speak to it: what is asked, and where in the answer it is, which
// has changed with the versions. Knows nothing of the vault.

import ExampleWeb
import Foundation

/// How versions of Parse Server have log-in and log-out.
enum Shape: CaseIterable {
  case from3_7_2
  case from3_8
  case from3_9
  case from3_10
  case from4_4

  /// The shape of a version such as `4.2`.
  init?(version: String) {
    let parts = version.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
    guard (2...3).contains(parts.count), let major = parts[0], let minor = parts[1] else { return nil }
    switch (major, minor) {
    case (3, 7): self = .from3_7_2
    case (3, 8): self = .from3_8
    case (3, 9): self = .from3_9
    case (3, 10...), (4, ..<4): self = .from3_10
    case (4..., _): self = .from4_4
    default: return nil
    }
  }

  var logIn: String {
    let variables = "mutation LogIn($username: String!, $password: String!)"
    return switch self {
    case .from3_7_2:
      "\(variables) { users { logIn(username: $username, password: $password) { sessionToken } } }"
    case .from3_8, .from3_9:
      "\(variables) { logIn(fields: { username: $username, password: $password }) { sessionToken } }"
    case .from3_10, .from4_4:
      "\(variables) { logIn(input: { username: $username, password: $password }) "
        + "{ viewer { sessionToken user { id } } } }"
    }
  }

  func sessionToken(in answer: Answer) -> String? {
    switch self {
    case .from3_7_2: answer.text(at: "data", "users", "logIn", "sessionToken")
    case .from3_8: answer.text(at: "data", "logIn", "sessionToken")
    case .from3_9:
      answer.text(at: "data", "logIn", "sessionToken") ?? answer.text(at: "data", "viewer", "sessionToken")
    case .from3_10, .from4_4: answer.text(at: "data", "logIn", "viewer", "sessionToken")
    }
  }

  var logOut: String {
    switch self {
    case .from3_7_2: "mutation LogOut { users { logOut } }"
    case .from3_8: "mutation LogOut { logOut { objectId } }"
    case .from3_9: "mutation LogOut { logOut { id } }"
    case .from3_10:
      #"mutation LogOut { logOut(input: { clientMutationId: "bye" }) { viewer { user { id } } } }"#
    case .from4_4: #"mutation LogOut { logOut(input: { clientMutationId: "bye" }) { clientMutationId } }"#
    }
  }

  func isLoggedOut(_ answer: Answer) -> Bool {
    switch self {
    case .from3_7_2: answer.has("data", "users", "logOut")
    case .from3_8: answer.has("data", "logOut", "objectId")
    case .from3_9: answer.has("data", "logOut", "id")
    case .from3_10: answer.has("data", "logOut", "viewer")
    case .from4_4: answer.has("data", "logOut", "clientMutationId")
    }
  }

  var whoAmI: String {
    switch self {
    case .from3_7_2: "query Viewer { users { me { username } } }"
    case .from3_8, .from3_9: "query Viewer { viewer { username } }"
    case .from3_10, .from4_4: "query Viewer { viewer { user { username } } }"
    }
  }

  func userName(in answer: Answer) -> String? {
    switch self {
    case .from3_7_2: answer.text(at: "data", "users", "me", "username")
    case .from3_8, .from3_9: answer.text(at: "data", "viewer", "username")
    case .from3_10, .from4_4: answer.text(at: "data", "viewer", "user", "username")
    }
  }
}

/// What the server said instead of doing it.
enum ParseFailure: Error {
  /// Code 209: the session token is no longer one.
  case invalidSessionToken
  /// Code 101.
  case wrongPassword
  /// Something else, by its code; -1 where the answer is none of GraphQL.
  case other(code: Int)
}

/// A Parse Server.
struct ParseServer: Sendable {
  private let endpoint: Service
  private let headers: [String: String]
  private let shape: Shape

  /// The server that the environment names.
  init() throws(Ending) {
    endpoint = try Service(variable: "BACK4GRAM_URL")
    headers = [
      "Content-Type": "application/json", "X-Parse-Application-Id": try setting("BACK4GRAM_APPLICATION_ID"),
      "X-Parse-Client-Key": try setting("BACK4GRAM_CLIENT_KEY"),
    ]
    guard let shape = Shape(version: try setting("BACK4GRAM_PARSE_VERSION")) else {
      throw Ending(2, "BACK4GRAM_PARSE_VERSION is no version of Parse Server from 3.7 on")
    }
    self.shape = shape
  }

  /// Logs in.
  /// - Returns: the session token.
  func logIn(_ user: String, password: String) async throws -> String {
    let answer = try await ask(shape.logIn, ["username": user, "password": password])
    guard let token = shape.sessionToken(in: answer) else { throw ParseFailure.other(code: -1) }
    return token
  }

  /// The name of the user whose session this is.
  func whoAmI(_ token: String) async throws -> String {
    let answer = try await ask(shape.whoAmI, token: token)
    guard let name = shape.userName(in: answer) else { throw ParseFailure.other(code: -1) }
    return name
  }

  /// Ends a session.
  func logOut(_ token: String) async throws {
    let answer = try await ask(shape.logOut, token: token)
    guard shape.isLoggedOut(answer) else { throw ParseFailure.other(code: -1) }
  }

  private func ask(
    _ query: String, _ variables: [String: String] = [:], token: String? = nil
  ) async throws -> Answer {
    var headers = headers
    headers["X-Parse-Session-Token"] = token
    struct Question: Encodable { let query: String, variables: [String: String] }
    let body = try JSONEncoder().encode(Question(query: query, variables: variables))
    let answer = try await endpoint.send("POST", headers: headers, body: body)
    if answer.has("errors", "0") {
      switch answer.integer(at: "errors", "0", "extensions", "code") {
      case 209: throw ParseFailure.invalidSessionToken
      case 101: throw ParseFailure.wrongPassword
      case let code: throw ParseFailure.other(code: code ?? -1)
      }
    }
    guard answer.status == 200 else { throw ParseFailure.other(code: -1) }
    return answer
  }
}
