// Why the daemon does not start, with the exit status that says so (commands.md, "vaultd, the daemon").

/// A reason not to run.
public enum StartFailure: Error, Hashable, Sendable, CustomStringConvertible {
  /// A flag, a variable, a setting or the place that one of them names is not what it must be.
  case setting(String)
  /// Another daemon serves the socket.
  case served(String)
  /// A bug of ours, or a system that lacks what every system has.
  case bug(String)

  /// The exit status of the daemon.
  public var exitStatus: Int32 {
    switch self {
    case .setting: 2
    case .served: 3
    case .bug: 70
    }
  }

  /// One line for a person: what is wrong and what to do.
  public var description: String {
    switch self {
    case .setting(let text): text
    case .served(let path): "another vaultd serves \(path) already"
    case .bug(let text): "a bug of vaultd: \(text); please report it"
    }
  }
}
