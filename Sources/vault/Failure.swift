// How a command ends that does not succeed: one line for standard error and an exit status. Every error of the
// client, of the system and of the command line becomes one of these before it is shown.

import VaultClient

/// The end of a command that did not succeed.
struct Failure: Error, Equatable {
  /// The exit status.
  var status: Int32
  /// What happened, to what, and what to do next: one line, without `vault: `. Never a secret.
  var text: String
  /// The signal that is to end this process, rather than an exit status.
  var signal: Int32?

  init(status: Int32, text: String) {
    self.status = status
    self.text = text
  }

  init(_ outcome: Outcome, _ text: String) {
    self.init(status: outcome.exitStatus, text: text)
  }

  init(_ error: VaultError) {
    self.init(error.outcome, error.description)
  }

  init(_ error: SecretMemoryError) {
    self.init(VaultError(error))
  }

  /// The command line is not one that the command takes.
  static func usage(_ text: String, _ command: Command? = nil) -> Failure {
    Failure(.invalidArgument, text + " (see vault help" + (command.map { " \($0.rawValue)" } ?? "") + ")")
  }
}

/// Does something with secret memory; where there is none, that is how the command ends.
func inMemory<Result: ~Copyable>(
  _ body: () throws(SecretMemoryError) -> Result
) throws(Failure) -> Result {
  do throws(SecretMemoryError) {
    return try body()
  } catch {
    throw Failure(error)
  }
}
