// The small grammars that a daemon or a command takes from outside, or from a file: what is taken is written and taken
// again, and is the same. Where there is a simple way beside the fast one, both say the same.

import Database
import GLibLoop
import SecretMemory
import VaultModel

@testable import FileStore
@testable import SecretServiceStore
@testable import VaultDaemon
@testable import VaultWire

/// Reads the bytes behind the first one, which says as what.
func readText(_ input: [UInt8]) {
  guard let first = input.first else { return }
  let bytes = Array(input.dropFirst())
  let text = String(decoding: bytes, as: UTF8.self)
  switch first % 10 {
  case 0: readEntry(bytes)
  case 1: readSetState(bytes)
  case 2: readDurationAndTime(text)
  case 3: readToken(bytes)
  case 4: readName(text)
  case 5: readBase64(bytes)
  case 6: writeString(bytes)
  case 7: writeLogLine(text)
  case 8: readStored(bytes)
  default: readCommandLine(text)
  }
}

private func readEntry(_ bytes: [UInt8]) {
  guard let entry = withExactly(bytes, { try? EntryForm.entry($0.span, in: .file) }) else { return }
  let written = EntryForm.bytes(of: entry)
  require((try? EntryForm.entry(written.span, in: .file)) == entry, "an entry changes")
  _ = (entry.created.rfc3339, entry.modified.seconds, entry.expires?.rfc3339)
}

private func readSetState(_ bytes: [UInt8]) {
  guard let state = SetState(bytes) else { return }
  require(SetState(state.bytes) == state, "a state changes")
}

private func readDurationAndTime(_ text: String) {
  if let seconds = try? readDuration(text, argument: "a") {
    require((1...Limits.longestDuration).contains(seconds), "a duration of \(seconds)")
  }
  if let seconds = try? readTime(text, argument: "a") {
    require((1...Limits.latestTime).contains(seconds), "a time of \(seconds)")
    let again = try? readTime(WallTime(seconds: seconds).rfc3339, argument: "a")
    require(again == seconds, "a time changes: \(seconds)")
  }
  _ = readWholeNumber(text)
}

private func readToken(_ bytes: [UInt8]) {
  if let seconds = try? JWT.expiry(of: shared(bytes), argument: "a") {
    require((1...Limits.latestTime).contains(seconds), "a claim of \(seconds)")
  }
}

private func readName(_ text: String) {
  if let key = try? Key(text) {
    require(Array(key.text.utf8) == Array(text.utf8), "a key changes")
    require((try? Key("\(key.namespace).\(key.name)")) == key, "a key is not its halves")
    require(key.text.utf8.count <= Limits.keyBytes, "a key too long")
  }
  if let account = try? Account(text) {
    require(account.text.utf8.count <= Limits.accountBytes, "an account")
  }
  if (try? checkLabel(text)) != nil { require(text.utf8.count <= Limits.labelBytes, "a label") }
  _ = try? Namespace(text)
}

private func readBase64(_ bytes: [UInt8]) {
  let decoded = withExactly(bytes) { span in try? Base64.decode(span.span).withBytes { $0.array } }
  guard let decoded else { return }
  require(encoded(decoded) == bytes, "two ways to write one secret")
}

private func encoded(_ bytes: [UInt8]) -> [UInt8] {
  written { buffer in withExactly(bytes) { span in try? Base64.encode(span.span, into: &buffer) } }
}

private func writeString(_ bytes: [UInt8]) {
  let isText = withExactly(bytes) { $0.span.isText }
  require(isText == (String(validating: bytes, as: UTF8.self) != nil), "UTF-8 or not")
  require(withExactly(bytes) { $0.span.holdsNUL } == bytes.contains(0), "a NUL or none")
  guard isText else { return }
  let string = written { buffer in withExactly(bytes) { span in try? buffer.appendString(span.span) } }
  require(!string.contains { $0 < 0x20 }, "a control character in a string")
  // As the value of a call's member it comes back as it was.
  let frame = Array(#"{"a":"#.utf8) + string + Array("}".utf8)
  var tape = Tape()
  let back = withExactly(frame) { frame in
    try? tape.read(&frame, tokenLimit: 3) { $0.withBytes(at: 2) { $0.array } }
  }
  require(back == bytes, "a string changes")
}

private func writeLogLine(_ text: String) {
  var lines: [UInt8] = []
  var line = LogLine(taking: &lines)
  line.add(text)
  line.add("key", text)
  line.end(into: &lines)
  require(
    lines.last == 0x0A && !lines.dropLast().contains { $0 < 0x20 || $0 == 0x7F }, "a line of the log breaks")
}

private func readStored(_ bytes: [UInt8]) {
  let every: SecretTraits = [.zeros, .notText, .beyondASCII, .controls, .lineEnds]
  for form in ProviderManners().forms(for: bytes.span) + [.base64, .trial(.bytes, every)] {
    let back = try? form.write(bytes.span) { stored throws(Trouble) -> [UInt8] in
      let copy: SecretBytes
      do throws(SecretMemoryError) { copy = try SecretBytes(copying: stored) } catch {
        throw .own(VaultError(error))
      }
      return try SecretForm.read(copy, marked: form.isMarked).withBytes { $0.array }
    }
    require(back == bytes, "a stored secret changes")
  }
  guard let copy = try? SecretBytes(copying: bytes.span) else { return }
  _ = try? SecretForm.read(copy, marked: true)
}

private func readCommandLine(_ text: String) {
  let words = text.split(separator: "\0").map(String.init)
  let surroundings = Surroundings(
    variable: { $0 == "HOME" ? "/home" : nil }, home: { nil }, workingFolder: { "/" },
    configuration: { _ throws(ConfigurationFile.Failure) in throw .missing }, user: 1)
  _ = try? Invocation(arguments: words, surroundings: surroundings)
}

private func shared(_ bytes: [UInt8]) -> SharedSecret {
  do { return SharedSecret(try SecretBytes(copying: bytes.span)) } catch { fatalError("\(error)") }
}

private func written(_ body: (inout SecretBuffer) -> Void) -> [UInt8] {
  do {
    var buffer = try SecretBuffer(capacity: 64, limit: 1 << 24)
    body(&buffer)
    return buffer.withBytes { $0.array }
  } catch {
    fatalError("\(error)")
  }
}
