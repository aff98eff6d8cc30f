// `vault list`: what is stored, never a secret.

import CLinux
import VaultClient
import VaultWire

func listCommand(_ invocation: Invocation) throws(Failure) {
  var wanted: Namespace?
  if let text = invocation.operands.first { wanted = try namespace(text) }
  let reply = try Daemon(mayStart: true).call(.list(wanted))
  guard case .entries(let entries) = reply else { throw unexpectedReply() }
  if invocation.has(.json) { return try printParameters(reply) }
  try StandardStreams.write(
    listText(entries, now: WallTime(milliseconds: clinux_wall_milliseconds()), style: .ofOutput))
}

/// The entries as a table, in the order of their keys. Columns that all entries leave empty are left out.
func listText(_ entries: [Entry], now: WallTime, style: Style) -> String {
  guard !entries.isEmpty else { return "nothing stored\n" }
  let showsAccounts = entries.contains { $0.id.account != .empty }
  let showsLabels = entries.contains { $0.label != nil }
  var heads = ["KEY"]
  if showsAccounts { heads.append("ACCOUNT") }
  heads += ["EXPIRES", "STORE", "SIZE"]
  if showsLabels { heads.append("LABEL") }
  var table = Table(heads)
  for entry in entries.sorted(by: { $0.id < $1.id }) {
    var cells = [entry.id.key.text]
    if showsAccounts { cells.append(entry.id.account.text) }
    cells += [
      expiryInWords(of: entry, now: now), entry.store.flag + (entry.pending ? " (pending)" : ""),
      "\(entry.size)",
    ]
    if showsLabels { cells.append(entry.label ?? "") }
    table.add(cells)
  }
  return table.lines(style)
}

extension Style {
  /// Colours, if a terminal shows them and the user has not said no (no-color.org).
  static var ofOutput: Style {
    guard StandardStreams.isTerminal(StandardStreams.output) else { return Style(isOn: false) }
    let environment = Environment.current
    return Style(isOn: environment["NO_COLOR"] == nil && environment["TERM"] != "dumb")
  }
}
