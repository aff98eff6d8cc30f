// `vault get`: a token to standard output.

import VaultClient

func getCommand(_ invocation: Invocation) throws(Failure) {
  let request = GetRequest(
    id: try entryID(invocation), minValidity: try duration(.minValidity, invocation),
    interactive: !invocation.has(.noPrompt))
  let token = try getToken(request, try Daemon(mayStart: true))
  if invocation.has(.json) { return try printFlat(token.entry, secret: token.secret) }
  try writeSecret(token.secret)
}

/// Reads a token. Where the vault file is locked and a person is there, asks once for its passphrase.
func getToken(_ request: GetRequest, _ daemon: Daemon) throws(Failure) -> Token {
  try daemon.askUnlocked(mayAsk: request.interactive) { client throws(VaultError) in try client.get(request) }
}

/// Writes the bytes of a secret, with a line end behind them on a terminal only.
func writeSecret(_ secret: SharedSecret) throws(Failure) {
  try secret.withBytes { bytes throws(Failure) in try StandardStreams.write(bytes) }
  if StandardStreams.isTerminal(StandardStreams.output) { try StandardStreams.write("\n") }
}
