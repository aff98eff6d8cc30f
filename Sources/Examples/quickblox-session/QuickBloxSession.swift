// A client that makes a session, keeps it and renews it: `quickblox-session signup LOGIN`, `get LOGIN PATH`,
// `logout LOGIN`. The session's token is QuickBlox.sessionToken of the account LOGIN, with an idle time of two hours
// as at the server. What a new session needs are keys of their own: QuickBlox.authorizationSecret, and
// QuickBlox.password of the account.

import ExampleWeb
import Foundation
import VaultClient

@main
struct QuickBloxSession {
  /// A session is over so many seconds after its last request.
  private static let idle: Int64 = 7_200

  static func main() async {
    await run("quickblox-session") { arguments in
      guard arguments.count >= 2 else { throw Ending(2, usage) }
      let program = QuickBloxSession(
        vault: try Client(), service: try QuickBlox(), login: arguments[1],
        id: try EntryID("QuickBlox.sessionToken", arguments[1]))
      switch (arguments[0], arguments.count) {
      case ("signup", 2): try await program.signUp()
      case ("get", 3): try await program.get(arguments[2])
      case ("logout", 2): try await program.logOut()
      default: throw Ending(2, usage)
      }
    }
  }

  private static let usage = "usage: quickblox-session signup LOGIN | get LOGIN PATH | logout LOGIN"

  let vault: Client
  let service: QuickBlox
  let login: String
  let id: EntryID

  /// The session that there is, or a new one, which one process at a time makes.
  private func session() async throws -> Token {
    try await vault.token(for: id) { _ in
      let user = (login: login, password: try await vault.text("QuickBlox.password", account: login))
      return try NewToken(
        try await service.makeSession(user, secret: try await authorizationSecret()), idle: Self.idle,
        label: "QuickBlox, \(login)")
    }
  }

  private func authorizationSecret() async throws(VaultError) -> SharedSecret {
    try await vault.get(GetRequest(id: try EntryID("QuickBlox.authorizationSecret"))).secret
  }

  private func get(_ path: String) async throws {
    var answer = try await ask(path)
    if answer.status == 401 { answer = try await ask(path) }
    guard answer.status == 200 else { throw Ending(1, "QuickBlox answers with status \(answer.status)") }
    FileHandle.standardOutput.write(answer.body)
  }

  /// Asks once. A session that the server says is none is forgotten, so that the next one to ask renews it.
  private func ask(_ path: String) async throws -> Answer {
    let session = try await session()
    let answer = try await service.get(path, token: session.secret.text ?? "")
    if answer.status == 401 {
      try await vault.discard(session)
    } else {
      // The server's two hours begin anew with every request, and so do ours.
      try await touch()
    }
    return answer
  }

  private func touch() async throws(VaultError) {
    do throws(VaultError) {
      try await vault.touch(id)
    } catch .notFound {
      // Somebody has logged out meanwhile.
    }
  }

  private func signUp() async throws {
    let password = try await vault.text("QuickBlox.password", account: login)
    let application = try await service.makeSession(nil, secret: try await authorizationSecret())
    let isNew = try await service.signUp(login: login, password: password, token: application)
    try? await service.endSession(application)
    _ = try await session()
    print(isNew ? "signed up and logged in as \(login)" : "\(login) was signed up already; logged in")
  }

  private func logOut() async throws {
    guard let session = try await storedSession() else {
      print("there was no session")
      return
    }
    var warning: Ending?
    do {
      try await service.endSession(session.secret.text ?? "")
    } catch {
      warning = Ending(
        69, "QuickBlox could not be told (\(Ending(error).text)); the session lives on for two hours")
    }
    try await vault.clear(id)
    print("logged out")
    if let warning { throw warning }
  }

  /// The session that is stored; one that is over is cleared.
  private func storedSession() async throws(VaultError) -> Token? {
    do throws(VaultError) {
      return try await vault.get(GetRequest(id: id))
    } catch .notFound {
      return nil
    } catch .expired {
      try await vault.clear(id)
      return nil
    }
  }
}
