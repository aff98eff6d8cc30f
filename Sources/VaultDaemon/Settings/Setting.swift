// The settings by name, one case each: the flag is `--name`, the configuration's key is `name`, and some have a
// variable in the environment (commands.md, "vaultd, the daemon" and "Where things are"). What their values may be
// is judged by `Settings`.

/// Something that can be set.
enum Setting: String, CaseIterable {
  case socket
  case store
  case dataFolder = "data-dir"
  case configuration = "config"
  case timeout
  case promptTimeout = "prompt-timeout"
  case logLevel = "log-level"
  case idleExit = "idle-exit"
  case plainSession = "plain-session"
  case lockAfterIdle = "lock-after-idle"
  case lockOnSuspend = "lock-on-suspend"
  case lockOnScreenLock = "lock-on-screen-lock"

  /// The flag on the command line.
  var flag: String { "--" + rawValue }

  /// What stands for the value in the help; `nil` for a switch, which is on where it is named.
  var placeholder: String? {
    switch self {
    case .socket: "PATH"
    case .store: "auto|secret-service|file"
    case .dataFolder: "DIR"
    case .configuration: "FILE"
    case .timeout, .promptTimeout, .idleExit: "SECONDS"
    case .logLevel: "error|warning|info|debug"
    case .lockAfterIdle: "DURATION|off"
    case .plainSession, .lockOnSuspend, .lockOnScreenLock: nil
    }
  }

  /// The variable of the environment, where there is one.
  var variable: String? {
    switch self {
    case .socket: "VAULTD_SOCKET"
    case .store: "VAULTD_STORE"
    case .dataFolder: "VAULTD_DATA_DIR"
    case .configuration: "VAULTD_CONFIG"
    case .lockAfterIdle: "VAULTD_LOCK_AFTER_IDLE"
    case .lockOnSuspend: "VAULTD_LOCK_ON_SUSPEND"
    case .lockOnScreenLock: "VAULTD_LOCK_ON_SCREEN_LOCK"
    case .timeout, .promptTimeout, .logLevel, .idleExit, .plainSession: nil
    }
  }

  /// Whether it can stand in the configuration: all but where that is.
  var isInConfiguration: Bool { self != .configuration }

  /// Whether a new value counts at once when the configuration is read again.
  var changesWhileRunning: Bool {
    switch self {
    case .store, .timeout, .promptTimeout, .logLevel, .lockAfterIdle, .lockOnSuspend, .lockOnScreenLock: true
    case .socket, .dataFolder, .configuration, .idleExit, .plainSession: false
    }
  }
}
