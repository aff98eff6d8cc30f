// A client that always has a valid user token: `stream-token print USER`, `get USER PATH`, `logout USER`. The token is
// Stream.userToken of the account USER; it says itself when it is over, and is renewed a minute before. What the token
// provider wants to see is a key of its own: Stream.appLogin of the account.

import ExampleWeb
import Foundation
import VaultClient

@main
struct StreamToken {
  /// So long before its end a token is renewed: a request that is on its way must not meet it.
  private static let margin: Duration = .seconds(60)

  static func main() async {
    await run("stream-token") { arguments in
      guard arguments.count >= 2 else { throw Ending(2, usage) }
      let program = StreamToken(
        vault: try Client(), user: arguments[1], id: try EntryID("Stream.userToken", arguments[1]))
      switch (arguments[0], arguments.count) {
      case ("print", 2): FileHandle.standardOutput.write(Data(try await program.token().secret.bytes))
      case ("get", 3): try await program.get(arguments[2])
      case ("logout", 2): try await program.logOut()
      default: throw Ending(2, usage)
      }
    }
  }

  private static let usage = "usage: stream-token print USER | get USER PATH | logout USER"

  let vault: Client
  let user: String
  let id: EntryID

  private func token() async throws -> Token {
    try await vault.token(for: id, minValidity: Self.margin) { _ in
      let login = try await vault.text("Stream.appLogin", account: user)
      let token = try await TokenProvider().token(for: user, login: login)
      return try NewToken(jwt: token, label: "Stream, \(user)")
    }
  }

  private func get(_ path: String) async throws {
    let stream = try Stream()
    var token = try await token()
    var answer = try await stream.get(path, token: token.secret.text ?? "")
    if answer.saysTokenExpired {
      // The server's clock is ahead of ours. The token is forgotten, unless somebody has renewed it, and renewed once.
      try await vault.discard(token)
      token = try await self.token()
      answer = try await stream.get(path, token: token.secret.text ?? "")
    }
    guard answer.status == 200 else { throw Ending(1, "Stream answers with status \(answer.status)") }
    FileHandle.standardOutput.write(answer.body)
  }

  /// Stream has no session to end: a token lives as long as it says. What the vault has of it goes.
  private func logOut() async throws {
    let cleared = try await vault.clear(id.key.namespace, account: id.account)
    print("forgot \(cleared.cleared) token\(cleared.cleared == 1 ? "" : "s") of \(user)")
  }
}
