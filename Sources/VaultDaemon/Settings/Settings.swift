// The daemon's settings, once every source was read and judged: flags over the environment, the environment over the
// configuration, that over what is built in. A bad value is an error wherever it stands, also where another
// source has the last word: a setting that is wrong is not to be found out later.

import GLibLoop
import VaultCore
import VaultModel

/// How the daemon runs.
public struct Settings: Hashable, Sendable {
  /// Where to make the socket; `nil` where the rule for both ends has to say (`SocketPath`).
  var socket: String?
  /// The folder of `vault.db` and `state.db`; an absolute path.
  public var dataFolder: String
  /// Which store new tokens go to.
  public var store = StorePreference.auto
  /// How long requests may take.
  public var timeouts = Timeouts()
  /// Which lines the log has.
  var logLevel = Journal.Level.info
  /// End in order after so many seconds without a connection.
  var idleExit: Int?
  /// Whether a Secret Service session without encryption will do.
  public var plainSession = false
  /// On which occasions the vault locks itself.
  var locks = LockTriggers()

  /// What is built in.
  init(dataFolder: String) {
    self.dataFolder = dataFolder
  }

  /// Reads and judges all sources.
  /// - Parameters:
  ///   - flags: what the command line says, in its order.
  ///   - surroundings: the environment.
  /// - Throws: `.setting` that names the source and what is wrong.
  /// - Returns: the settings, and what a person should be told about them.
  static func read(
    flags: [Arguments.Flag], surroundings: Surroundings
  ) throws(StartFailure) -> (settings: Settings, warnings: [String]) {
    var settings = Settings(dataFolder: "")
    var warnings: [String] = []
    try settings.readConfiguration(flags: flags, surroundings, &warnings)
    for setting in Setting.allCases {
      guard let variable = setting.variable, let value = surroundings.variable(variable) else { continue }
      try settings.apply(setting, value, from: variable, surroundings)
    }
    for flag in flags { try settings.apply(flag.setting, flag.value, from: flag.setting.flag, surroundings) }
    if settings.dataFolder.isEmpty {
      settings.dataFolder = try surroundings.folder(of: "XDG_DATA_HOME", or: ".local/share") + "/vault"
    }
    return (settings, warnings)
  }

  private mutating func readConfiguration(
    flags: [Arguments.Flag], _ surroundings: Surroundings, _ warnings: inout [String]
  ) throws(StartFailure) {
    let named = flags.last { $0.setting == .configuration }?.value ?? surroundings.variable("VAULTD_CONFIG")
    let path: String
    if let named, !named.isEmpty {
      path = named
    } else {
      path = try surroundings.folder(of: "XDG_CONFIG_HOME", or: ".config") + "/vault/vaultd.conf"
    }
    let file: ConfigurationFile
    do throws(ConfigurationFile.Failure) {
      file = try surroundings.configuration(path)
    } catch {
      switch error {
      case .missing:
        // One that is named must be there.
        if named == nil { return }
        throw .setting("\(path): there is no such file")
      case .unreadable(let reason), .malformed(let reason):
        throw .setting("\(path): \(reason)")
      }
    }
    for group in file.unknownGroups {
      warnings.append("\(path): the group [\(group)] is unknown and was skipped")
    }
    let names = Setting.allCases.filter(\.isInConfiguration).map(\.rawValue)
    for (key, value) in file.entries {
      guard let setting = Setting(rawValue: key), setting.isInConfiguration else {
        let hint = nearest(to: key, among: names).map { "; did you mean \($0)?" } ?? ""
        warnings.append("\(path): the key \(key) is unknown and was skipped\(hint)")
        continue
      }
      try apply(setting, value, from: "\(path): \(key)", surroundings)
    }
  }

  /// Takes one value; `source` is what named it, for the error.
  private mutating func apply(
    _ setting: Setting, _ value: String, from source: String, _ surroundings: Surroundings
  ) throws(StartFailure) {
    switch setting {
    case .socket:
      socket = try nonEmpty(value, source)
    case .store:
      guard let preference = StorePreference(flag: value) else {
        throw choice(value, of: StorePreference.allCases.map(\.flag), source)
      }
      store = preference
    case .dataFolder:
      dataFolder = surroundings.absolute(try nonEmpty(value, source))
    case .configuration:
      _ = try nonEmpty(value, source)
    case .timeout:
      timeouts.plain = try seconds(value, Limits.longestTimeout, source)
    case .promptTimeout:
      timeouts.prompt = try seconds(value, Limits.longestTimeout, source)
    case .logLevel:
      guard let level = Journal.Level(rawValue: value) else {
        throw choice(value, of: Journal.Level.allCases.map(\.rawValue), source)
      }
      logLevel = level
    case .idleExit:
      idleExit = try seconds(value, Int(Limits.longestDuration), source)
    case .plainSession:
      plainSession = try truth(value, source)
    case .lockAfterIdle:
      do throws(VaultError) {
        // So that a flag can undo what the configuration says.
        locks.afterIdle = value == "off" ? nil : try readDuration(value, argument: source)
      } catch {
        throw .setting(error.description)
      }
    case .lockOnSuspend:
      locks.onSuspend = try truth(value, source)
    case .lockOnScreenLock:
      locks.onScreenLock = try truth(value, source)
    }
  }

  /// The settings that differ from `other` and count only after a restart.
  func changesThatWait(for other: Settings) -> [Setting] {
    var changes: [Setting] = []
    if socket != other.socket { changes.append(.socket) }
    if dataFolder != other.dataFolder { changes.append(.dataFolder) }
    if idleExit != other.idleExit { changes.append(.idleExit) }
    if plainSession != other.plainSession { changes.append(.plainSession) }
    return changes
  }
}

private func nonEmpty(_ value: String, _ source: String) throws(StartFailure) -> String {
  guard !value.isEmpty else { throw .setting("\(source): is empty") }
  return value
}

private func seconds(_ value: String, _ longest: Int, _ source: String) throws(StartFailure) -> Int {
  guard let number = readWholeNumber(value), number >= 1, number <= longest else {
    throw .setting("\(source): must be a whole number of seconds from 1 to \(longest), and is \"\(value)\"")
  }
  return Int(number)
}

private func truth(_ value: String, _ source: String) throws(StartFailure) -> Bool {
  switch value {
  case "true", "yes", "on", "1": return true
  case "false", "no", "off", "0": return false
  default: throw .setting("\(source): must be true or false, and is \"\(value)\"")
  }
}

private func choice(_ value: String, of choices: [String], _ source: String) -> StartFailure {
  let hint = nearest(to: value, among: choices).map { "; did you mean \($0)?" } ?? ""
  return .setting("\(source): must be one of \(choices.joined(separator: ", ")), and is \"\(value)\"\(hint)")
}
