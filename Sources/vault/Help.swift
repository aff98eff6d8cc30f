// `vault help` and every `--help`, made of what `Command` and `Flag` say, so that it fits what is read.

import VaultClient

func helpCommand(_ invocation: Invocation) throws(Failure) {
  let name = invocation.operands.joined(separator: " ")
  let commands = Command(rawValue: name).map { [$0] } ?? Command.group(name)
  guard name.isEmpty || !commands.isEmpty else {
    let guess = nearest(to: name, among: Command.allCases.map(\.rawValue))
    throw .usage("there is no such command" + (guess.map { "; did you mean \($0)?" } ?? ""))
  }
  try StandardStreams.write(helpText(commands))
}

/// Help for these commands; for none of them, the overview.
func helpText(_ commands: [Command]) -> String {
  commands.isEmpty ? overview : commands.map(helpText).joined(separator: "\n")
}

private func helpText(_ command: Command) -> String {
  var text = command.synopsis + "\n\n" + command.summary + "\n"
  if !command.notes.isEmpty { text += "\n" + command.notes + "\n" }
  guard !command.flags.isEmpty else { return text }
  text += "\n"
  for flag in command.flags + [.help] {
    let name = flag.rawValue + (flag.placeholder.map { " " + $0 } ?? "")
    text += "  " + name + String(repeating: " ", count: max(1, 24 - name.utf8.count)) + flag.text + "\n"
  }
  return text
}

private var overview: String {
  var text = "The tokens of one user, kept by vaultd.\n\n"
  for command in Command.allCases {
    for line in command.synopsis.split(separator: "\n") { text += "  \(line)\n" }
    text += "      \(command.summary)\n"
  }
  return text + """

      vault --help, vault COMMAND --help, vault --version

    Exit status: 0 done; 1 nothing stored; 2 a mistake in the call; 3 expired; 4 locked; 5 denied; 6 changed meanwhile;
    7 a store out of reach; 8 no vaultd; 9 damaged; 10 wrong passphrase; 11 newer format; 12 too large; 70 a bug.

    """
}
