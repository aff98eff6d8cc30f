// Prints a valid token; renews it where it is about to end, in one program at a time.
//
//     renew KEY ACCOUNT URL      POST URL with {"user_id": ACCOUNT} answers {"token": ..., "expires_in": SECONDS}

import Foundation
import FoundationNetworking
import VaultClient

struct Given: Decodable {
  let token: String
  let expires_in: Int
}

@Sendable func askProvider(_ url: URL, _ account: String) async throws -> Given {
  var request = URLRequest(url: url, timeoutInterval: 20)
  request.httpMethod = "POST"
  request.httpBody = try JSONEncoder().encode(["user_id": account])
  request.setValue("application/json", forHTTPHeaderField: "Content-Type")
  return try JSONDecoder().decode(Given.self, from: try await URLSession.shared.data(for: request).0)
}

guard CommandLine.arguments.count == 4, let url = URL(string: CommandLine.arguments[3]) else {
  fatalError("usage: renew KEY ACCOUNT URL")
}
let account = CommandLine.arguments[2]
let vault = try Client()
let id = try EntryID(CommandLine.arguments[1], account)
let token = try await vault.token(for: id, minValidity: .seconds(60)) { _ in
  let given = try await askProvider(url, account)
  return try NewToken(given.token, expiry: .after(.seconds(given.expires_in)))
}
print(token.secret.text ?? "")
