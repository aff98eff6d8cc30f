// A chat client that stays logged in: `back4gram login USER` (the password comes on standard input), `whoami`,
// `logout`. Its session token is in the vault under Back4Gram.sessionToken and nowhere else. A token is cleared when
// the server says that it is none, never because the vault could not be read.

import ExampleWeb
import VaultClient

@main
struct Back4Gram {
  private static let key = "Back4Gram.sessionToken"

  static func main() async {
    await run("back4gram") { arguments in
      let program = Back4Gram(vault: try Client(), server: try ParseServer())
      switch (arguments.first, arguments.count) {
      case ("login", 2): try await program.logIn(arguments[1])
      case ("whoami", 1): try await program.whoAmI()
      case ("logout", 1): try await program.logOut()
      default: throw Ending(2, "usage: back4gram login USER | whoami | logout")
      }
    }
  }

  let vault: Client
  let server: ParseServer

  private func logIn(_ user: String) async throws {
    let password = try lineOfInput("password")
    let token: String
    do {
      token = try await server.logIn(user, password: password)
    } catch ParseFailure.wrongPassword {
      throw Ending(1, "the user name or the password is wrong")
    }
    do throws(VaultError) {
      let secret = try SharedSecret(copying: token.utf8.span)
      try await vault.set(
        SetRequest(id: try EntryID(Self.key), secret: secret, label: "Back4Gram, \(user)"))
    } catch {
      // A session that nobody keeps must not live on.
      try? await server.logOut(token)
      throw error
    }
    print("logged in as \(user)")
  }

  private func whoAmI() async throws {
    let session = try await vault.get(GetRequest(id: try EntryID(Self.key)))
    do {
      print(try await server.whoAmI(try text(of: session)))
    } catch ParseFailure.invalidSessionToken {
      try await vault.discard(session)
      throw Ending(1, "the session has ended; log in again")
    }
  }

  private func logOut() async throws {
    guard let session = try await storedSession() else {
      print("nobody was logged in")
      return
    }
    var warning: String?
    do {
      try await server.logOut(try text(of: session))
    } catch ParseFailure.invalidSessionToken {
      // It has ended by itself.
    } catch {
      warning = "the server could not be told (\(Ending(error).text)); its session may live on"
    }
    try await vault.clear(Self.key)
    print("logged out")
    if let warning { throw Ending(69, warning) }
  }

  private func storedSession() async throws(VaultError) -> Token? {
    do throws(VaultError) {
      return try await vault.get(GetRequest(id: try EntryID(Self.key)))
    } catch .notFound {
      return nil
    }
  }

  private func text(of session: Token) throws -> String {
    guard let text = session.secret.text else {
      throw Ending(2, "what is stored is no session token; clear it")
    }
    return text
  }
}
