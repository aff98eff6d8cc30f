// `vault run`: a program with tokens in its environment. All tokens are read first; then this process becomes
// the program, so that its exit status and its signals are the program's own.

import CLinux
import Glibc
import VaultClient

func runProgramCommand(_ invocation: Invocation, restoreSignals: () -> Void) throws(Failure) {
  let account = try account(invocation) ?? .empty
  var wanted: [(name: String, id: EntryID)] = []
  for text in invocation.values[.env] ?? [] {
    guard let equals = text.utf8.firstIndex(of: UInt8(ascii: "=")), isVariable(text.utf8[..<equals]) else {
      throw .usage("--env is NAME=KEY, NAME of letters, digits and _", invocation.command)
    }
    let name = String(text[..<equals])
    guard !wanted.contains(where: { $0.name == name }) else {
      throw .usage("--env names \(name) twice", invocation.command)
    }
    wanted.append((name, EntryID(try key(String(text[text.utf8.index(after: equals)...])), account)))
  }
  guard !wanted.isEmpty else { throw .usage("vault run needs --env NAME=KEY", invocation.command) }
  guard let program = invocation.program.first, !program.isEmpty else {
    throw .usage("vault run needs -- and the command to run", invocation.command)
  }

  let daemon = try Daemon(mayStart: true)
  var variables: [SharedSecret] = []
  for (name, id) in wanted {
    variables.append(try variable(name, try getToken(GetRequest(id: id), daemon)))
  }
  restoreSignals()
  let code = become(invocation.program, with: variables, insteadOf: wanted.map(\.name))
  let reason = unsafe String(cString: strerror(code))
  // As env(1) and the shells have it.
  throw Failure(status: code == ENOENT ? 127 : 126, text: "\(program) cannot be run: \(reason)")
}

private func isVariable(_ name: Substring.UTF8View) -> Bool {
  guard let first = name.first, !isDigit(first) else { return false }
  return name.allSatisfy { byte in
    isDigit(byte) || byte == UInt8(ascii: "_")
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}

private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

/// `NAME=secret` with the NUL behind it that execve(2) expects, in locked memory.
private func variable(_ name: String, _ token: Token) throws(Failure) -> SharedSecret {
  let holdsNUL = token.secret.withBytes { bytes in bytes.indices.contains { bytes[$0] == 0 } }
  guard !holdsNUL else {
    throw Failure(
      .invalidArgument,
      "the token under \(token.entry.id) holds a NUL, which no variable can; nothing was started")
  }
  do throws(SecretMemoryError) {
    let count = name.utf8.count + token.secret.count + 2
    var buffer = try SecretBuffer(capacity: count, limit: count)
    try buffer.append(name.utf8.span)
    try buffer.append(UInt8(ascii: "="))
    try token.secret.withBytes { bytes throws(SecretMemoryError) in try buffer.append(bytes) }
    try buffer.append(UInt8(0))
    return SharedSecret(
      try buffer.withBytes { bytes throws(SecretMemoryError) in try SecretBytes(copying: bytes) })
  } catch {
    throw Failure(error)
  }
}

/// Becomes the program.
/// - Returns: only where that is impossible: the error number.
private func become(_ words: [String], with variables: [SharedSecret], insteadOf names: [String]) -> Int32 {
  unsafe withCStrings(words) { arguments in
    var environment: [UnsafeMutablePointer<CChar>?] = unsafe []
    var next = unsafe environ
    while let entry = unsafe next.pointee {
      unsafe next += 1
      let replaced = names.contains { name in
        guard unsafe strncmp(entry, name, name.utf8.count) == 0 else { return false }
        return unsafe entry[name.utf8.count] == CChar(bitPattern: UInt8(ascii: "="))
      }
      if !replaced { unsafe environment.append(entry) }
    }
    for variable in variables {
      // The address stays what it is as long as `variables` lives, which is until this process is another.
      variable.withBytes { bytes in
        unsafe bytes.withUnsafeBytes { bytes in
          unsafe environment.append(
            UnsafeMutablePointer(mutating: bytes.baseAddress?.assumingMemoryBound(to: CChar.self)))
        }
      }
    }
    unsafe environment.append(nil)
    return withExtendedLifetime(variables) { -(unsafe clinux_become(arguments, &environment)) }
  }
}
