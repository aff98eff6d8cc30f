// How an example ends that cannot go on: a status and a line. The outcomes of the vault keep the statuses that they
// have with the command.

import Foundation
import VaultClient

/// The end of a program.
public struct Ending: Error {
  /// The exit status.
  public var status: Int32
  /// What happened and what to do next. Never a secret.
  public var text: String

  /// Such an end.
  public init(_ status: Int32, _ text: String) {
    self.status = status
    self.text = text
  }

  /// What an error ends a program with.
  public init(_ error: any Error) {
    switch error {
    case let ending as Ending: self = ending
    case let outcome as VaultError: self.init(outcome.outcome.exitStatus, outcome.description)
    case let unreachable as Unreachable: self.init(69, "the service does not answer: \(unreachable.reason)")
    default: self.init(70, "\(type(of: error))")
    }
  }
}

/// Runs a program to its end.
public func run(_ name: String, _ body: @Sendable ([String]) async throws -> Void) async -> Never {
  do {
    try await body(Array(CommandLine.arguments.dropFirst()))
    exit(0)
  } catch {
    let ending = Ending(error)
    FileHandle.standardError.write(Data("\(name): \(ending.text)\n".utf8))
    exit(ending.status)
  }
}

/// What a variable of the environment says.
public func setting(_ name: String) throws(Ending) -> String {
  guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else {
    throw Ending(2, "\(name) is not set")
  }
  return value
}

/// The line that standard input brings: a password is never on the command line.
public func lineOfInput(_ what: String) throws(Ending) -> String {
  guard let line = readLine(), !line.isEmpty else { throw Ending(2, "standard input brings no \(what)") }
  return line
}
