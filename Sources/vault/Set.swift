// `vault set`: stores what standard input brings, or what a person enters. The command line never holds it.

import VaultClient
import VaultWire

func setCommand(_ invocation: Invocation) throws(Failure) {
  let id = try entryID(invocation)
  var expires: Int64?
  if let time = invocation[.expiresAt] {
    do throws(VaultError) {
      expires = try readTime(time, argument: Flag.expiresAt.rawValue)
    } catch {
      throw Failure(error)
    }
  }
  let expiresIn = try duration(.expiresIn, invocation)
  let idle = try duration(.idle, invocation)
  try allowOne(of: [.expiresIn, .expiresAt, .expiresFromJWT], invocation)
  let ifVersion = try version(invocation)
  if let label = invocation[.label] {
    do throws(VaultError) { try checkLabel(label) } catch { throw Failure(error) }
  }

  let secret = try readSecret(for: id, invocation)
  if invocation.has(.expiresFromJWT) { expires = try expiry(ofJWT: secret) }
  let request = SetRequest(
    id: id, secret: secret, expires: expires, expiresIn: expiresIn, idle: idle,
    untilLogout: invocation.has(.untilLogout), label: invocation[.label], ifVersion: ifVersion,
    interactive: !invocation.has(.noPrompt))

  guard case .entry(let entry) = try Daemon(mayStart: true).call(.set(request)) else {
    throw unexpectedReply()
  }
  if invocation.has(.json) { return try printFlat(entry) }
  if entry.pending {
    StandardStreams.tell("stored in the vault file; it moves to the keyring as soon as that can take it")
  }
}

/// The secret as the rules for line ends and emptiness have it.
private func readSecret(for id: EntryID, _ invocation: Invocation) throws(Failure) -> SharedSecret {
  var input: SecretBuffer
  if StandardStreams.isTerminal(StandardStreams.input) {
    guard StandardStreams.canAsk else {
      throw Failure(
        .invalidArgument, "standard error is no terminal, so nothing can be asked; pipe the secret in")
    }
    input = try ask("Secret for \(id)", limit: Limits.secretBytes, oneLineOnly: true)
  } else {
    // Room for a line end that is dropped.
    let limit = Limits.secretBytes + (invocation.has(.raw) ? 0 : 2)
    guard let read = try readToEnd(StandardStreams.input, limit: limit, name: "standard input") else {
      throw tooLarge()
    }
    input = read
    if !invocation.has(.raw) { input.dropLineEnd() }
    guard input.count <= Limits.secretBytes else { throw tooLarge() }
  }
  guard !input.isEmpty || invocation.has(.allowEmpty) else {
    throw Failure(
      .invalidArgument,
      "the secret is empty, and nothing was stored: did the command before the pipe fail? "
        + "--allow-empty stores an empty one")
  }
  return try input.shared()
}

private func tooLarge() -> Failure {
  Failure(
    .tooLarge,
    "standard input has more than \(Limits.secretBytes) bytes, the limit of a secret; nothing was stored")
}

/// When a JWT is over, as it says itself; `nil` where it doesn't.
func expiry(ofJWT secret: SharedSecret) throws(Failure) -> Int64? {
  do throws(VaultError) {
    return try JWT.expiry(of: secret, argument: Flag.expiresFromJWT.rawValue)
  } catch {
    throw Failure(error)
  }
}
