// From the words of the command line to the exit status: reads them, goes to the subcommand, shows the error.

import CLinux
import Glibc
import VaultClient

/// Runs the command that this process was started for.
/// - Returns: the exit status.
func runCommand() -> Int32 {
  // Swift's own handler of crashes, and of SIGQUIT, prints memory that may hold a secret.
  clinux_drop_crash_handlers()
  StandardStreams.secure()
  // A closed pipe is an error of the write, with a text and a status, and no death without a word.
  let pipe = signal(SIGPIPE, SIG_IGN)
  do throws(Failure) {
    let words = try words()
    if words.first == completionRequest {
      try complete(Array(words.dropFirst()))
      return 0
    }
    switch try readCommandLine(words) {
    case .version: try StandardStreams.write("vault \(productVersion)\n")
    case .help(let commands): try StandardStreams.write(helpText(commands))
    case .run(let invocation):
      return try run(invocation, brokenPipes: pipe)
    }
    return 0
  } catch {
    StandardStreams.tell(error.text)
    return error.status
  }
}

/// The words behind the program's name, which must be UTF-8: bytes that are not would become others.
private func words() throws(Failure) -> [String] {
  var words: [String] = []
  for index in 1..<max(1, Int(CommandLine.argc)) {
    guard let word = unsafe CommandLine.unsafeArgv[index] else { break }
    guard let text = unsafe String(validatingCString: word) else {
      throw .usage("argument \(index) is not UTF-8")
    }
    words.append(text)
  }
  return words
}

/// Goes to the subcommand.
/// - Parameters:
///   - invocation: what to do.
///   - brokenPipes: what SIGPIPE did when this process was started, and is to do to programs that it starts.
/// - Returns: the exit status.
/// - Throws: where it does not succeed.
private func run(_ invocation: Invocation, brokenPipes: __sighandler_t?) throws(Failure) -> Int32 {
  switch invocation.command {
  case .get: try getCommand(invocation)
  case .set: try setCommand(invocation)
  case .clear: return try clearCommand(invocation)
  case .logout: return try logoutCommand(invocation)
  case .list: try listCommand(invocation)
  case .watch: try watchCommand(invocation)
  case .touch: try touchCommand(invocation)
  case .status: try statusCommand(invocation)
  case .initialise: try initialiseCommand(invocation)
  case .lock: try lockCommand()
  case .unlock: try unlockCommand(invocation)
  case .slotList: try slotListCommand()
  case .slotAdd: try slotAddCommand(invocation)
  case .slotRemove: try slotRemoveCommand(invocation)
  case .verify: return try verifyCommand(invocation)
  case .run: try runProgramCommand(invocation, restoreSignals: { _ = signal(SIGPIPE, brokenPipes) })
  case .renew: return try renewCommand(invocation, diesOfPipes: brokenPipes == nil)
  case .completions: try completionsCommand(invocation)
  case .help: try helpCommand(invocation)
  }
  return 0
}
