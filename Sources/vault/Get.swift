// `vault get`: a token to standard output.

import VaultClient
import VaultWire

func getCommand(_ invocation: Invocation) throws(Failure) {
  let request = GetRequest(
    id: try entryID(invocation), minValidity: try duration(.minValidity, invocation),
    interactive: !invocation.has(.noPrompt))
  let token = try getToken(request, try Daemon(mayStart: true))
  if invocation.has(.json) { return try printFlat(token.entry, secret: token.secret) }
  try token.secret.withBytes { bytes throws(Failure) in try StandardStreams.write(bytes) }
  if StandardStreams.isTerminal(StandardStreams.output) { try StandardStreams.write("\n") }
}

/// Reads a token. Where the vault file is locked and a person is there, asks once for its passphrase.
func getToken(_ request: GetRequest, _ daemon: Daemon) throws(Failure) -> Token {
  let reply: Reply
  do throws(VaultError) {
    reply = try daemon.attempt(.get(request))
  } catch .locked(store: .file, let reason) where request.interactive && StandardStreams.canAsk {
    StandardStreams.tell(reason)
    let passphrase = try askPassphrase("Passphrase of the vault file")
    guard case .empty = try daemon.call(.unlock(.passphrase(passphrase))) else { throw unexpectedReply() }
    reply = try daemon.call(.get(request))
  } catch {
    throw Failure(error)
  }
  guard case .token(let token) = reply else { throw unexpectedReply() }
  return token
}
