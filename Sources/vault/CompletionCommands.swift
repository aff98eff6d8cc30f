// `vault completions`, which prints a shell's script, and `vault __complete`, which the scripts call at every press of
// the key. That one starts no daemon, asks nobody anything, and has half a second.

import Glibc
import VaultClient

/// The shells that a script is there for.
enum Shell: String, CaseIterable {
  case bash, zsh, fish
}

func completionsCommand(_ invocation: Invocation) throws(Failure) {
  guard let shell = Shell(rawValue: invocation.operands[0]) else {
    let names = Shell.allCases.map(\.rawValue).joined(separator: ", ")
    throw .usage("there are completions for \(names)", invocation.command)
  }
  try StandardStreams.write(shell.script)
}

/// The word that the scripts call this program with; no person does.
let completionRequest = "__complete"

/// Writes what may stand in place of the last word.
func complete(_ words: [String]) throws(Failure) {
  try StandardStreams.write(Completion(words, entries: entriesOfRunningDaemon).lines)
}

/// What a daemon that runs already knows; nothing where it doesn't say so at once.
private func entriesOfRunningDaemon() -> [Entry] {
  guard var settings = try? ClientSettings(), isServed(settings.socket) else { return [] }
  settings.timeout = .milliseconds(Limits.completionMilliseconds)
  return (try? Client(settings).list()) ?? []
}

/// Whether a daemon serves the socket: it holds the lock beside it (docs/daemon.md). To connect is no way to tell: it
/// would make systemd start one.
private func isServed(_ socket: String) -> Bool {
  let lock = unsafe open(socket + ".lock", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
  guard lock >= 0 else { return false }
  defer { close(lock) }
  return flock(lock, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
}
