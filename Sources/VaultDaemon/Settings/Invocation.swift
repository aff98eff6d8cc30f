// What a call of the program comes to, before anything is opened: a text and an end, or settings to run with.

import VaultModel

/// What is to be done.
public enum Invocation: Sendable {
  /// Write this to standard output, and end with success.
  case say(String)
  /// Run.
  case run(Start)

  /// What the daemon starts with.
  public struct Start: Sendable {
    /// The settings.
    public let settings: Settings
    let warnings: [String]
    let socketPath: String
    let flags: [Arguments.Flag]
    let surroundings: Surroundings
  }

  /// Reads the command line, the environment and the configuration.
  /// - Parameters:
  ///   - arguments: the command line without the program's name.
  ///   - surroundings: everything else.
  /// - Throws: `.setting` that names what is wrong.
  public init(arguments: [String], surroundings: Surroundings) throws(StartFailure) {
    switch try Arguments(arguments) {
    case .help:
      self = .say(Arguments.helpText)
    case .version:
      self = .say("vaultd \(productVersion)")
    case .run(let flags):
      let (settings, warnings) = try Settings.read(flags: flags, surroundings: surroundings)
      self = .run(
        Start(
          settings: settings, warnings: warnings,
          socketPath: try surroundings.socketPath(settings.socket), flags: flags, surroundings: surroundings))
    }
  }
}
