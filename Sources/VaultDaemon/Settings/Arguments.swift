// The command line of the daemon, taken apart: which flags, with which values. What a value may be is judged by
// `Settings`. Nothing on it is ever a secret.

import VaultModel

/// What the command line asks for.
enum Arguments {
  /// A flag that sets something.
  struct Flag: Hashable, Sendable {
    let setting: Setting
    let value: String
  }

  /// Run, with these flags.
  case run([Flag])
  /// Say how it is called.
  case help
  /// Say which version it is.
  case version

  /// Takes the arguments apart, without the program's name.
  init(_ arguments: [String]) throws(StartFailure) {
    var flags: [Flag] = []
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--help", "-h":
        self = .help
        return
      case "--version":
        self = .version
        return
      default:
        break
      }
      guard argument.hasPrefix("-") else {
        throw .setting("there are only flags, and \"\(argument)\" is none; see vaultd --help")
      }
      let (name, attached) = Self.split(argument)
      guard let setting = Setting.allCases.first(where: { $0.flag == name }) else {
        let names = Setting.allCases.map(\.flag) + ["--help", "--version"]
        let hint = nearest(to: name, among: names).map { "; did you mean \($0)?" } ?? "; see vaultd --help"
        throw .setting("there is no flag \(name)\(hint)")
      }
      if let attached {
        flags.append(Flag(setting: setting, value: attached))
      } else if let placeholder = setting.placeholder {
        guard let value = rest.popFirst() else {
          throw .setting("\(name) needs a value: \(name) \(placeholder)")
        }
        flags.append(Flag(setting: setting, value: value))
      } else {
        flags.append(Flag(setting: setting, value: "true"))
      }
    }
    self = .run(flags)
  }

  /// `--name=value` in its two parts.
  private static func split(_ argument: String) -> (name: String, value: String?) {
    guard let sign = argument.utf8.firstIndex(of: UInt8(ascii: "=")) else { return (argument, nil) }
    return (String(argument[..<sign]), String(argument[argument.utf8.index(after: sign)...]))
  }

  /// How the daemon is called.
  static let helpText = """
    vaultd keeps the session tokens of one user, encrypted, and serves them to that user's programs.

    usage: vaultd [FLAGS]

      --socket PATH                        where to listen
      --store auto|secret-service|file     where new tokens go (auto)
      --data-dir DIR                       where vault.db and state.db are
      --config FILE                        settings, in a group [vaultd], with the names of these flags
      --timeout SECONDS                    for a request without a prompt (\(Limits.timeout))
      --prompt-timeout SECONDS             for a request with a prompt on the screen (\(Limits.promptTimeout))
      --log-level error|warning|info|debug (info)
      --idle-exit SECONDS                  end after so long without a connection
      --plain-session                      take a Secret Service session without encryption, if need be
      --lock-after-idle DURATION|off       lock once nobody used the vault for so long (off)
      --lock-on-suspend                    lock before the machine sleeps
      --lock-on-screen-lock                lock when the screen is locked
      --version
      --help

    It stays in the foreground. VAULTD_SOCKET, VAULTD_STORE, VAULTD_DATA_DIR, VAULTD_CONFIG, VAULTD_LOCK_AFTER_IDLE,
    VAULTD_LOCK_ON_SUSPEND and VAULTD_LOCK_ON_SCREEN_LOCK stand in for flags that are not given.
    """
}
