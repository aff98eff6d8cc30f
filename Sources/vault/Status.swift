// `vault status`: the daemon, its stores, and how it protects itself. Starts no daemon.

import CLinux
import VaultClient
import VaultWire

func statusCommand(_ invocation: Invocation) throws(Failure) {
  let reply = try Daemon(mayStart: false).call(.status)
  guard case .status(let status) = reply else { throw unexpectedReply() }
  if invocation.has(.json) { return try printParameters(reply) }
  try StandardStreams.write(
    statusText(status, now: WallTime(milliseconds: clinux_wall_milliseconds()), style: .ofOutput))
}

/// The status for people.
func statusText(_ status: DaemonStatus, now: WallTime, style: Style) -> String {
  let running = inWords(seconds: now.seconds - status.since.seconds)
  var text = "vaultd \(printable(status.version)), process \(status.pid), running for \(running)\n"
  text += "new tokens go to: \(status.preference.flag)\n\n"

  var stores = Table(["STORE", "STATE", "ENTRIES", "PENDING", "DETAIL"])
  for store in status.stores {
    stores.add(
      [store.store.flag, store.state.rawValue, "\(store.entries)", "\(store.pending)", store.detail],
      emphasis: [1: store.state.emphasis])
  }
  text += stores.lines(style)

  guard !status.protections.isEmpty else { return text }
  var protections = Table(["PROTECTION", "IN FORCE"])
  for (measure, inForce) in status.protections.sorted(by: { $0.key < $1.key }) {
    protections.add([measure, inForce ? "yes" : "no"], emphasis: [1: inForce ? .good : .bad])
  }
  return text + "\n" + protections.lines(style)
}

extension StoreStatus.State {
  fileprivate var emphasis: Emphasis {
    switch self {
    case .available: .good
    case .locked, .unavailable, .damaged: .bad
    case .absent: .plain
    }
  }
}
