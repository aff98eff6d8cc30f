// An entry as the members of a JSON object, written in one go: nearly every answer has one. Between the vault's words and
// the send buffer, beside `ReplyWriter`. Holds no secret.

import SecretMemory
import VaultModel

extension SecretBuffer {
  /// Adds what an entry has, without the braces around it.
  mutating func appendMembers(of entry: Entry) throws(SecretMemoryError) {
    let (key, account, label) = (entry.id.key.text, entry.id.account.text, entry.label ?? "")
    let (one, other, third) = (key.utf8.span, account.utf8.span, label.utf8.span)
    _ = try fill(atLeast: EntryWriter.mostBytes(texts: one.count + other.count + third.count)) { free in
      var end = 0
      EntryWriter.put(EntryFacts(entry), one, other, third, into: &free, at: &end)
      return end
    }
  }
}

/// Writes entries into memory that has room for them.
enum EntryWriter {
  /// The most bytes that an entry takes whose texts have so many bytes.
  static func mostBytes(texts: Int) -> Int {
    // Names, punctuation, and six numbers; an escape takes five bytes more than what it stands for.
    176 + 6 * mostIntegerBytes + 6 * texts
  }

  /// Writes the members of an entry, without braces around them. The texts are valid UTF-8.
  static func put(
    _ facts: EntryFacts, _ key: Span<UInt8>, _ account: Span<UInt8>, _ label: Span<UInt8>,
    into free: inout MutableSpan<UInt8>, at end: inout Int
  ) {
    free.put(#""key":"#, at: &end)
    free.put(string: key, at: &end)
    free.put(#","account":"#, at: &end)
    free.put(string: account, at: &end)
    free.put(#","version":"#, at: &end)
    free.put(facts.version, at: &end)
    free.put(#","created":"#, at: &end)
    free.put(facts.created.seconds, at: &end)
    free.put(#","modified":"#, at: &end)
    free.put(facts.modified.seconds, at: &end)
    if let expires = facts.expires {
      free.put(#","expires":"#, at: &end)
      free.put(expires.seconds, at: &end)
    }
    if let idle = facts.idle {
      free.put(#","idle":"#, at: &end)
      free.put(idle, at: &end)
    }
    if facts.untilLogout {
      free.put(#","untilLogout":true"#, at: &end)
    } else {
      free.put(#","untilLogout":false"#, at: &end)
    }
    if facts.hasLabel {
      free.put(#","label":"#, at: &end)
      free.put(string: label, at: &end)
    }
    free.put(#","size":"#, at: &end)
    free.put(Int64(facts.size), at: &end)
    switch facts.store {
    case .secretService: free.put(#","store":"secret_service""#, at: &end)
    case .file: free.put(#","store":"file""#, at: &end)
    case .session: free.put(#","store":"session""#, at: &end)
    }
    if facts.pending {
      free.put(#","pending":true"#, at: &end)
    } else {
      free.put(#","pending":false"#, at: &end)
    }
  }
}
