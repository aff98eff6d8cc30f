// `vault renew`: the valid token to standard output. Where there is none, COMMAND prints one, run by one caller at a
// time under a lease; it is stored under that lease, and printed. A COMMAND that fails leaves everything as it was.

import CLinux
import Glibc
import VaultClient
import VaultWire

func renewCommand(_ invocation: Invocation, diesOfPipes: Bool) throws(Failure) -> Int32 {
  let id = try entryID(invocation)
  let minValidity = try duration(.minValidity, invocation)
  let expiresIn = try duration(.expiresIn, invocation)
  try allowOne(of: [.expiresIn, .expiresFromJWT], invocation)
  guard let program = invocation.program.first, !program.isEmpty else {
    throw .usage("vault renew needs -- and the command that prints a new token", invocation.command)
  }

  let daemon = try Daemon(mayStart: true)
  let refreshed = try daemon.askUnlocked(mayAsk: true) { client throws(VaultError) in
    try client.refresh(id, minValidity: minValidity)
  }
  switch refreshed {
  case .token(let token):
    try writeSecret(token.secret)
    return 0
  case .lease(let lease):
    do throws(Failure) {
      try renew(id, under: lease, daemon, invocation, expiresIn: expiresIn, diesOfPipes: diesOfPipes)
      return 0
    } catch {
      lease.giveUp()
      // Whoever waits for this process learns that a signal ended the command, where it was sent to both.
      if let number = error.signal { clinux_raise(number) }
      throw error
    }
  }
}

/// Runs the command, stores and writes what it printed.
private func renew(
  _ id: EntryID, under lease: Lease, _ daemon: Daemon, _ invocation: Invocation, expiresIn: Int64?,
  diesOfPipes: Bool
) throws(Failure) {
  var command = try CapturedProgram.run(
    invocation.program, limit: Limits.secretBytes + 2, diesOfPipes: diesOfPipes)
  let secret = try secret(printedBy: &command, invocation.program[0])
  var request = SetRequest(id: id, secret: secret, expiresIn: expiresIn)
  if invocation.has(.expiresFromJWT) { request.expires = try expiry(ofJWT: secret) }
  // What the token was beside its value, its successor is, too.
  request.idle = lease.entry?.idle
  request.untilLogout = lease.entry?.untilLogout ?? false
  request.label = lease.entry?.label
  try store(request, under: lease, daemon)
  try writeSecret(secret)
}

/// The new token, where the command has printed one and succeeded.
private func secret(
  printedBy command: inout CapturedProgram, _ program: String
) throws(Failure) -> SharedSecret {
  guard !command.isTooMuch else {
    throw Failure(
      .tooLarge,
      "\(program) printed more than \(Limits.secretBytes) bytes, the limit of a secret; nothing was stored")
  }
  switch command.end {
  case .exited(0): break
  case .exited(let status):
    throw Failure(status: status, text: "\(program) ended with status \(status); nothing was stored")
  case .killed(let number, let wasRelayed):
    let name = unsafe String(cString: clinux_signal_name(number))
    var failure = Failure(
      status: 128 + number, text: "\(program) was ended by SIG\(name); nothing was stored")
    if wasRelayed { failure.signal = number }
    throw failure
  }
  let secret = try command.takeSecret()
  guard secret.count > 0 else {
    throw Failure(.invalidArgument, "\(program) printed nothing, and nothing was stored")
  }
  guard secret.count <= Limits.secretBytes else {
    throw Failure(.tooLarge, VaultError.tooLarge(size: secret.count, limit: Limits.secretBytes).description)
  }
  return secret
}

/// Stores the new token. Where the lease has ended, the key may still be as it was when the lease was granted: after
/// 60 s without somebody else's change, or behind a daemon that was started anew. Only then it is stored all the same.
private func store(_ request: SetRequest, under lease: Lease, _ daemon: Daemon) throws(Failure) {
  let version = lease.entry?.version ?? 0
  do throws(VaultError) {
    try lease.set(request)
    return
  } catch .conflict(_, version) {
  } catch .noDaemon(.ended(_, mayTakeEffect: false)) {
  } catch {
    throw Failure(error)
  }
  var request = request
  request.ifVersion = version
  guard case .entry = try daemon.call(.set(request)) else { throw unexpectedReply() }
}
