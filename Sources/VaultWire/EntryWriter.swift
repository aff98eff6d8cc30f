// An entry as the members of a JSON object, written in one go: nearly every answer has one. Between the vault's words and
// the send buffer, beside `ReplyWriter`. Holds no secret.

import SecretMemory
import VaultModel

/// Writes one entry.
struct EntryWriter {
  private let entry: Entry
  private let escapes: (key: Int, account: Int, label: Int)

  /// The most bytes that it takes.
  let mostBytes: Int

  /// The most bytes of an entry beside what its texts take: names, punctuation, and six numbers.
  private static let mostOtherBytes = 176 + 6 * mostIntegerBytes

  init(_ entry: Entry) {
    self.entry = entry
    let (key, account, label) = (entry.id.key.text, entry.id.account.text, entry.label ?? "")
    escapes = (key.utf8.span.jsonEscapes, account.utf8.span.jsonEscapes, label.utf8.span.jsonEscapes)
    mostBytes =
      Self.mostOtherBytes + key.utf8.count + escapes.key + account.utf8.count + escapes.account
      + label.utf8.count + escapes.label
  }

  /// What it writes, by itself.
  var text: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: mostBytes)
    var free = bytes.mutableSpan
    let count = write(into: &free)
    bytes.removeLast(mostBytes - count)
    return bytes
  }

  /// Writes the members, without braces around them, and returns how many bytes they take.
  func write(into free: inout MutableSpan<UInt8>) -> Int {
    let (key, account) = (entry.id.key.text, entry.id.account.text)
    var end = 0
    free.put(#""key":"#, at: &end)
    free.put(key.utf8.span, escapes: escapes.key, at: &end)
    free.put(#","account":"#, at: &end)
    free.put(account.utf8.span, escapes: escapes.account, at: &end)
    free.put(#","version":"#, at: &end)
    free.put(entry.version, at: &end)
    free.put(#","created":"#, at: &end)
    free.put(entry.created.seconds, at: &end)
    free.put(#","modified":"#, at: &end)
    free.put(entry.modified.seconds, at: &end)
    if let expires = entry.expires {
      free.put(#","expires":"#, at: &end)
      free.put(expires.seconds, at: &end)
    }
    if let idle = entry.idle {
      free.put(#","idle":"#, at: &end)
      free.put(idle, at: &end)
    }
    free.put(#","untilLogout":"#, at: &end)
    free.put(entry.untilLogout, at: &end)
    if let label = entry.label {
      free.put(#","label":"#, at: &end)
      free.put(label.utf8.span, escapes: escapes.label, at: &end)
    }
    free.put(#","size":"#, at: &end)
    free.put(Int64(entry.size), at: &end)
    switch entry.store {
    case .secretService: free.put(#","store":"secret_service""#, at: &end)
    case .file: free.put(#","store":"file""#, at: &end)
    case .session: free.put(#","store":"session""#, at: &end)
    }
    free.put(#","pending":"#, at: &end)
    free.put(entry.pending, at: &end)
    return end
  }
}
