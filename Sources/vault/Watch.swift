// `vault watch`: a line for each change, written as it happens, until somebody interrupts it or the daemon ends.
// Shows names and numbers; no secret comes this way.

import Glibc
import VaultClient
import VaultWire

func watchCommand(_ invocation: Invocation) throws(Failure) {
  let subject = try WatchSubject(invocation.operands.first)
  endWithSuccessWhenInterrupted()
  let watch = try Daemon(mayStart: true).ask { client throws(VaultError) in
    try client.watch(subject.namespace)
  }
  while true {
    let event: VaultEvent?
    do throws(VaultError) {
      event = try watch.next()
    } catch .noDaemon(.ended(let socket, _)) {
      throw Failure(.noDaemon, "vaultd on \(socket) has ended; what changes from now on is not seen")
    } catch {
      throw Failure(error)
    }
    guard let event, subject.includes(event) else { continue }
    if invocation.has(.json) {
      try printParameters(.event(event))
    } else {
      try StandardStreams.write(line(for: event) + "\n")
    }
  }
}

/// What is watched.
struct WatchSubject {
  /// What the daemon is asked for; `nil`: everything.
  let namespace: Namespace?
  /// A word that may be a key as well as a namespace: `com.example.Chat` is the namespace of
  /// `com.example.Chat.refreshToken`, and it is the key `Chat` of the namespace `com.example`.
  private let either: String?

  /// - Parameter word: a namespace, or, with a dot in it, a key and a namespace at once; `nil`: everything.
  /// - Throws: where it can be neither.
  init(_ word: String?) throws(Failure) {
    guard let word else {
      (namespace, either) = (nil, nil)
      return
    }
    let checked = try vault.namespace(word)
    let isEither = word.utf8.contains(UInt8(ascii: "."))
    namespace = isEither ? nil : checked
    either = isEither ? word : nil
  }

  /// Whether a change is to be shown. What happens to a store always is: it happens to its keys.
  func includes(_ event: VaultEvent) -> Bool {
    guard let either, let key = event.id?.key else { return true }
    return key.text.utf8.elementsEqual(either.utf8) || key.namespace.text.utf8.elementsEqual(either.utf8)
  }
}

/// An event for people: `set          Back4Gram.sessionToken  account alice  version 7`.
func line(for event: VaultEvent) -> String {
  var parts: [String] = []
  if let id = event.id {
    parts.append(printable(id.key.text))
    if id.account != .empty { parts.append("account " + printable(id.account.text)) }
  } else if let store = event.store {
    parts.append(store.flag)
  }
  if let version = event.version { parts.append("version \(version)") }
  let kind = event.kind.rawValue
  guard !parts.isEmpty else { return kind }
  let widest = VaultEvent.Kind.allCases.map(\.rawValue.utf8.count).max() ?? 0
  parts.insert(kind + String(repeating: " ", count: widest - kind.utf8.count), at: 0)
  return parts.joined(separator: "  ")
}

/// SIGINT and SIGTERM end the process with success, unless a parent had them ignored: there is nothing to tidy up,
/// and every line is one write.
private func endWithSuccessWhenInterrupted() {
  for number in [SIGINT, SIGTERM] {
    var action = sigaction()
    guard unsafe sigaction(number, nil, &action) == 0, unsafe action.__sigaction_handler.sa_handler == nil
    else {
      continue
    }
    _ = signal(number) { _ in _exit(0) }
  }
}
