// Passphrases of the vault file: from a file, from standard input, or from a person. Always in locked memory.

import Glibc
import VaultClient

/// Asks a person.
func askPassphrase(_ question: String) throws(Failure) -> SharedSecret {
  let passphrase = try ask(question, limit: Limits.passphraseBytes, oneLineOnly: false)
  try check(passphrase)
  return try passphrase.shared()
}

/// Asks a person for a new one, twice.
func askNewPassphrase() throws(Failure) -> SharedSecret {
  let first = try askPassphrase("New passphrase for the vault file")
  let second = try askPassphrase("The same again")
  let equal = first.withBytes { left in
    second.withBytes { right in
      left.count == right.count && left.indices.allSatisfy { left[$0] == right[$0] }
    }
  }
  guard equal else {
    throw Failure(.invalidArgument, "the two passphrases differ; nothing was done")
  }
  return first
}

/// Reads one from the file at `path`, `-` for standard input. A file that others can read, or that is
/// another's, is refused. One line end at its end is dropped.
func readPassphrase(_ path: String) throws(Failure) -> SharedSecret {
  let flag = Flag.passphraseFile.rawValue
  if path == "-" {
    guard !StandardStreams.isTerminal(StandardStreams.input) else {
      throw Failure(
        .invalidArgument, "\(flag) -: standard input is a terminal, which would show it; leave \(flag) out")
    }
    return try passphrase(from: StandardStreams.input, name: "standard input")
  }
  let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
  guard descriptor >= 0 else {
    let reason = unsafe String(cString: strerror(errno))
    throw Failure(.invalidArgument, "\(flag): \(path) cannot be opened: \(reason)")
  }
  defer { close(descriptor) }
  var status = stat()
  guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
    throw Failure(.invalidArgument, "\(flag): \(path) is no file")
  }
  guard status.st_uid == geteuid() || status.st_uid == 0 else {
    throw Failure(.invalidArgument, "\(flag): \(path) belongs to another user, who can read it")
  }
  guard status.st_mode & 0o077 == 0 else {
    throw Failure(.invalidArgument, "\(flag): others can read or write \(path); chmod 600 it")
  }
  return try passphrase(from: descriptor, name: path)
}

private func passphrase(from descriptor: Int32, name: String) throws(Failure) -> SharedSecret {
  guard var input = try readToEnd(descriptor, limit: Limits.passphraseBytes + 2, name: name) else {
    throw tooLong()
  }
  input.dropLineEnd()
  guard input.count <= Limits.passphraseBytes else { throw tooLong() }
  try check(input)
  return try input.shared()
}

private func tooLong() -> Failure {
  Failure(.invalidArgument, "a passphrase has at most \(Limits.passphraseBytes) bytes; nothing was done")
}

/// A passphrase travels as text.
private func check(_ passphrase: borrowing SecretBuffer) throws(Failure) {
  guard !passphrase.isEmpty else {
    throw Failure(.invalidArgument, "the passphrase is empty; nothing was done")
  }
  let isText = passphrase.withBytes { bytes in
    (try? UTF8Span(validating: bytes)) != nil && bytes.indices.allSatisfy { bytes[$0] != 0 }
  }
  guard isText else {
    throw Failure(
      .invalidArgument, "the passphrase is not UTF-8 or holds a NUL; nothing was done")
  }
}
