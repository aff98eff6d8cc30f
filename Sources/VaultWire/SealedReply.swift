// The answer to nearly every Get: a token that is at hand, sealed. It is opened in the send buffer, and the whole frame is
// written in one go around it. Beside `ReplyWriter`, which writes all others, and this one too where the secret does not
// stand in JSON byte for byte.

import SecretMemory
import VaultModel

extension SealedToken {
  /// Adds the reply with this token to `buffer` as a frame, with the NUL at its end.
  /// - Throws: `.exhausted`, or `.notOpened`; nothing is added then.
  public func writeReply(into buffer: inout SecretBuffer) throws(SecretMemoryError) {
    if try !buffer.appendPlainReply(with: self) { try Reply.sealedToken(self).write(into: &buffer) }
  }
}

extension SecretBuffer {
  private enum Outcome {
    case written, otherwise, notOpened
  }

  /// Adds the reply with a token whose secret stands in JSON as it is, as nearly all do.
  /// - Returns: false where the secret does not, and nothing was added.
  fileprivate mutating func appendPlainReply(with token: some SealedToken) throws(SecretMemoryError) -> Bool {
    let (head, middle, tail): (StaticString, StaticString, StaticString) =
      (#"{"parameters":{"secret":""#, #"","entry":{"#, "}}}\0")
    let count = token.count
    var outcome = Outcome.notOpened
    let added = try fill(
      atLeast: token.mostEntryBytes + count + head.utf8CodeUnitCount + middle.utf8CodeUnitCount
        + tail.utf8CodeUnitCount
    ) { free in
      var end = 0
      free.put(head, at: &end)
      let secret = end..<end + count
      end += count
      guard free.withPart(secret, { token.open(into: &$0) }) else { return end }
      guard free.span.extracting(secret).isPlainText else {
        outcome = .otherwise
        return end
      }
      free.put(middle, at: &end)
      token.put(into: &free, at: &end)
      free.put(tail, at: &end)
      outcome = .written
      return end
    }
    switch outcome {
    case .written: return true
    case .otherwise:
      removeLast(added)
      return false
    case .notOpened:
      removeLast(added)
      throw .notOpened
    }
  }

  /// Adds what the entry of a token has, without the braces around it.
  mutating func appendMembers(of token: any SealedToken) throws(SecretMemoryError) {
    _ = try fill(atLeast: token.mostEntryBytes) { free in
      var end = 0
      token.put(into: &free, at: &end)
      return end
    }
  }
}

extension SealedToken {
  /// The most bytes that its entry takes.
  fileprivate var mostEntryBytes: Int { EntryWriter.mostBytes(texts: textBytes) }

  /// Writes the members of its entry.
  fileprivate func put(into free: inout MutableSpan<UInt8>, at end: inout Int) {
    withTexts { key, account, label in
      EntryWriter.put(facts, key, account, label, into: &free, at: &end)
    }
  }
}
