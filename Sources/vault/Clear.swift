// `vault clear` and `vault logout`: tokens are removed, and where a copy is out of reach that is said.

import VaultClient
import VaultWire

func clearCommand(_ invocation: Invocation) throws(Failure) -> Int32 {
  let id = try entryID(invocation)
  let ifVersion = try version(invocation)
  let reply = try Daemon(mayStart: true).call(.clear(id, ifVersion: ifVersion))
  guard case .clearance(let clearance) = reply else { throw unexpectedReply() }
  return try show(clearance, reply, cleared: "cleared \(id)", invocation)
}

func logoutCommand(_ invocation: Invocation) throws(Failure) -> Int32 {
  let namespace = try namespace(invocation.operands[0])
  let account = try account(invocation)
  let reply = try Daemon(mayStart: true).call(.clearNamespace(namespace, account: account))
  guard case .namespaceClearance(let clearance) = reply else { throw unexpectedReply() }
  let count = clearance.cleared == 1 ? "1 token" : "\(clearance.cleared) tokens"
  return try show(clearance, reply, cleared: "cleared \(count) of \(namespace)", invocation)
}

/// Shows the result, also the pending one, which is no success.
private func show(
  _ clearance: Clearance, _ reply: Reply, cleared: String, _ invocation: Invocation
) throws(Failure) -> Int32 {
  if invocation.has(.json) {
    try printParameters(reply)
  } else if clearance.pending {
    try StandardStreams.write(printable(cleared) + ", pending\n")
  } else {
    try StandardStreams.write((clearance.cleared > 0 ? printable(cleared) : "nothing stored") + "\n")
  }
  guard clearance.pending else { return 0 }
  StandardStreams.tell(
    "a copy may be left in a store that is locked or out of reach; it is removed as soon as that store can be reached"
  )
  return Outcome.unavailable.exitStatus
}
