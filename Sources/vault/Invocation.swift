// Reads the command line. Strict: an unknown flag, one given twice, a value that is missing or empty where it
// would widen what is done, and a word too much are errors, and nothing is done. Text that may be a secret in
// the wrong place is never repeated.

import VaultClient

/// A command line that was understood.
struct Invocation: Equatable {
  var command: Command
  var operands: [String] = []
  var values: [Flag: [String]] = [:]
  /// What stands behind `--`, for a command that starts a program.
  var program: [String] = []

  /// Whether a flag was given.
  func has(_ flag: Flag) -> Bool { values[flag] != nil }

  /// The value of a flag that is given at most once.
  subscript(flag: Flag) -> String? { values[flag]?.first }
}

/// What a command line asks for.
enum Wish: Equatable {
  case run(Invocation)
  /// What help is asked for: the overview where it names none.
  case help([Command])
  case version
}

/// Reads the words behind the program's name.
func readCommandLine(_ words: [String]) throws(Failure) -> Wish {
  var words = words[...]
  guard let first = words.first else { throw .usage("no command was given") }
  if first == "--help" { return .help([]) }
  if first == "--version" { return .version }
  let group = Command.group(first)
  if !group.isEmpty, words.dropFirst().first == Flag.help.rawValue { return .help(group) }
  let command = try takeCommand(&words)
  return try readArguments(of: command, words)
}

/// Takes the one or two words that name the command.
private func takeCommand(_ words: inout ArraySlice<String>) throws(Failure) -> Command {
  let first = words.removeFirst()
  if let command = Command(rawValue: first) { return command }
  let group = Command.group(first)
  guard group.isEmpty else {
    let choices = group.map { String($0.rawValue.utf8.dropFirst(first.utf8.count + 1)) ?? "" }
    guard let second = words.popFirst() else {
      throw .usage("vault \(first) needs one of \(choices.joined(separator: ", "))")
    }
    if let command = Command(rawValue: "\(first) \(second)") { return command }
    throw .usage("vault \(first) has no \(quoted(second))" + guess(second, choices))
  }
  if first.utf8.first == UInt8(ascii: "-") {
    throw .usage(
      "there is no flag \(quoted(first)) in front of a command" + guess(first, ["--help", "--version"]))
  }
  let names = Set(Command.allCases.map { String($0.rawValue.split(separator: " ")[0]) })
  throw .usage("there is no command \(quoted(first))" + guess(first, names.sorted()))
}

private func readArguments(of command: Command, _ words: ArraySlice<String>) throws(Failure) -> Wish {
  var words = words
  var invocation = Invocation(command: command)
  while let word = words.popFirst() {
    if word == "--" {
      if command.startsProgram {
        invocation.program = Array(words)
      } else {
        invocation.operands += words
      }
      break
    }
    guard word.utf8.first == UInt8(ascii: "-"), word.utf8.count > 1 else {
      guard !command.startsProgram || invocation.operands.count < command.operands.count else {
        throw .usage("the command to run stands behind --", command)
      }
      invocation.operands.append(word)
      continue
    }
    let (name, attached) = split(word)
    guard let flag = Flag(rawValue: name), flag == .help || command.flags.contains(flag) else {
      throw .usage(
        "vault \(command.rawValue) has no flag \(quoted(name))"
          + guess(name, command.flags.map(\.rawValue) + [Flag.help.rawValue]), command)
    }
    guard let placeholder = flag.placeholder else {
      guard attached == nil else { throw .usage("\(name) takes no value", command) }
      if flag == .help { return .help([command]) }
      guard !invocation.has(flag) else { throw .usage("\(name) is given twice", command) }
      invocation.values[flag] = []
      continue
    }
    guard flag.repeats || !invocation.has(flag) else { throw .usage("\(name) is given twice", command) }
    let value: String
    if let attached {
      value = attached
    } else {
      value = try takeValue(of: name, placeholder, &words, command)
    }
    invocation.values[flag, default: []].append(value)
  }
  try checkOperands(of: invocation)
  return .run(invocation)
}

/// The word behind a flag. One that looks like a flag is none: more likely the value was forgotten.
private func takeValue(
  of name: String, _ placeholder: String, _ words: inout ArraySlice<String>, _ command: Command
) throws(Failure) -> String {
  guard let value = words.popFirst() else {
    throw .usage("\(name) needs a value: \(name) \(placeholder)", command)
  }
  guard value.utf8.first != UInt8(ascii: "-") || value == "-" else {
    throw .usage("\(name) needs a value; one that begins with - is written \(name)=\(placeholder)", command)
  }
  return value
}

private func checkOperands(of invocation: Invocation) throws(Failure) {
  let command = invocation.command
  let names = command.operands
  guard invocation.operands.count <= names.count else {
    if command == .set {
      throw .usage(
        "a secret is never taken from the command line, where other programs can read it; pipe it in: "
          + "printf %s \"$TOKEN\" | vault set KEY", command)
    }
    throw .usage(
      "vault \(command.rawValue) takes "
        + (names.isEmpty ? "no argument" : "no more than \(names.joined(separator: " "))"), command)
  }
  guard invocation.operands.count >= command.requiredOperands else {
    throw .usage("vault \(command.rawValue) needs \(names[invocation.operands.count])", command)
  }
  if let empty = invocation.operands.firstIndex(where: \.isEmpty) {
    throw .usage("\(names[empty]) is empty", command)
  }
}

/// `--flag=value` in its two halves.
func split(_ word: String) -> (name: String, attached: String?) {
  guard let equals = word.utf8.firstIndex(of: UInt8(ascii: "=")) else { return (word, nil) }
  return (String(word[..<equals]), String(word[word.utf8.index(after: equals)...]))
}

private func guess(_ text: String, _ names: [String]) -> String {
  nearest(to: text, among: names).map { "; did you mean \($0)?" } ?? ""
}

/// A word of the command line for an error text, if it looks like the name of something. What does not may be a
/// secret in the wrong place, and is not shown.
private func quoted(_ word: String) -> String {
  let isName =
    word.utf8.count <= 24
    && word.utf8.allSatisfy { byte in
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || byte == UInt8(ascii: "-")
    }
  return isName ? "\"\(word)\"" : "of that name"
}
