// QuickBlox's REST interface, as far as sessions go. Knows nothing of the vault but how a secret is held.

import ExampleWeb
import Foundation
import VaultClient

/// A QuickBlox application.
struct QuickBlox: Sendable {
  private let service: Service
  private let applicationID: String
  private let authorizationKey: String

  /// The application that the environment names.
  init() throws(Ending) {
    service = try Service(variable: "QUICKBLOX_URL")
    applicationID = try setting("QUICKBLOX_APPLICATION_ID")
    authorizationKey = try setting("QUICKBLOX_AUTHORIZATION_KEY")
  }

  /// Makes a session: of a user, or of the application alone.
  /// - Returns: its token, which is over 2 hours after the last request with it.
  func makeSession(
    _ user: (login: String, password: String)?, secret: SharedSecret
  ) async throws -> String {
    var parameters = [
      "application_id": applicationID, "auth_key": authorizationKey,
      "timestamp": String(Int(Date().timeIntervalSince1970)),
      "nonce": String(UInt32.random(in: 1...UInt32.max)),
    ]
    if let user {
      parameters["user[login]"] = user.login
      parameters["user[password]"] = user.password
    }
    parameters["signature"] = signature(of: parameters, with: secret)
    let answer = try await post("session.json", parameters)
    guard answer.status == 201, let token = answer.text(at: "session", "token") else {
      throw Ending(1, "QuickBlox makes no session: status \(answer.status)")
    }
    return token
  }

  /// Signs a user up.
  /// - Returns: false where there is one of this name already.
  func signUp(login: String, password: String, token: String) async throws -> Bool {
    let answer = try await post(
      "users.json", ["user[login]": login, "user[password]": password], token: token)
    switch answer.status {
    case 201: return true
    case 422: return false
    default: throw Ending(1, "QuickBlox signs nobody up: status \(answer.status)")
    }
  }

  /// Reads something.
  func get(_ path: String, token: String) async throws -> Answer {
    try await service.send("GET", path, headers: ["QB-Token": token])
  }

  /// Ends a session; one that has ended is as good.
  func endSession(_ token: String) async throws {
    let answer = try await service.send("DELETE", "session.json", headers: ["QB-Token": token])
    guard answer.status == 200 || answer.status == 401 else {
      throw Ending(1, "QuickBlox does not end the session: status \(answer.status)")
    }
  }

  private func post(_ path: String, _ parameters: [String: String], token: String? = nil) async throws
    -> Answer
  {
    let plain = CharacterSet(
      charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
    let form = parameters.map { name, value in
      [name, value].map { $0.addingPercentEncoding(withAllowedCharacters: plain) ?? "" }.joined(
        separator: "=")
    }
    var headers = ["Content-Type": "application/x-www-form-urlencoded"]
    headers["QB-Token"] = token
    return try await service.send(
      "POST", path, headers: headers, body: Data(form.joined(separator: "&").utf8))
  }
}
