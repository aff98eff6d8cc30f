// Where a setting may stand, which source wins, and what is said of one that is wrong.

import Foundation
import GLibLoop
import TestSupport
import Testing
import VaultCore
import VaultModel

@testable import VaultDaemon

@Suite struct SettingsTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Surroundings with these variables, and a configuration in its usual place.
  private func surroundings(
    _ variables: [String: String] = [:], configuration: String? = nil
  ) throws -> Surroundings {
    var variables = variables
    if variables["HOME"] == nil { variables["HOME"] = folder.path }
    if let configuration {
      try FileManager.default.createDirectory(
        atPath: folder.path + "/.config/vault", withIntermediateDirectories: true)
      try configuration.write(
        toFile: folder.path + "/.config/vault/vaultd.conf", atomically: false, encoding: .utf8)
    }
    let all = variables
    return Surroundings(
      variable: { all[$0].flatMap { $0.isEmpty ? nil : $0 } }, home: { "/home/of/the/list" },
      workingFolder: { "/here" },
      configuration: { path throws(ConfigurationFile.Failure) in try ConfigurationFile(path: path) },
      user: 1000)
  }

  private func read(
    _ arguments: [String] = [], _ variables: [String: String] = [:], configuration: String? = nil
  ) throws -> (settings: Settings, warnings: [String]) {
    guard case .run(let flags) = try Arguments(arguments) else { throw StartFailure.bug("not a run") }
    return try Settings.read(
      flags: flags, surroundings: surroundings(variables, configuration: configuration))
  }

  private func failure(
    _ arguments: [String] = [], _ variables: [String: String] = [:], configuration: String? = nil
  ) -> String {
    do {
      _ = try read(arguments, variables, configuration: configuration)
      return "nothing"
    } catch {
      return "\(error)"
    }
  }

  @Test("without any source, what is built in")
  func builtIn() throws {
    let (settings, warnings) = try read()
    #expect(settings.store == .auto)
    #expect(settings.timeouts == Timeouts(plain: 10, prompt: 60))
    #expect(settings.dataFolder == folder.path + "/.local/share/vault")
    #expect(settings.logLevel == .info)
    #expect(settings.idleExit == nil)
    #expect(settings.plainSession == false)
    #expect(warnings.isEmpty)
  }

  @Test("a flag wins over the environment, the environment over the file")
  func order() throws {
    let file = "[vaultd]\nstore=file\ntimeout=1\ndata-dir=/from/file\n"
    let variables = ["VAULTD_STORE": "auto", "VAULTD_DATA_DIR": "/from/environment"]
    let (one, _) = try read([], [:], configuration: file)
    #expect(one.store == .file && one.timeouts.plain == 1 && one.dataFolder == "/from/file")
    let (two, _) = try read([], variables, configuration: file)
    #expect(two.store == .auto && two.timeouts.plain == 1 && two.dataFolder == "/from/environment")
    let (three, _) = try read(["--store", "secret-service", "--timeout=2"], variables, configuration: file)
    #expect(three.store == .secretService && three.timeouts.plain == 2)
    #expect(three.dataFolder == "/from/environment")
  }

  @Test("an empty variable is the same as none")
  func emptyVariable() throws {
    #expect(
      try read([], ["VAULTD_STORE": ""], configuration: "[vaultd]\nstore=file\n").settings.store == .file)
  }

  @Test(
    "an unknown key and an unknown group of the file are warnings that name them, with the nearest right one")
  func unknownKey() throws {
    let (settings, warnings) = try read(
      configuration: "[vaultd]\nstroe=file\nconfig=/x\nstore=file\n[vault]\na=b\n")
    #expect(settings.store == .file)
    #expect(warnings.count == 3)
    #expect(warnings.contains { $0.contains("[vault]") })
    #expect(warnings.contains { $0.contains("stroe") && $0.contains("store?") })
    #expect(warnings.contains { $0.contains("config") })
  }

  @Test(
    "a bad value is an error that names its source, also where another source has the last word",
    arguments: [
      ("store=files", "store"), ("timeout=0", "timeout"), ("timeout=1.5", "timeout"),
      ("timeout=3601", "timeout"),
      ("timeout=99999999999999999999", "timeout"), ("prompt-timeout=-1", "prompt-timeout"),
      ("log-level=loud", "log-level"), ("idle-exit=soon", "idle-exit"),
      ("plain-session=maybe", "plain-session"),
      ("socket=", "socket"),
    ])
  func badValue(line: String, name: String) {
    let halves = line.split(separator: "=", omittingEmptySubsequences: false)
    #expect(failure(["--\(name)=\(halves[1])"]).hasPrefix("--\(name):"))
    let text = failure(["--store", "file", "--timeout", "5"], configuration: "[vaultd]\n\(line)\n")
    #expect(text.contains("vaultd.conf: \(name):"))
  }

  @Test("1 and 3,600 seconds are limits that can be set")
  func timeoutLimits() throws {
    #expect(
      try read(["--timeout", "1", "--prompt-timeout", "3600"]).settings.timeouts
        == Timeouts(plain: 1, prompt: 3_600))
  }

  @Test("the vault locks itself on no occasion unless a flag, a variable or the file says so, in that order")
  func locks() throws {
    #expect(try read().settings.locks == LockTriggers())
    let file = "[vaultd]\nlock-after-idle=15m\nlock-on-suspend=true\nlock-on-screen-lock=yes\n"
    let (one, _) = try read(configuration: file)
    #expect(one.locks == LockTriggers(afterIdle: 900, onSuspend: true, onScreenLock: true))
    let (two, _) = try read(
      ["--lock-on-suspend", "--lock-after-idle", "off"],
      [
        "VAULTD_LOCK_ON_SUSPEND": "no", "VAULTD_LOCK_ON_SCREEN_LOCK": "no", "VAULTD_LOCK_AFTER_IDLE": "1h30m",
      ], configuration: file)
    #expect(two.locks == LockTriggers(afterIdle: nil, onSuspend: true, onScreenLock: false))
    #expect(try read([], ["VAULTD_LOCK_AFTER_IDLE": "1h30m"]).settings.locks.afterIdle == 5_400)
  }

  @Test(
    "an idle time that is no duration is an error, and no lock that never comes",
    arguments: ["soon", "0", "0s", "-1", "1.5h", "", "99999999999999999999", "nan", "10 "])
  func idleTime(value: String) {
    #expect(failure(["--lock-after-idle", value]).hasPrefix("--lock-after-idle"))
    #expect(failure(configuration: "[vaultd]\nlock-after-idle=\(value)\n").contains("lock-after-idle"))
  }

  @Test("a configuration that is named must be there; the usual one need not")
  func missingFile() throws {
    #expect(failure(["--config", "/nowhere/vaultd.conf"]).contains("/nowhere/vaultd.conf"))
    #expect(failure([], ["VAULTD_CONFIG": "/nowhere/else.conf"]).contains("/nowhere/else.conf"))
    _ = try read()
  }

  @Test("what is no configuration is an error that names the file")
  func malformedFile() {
    #expect(failure(configuration: "store=file\n").contains("vaultd.conf"))
  }

  @Test("folders: XDG first, then HOME, then the list of users; a relative one is refused")
  func folders() throws {
    #expect(try read([], ["XDG_DATA_HOME": "/data"]).settings.dataFolder == "/data/vault")
    #expect(failure([], ["XDG_DATA_HOME": "data"]).contains("XDG_DATA_HOME"))
    #expect(try read(["--data-dir", "mine"]).settings.dataFolder == "/here/mine")
    let surroundings = try surroundings(["HOME": "/nowhere"])
    let homeless = Surroundings(
      variable: { _ in nil }, home: surroundings.home, workingFolder: surroundings.workingFolder,
      configuration: surroundings.configuration, user: 1000)
    let (settings, _) = try Settings.read(flags: [], surroundings: homeless)
    #expect(settings.dataFolder == "/home/of/the/list/.local/share/vault")
  }

  @Test("a flag that is wrong names the nearest right one; a value that is missing is said")
  func flags() {
    #expect(failure(["--stor", "file"]).contains("--store?"))
    #expect(failure(["--socket"]).contains("--socket PATH"))
    #expect(failure(["file"]).contains("file"))
    #expect(failure(["--quite-something-else"]).contains("--help"))
  }

  @Test("help and version are answered whatever stands beside them, and the help names every flag")
  func help() throws {
    guard case .help = try Arguments(["--store", "file", "--help"]) else {
      Issue.record("no help")
      return
    }
    guard case .version = try Arguments(["--version"]) else {
      Issue.record("no version")
      return
    }
    for setting in Setting.allCases { #expect(Arguments.helpText.contains("  \(setting.flag)")) }
  }

  @Test("what counts only after a restart is told apart from what counts at once")
  func changes() throws {
    let (old, _) = try read()
    let (new, _) = try read([
      "--store", "file", "--timeout", "3", "--log-level", "debug", "--socket", "/s", "--data-dir", "/d",
      "--idle-exit", "4", "--plain-session", "--lock-on-suspend", "--lock-after-idle", "5",
    ])
    #expect(old.changesThatWait(for: new) == [.socket, .dataFolder, .idleExit, .plainSession])
    #expect(Set(old.changesThatWait(for: new)).allSatisfy { !$0.changesWhileRunning })
  }
}
