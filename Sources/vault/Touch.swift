// `vault touch`: the idle time of a token begins anew, and nobody reads the token.

import VaultClient
import VaultWire

func touchCommand(_ invocation: Invocation) throws(Failure) {
  let id = try entryID(invocation)
  guard case .entry(let entry) = try Daemon(mayStart: true).call(.touch(id)) else { throw unexpectedReply() }
  if invocation.has(.json) { try printFlat(entry) }
}
