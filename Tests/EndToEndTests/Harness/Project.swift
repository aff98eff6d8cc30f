// Where the project and the programs under test are.

import Foundation
import Spawning

/// The checkout that the tests belong to.
enum Project {
  /// Its folder.
  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path

  /// The folder of `vaultd` and `vault`: the release build where `make test` names it, else the one that belongs to
  /// this build of the tests.
  static let binaries =
    ProcessInfo.processInfo.environment["VAULT_BINARIES"]
    ?? URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().path

  static let vaultd = binaries + "/vaultd"
  static let vault = binaries + "/vault"

  /// Whether the programs are the ones that `make build` made.
  static let isReleaseBuild = ProcessInfo.processInfo.environment["VAULT_BINARIES"] != nil

  /// A file of the test support.
  static func support(_ name: String) -> String { "\(root)/Tests/Support/\(name)" }

  /// The text of a file of the project.
  static func text(_ path: String) throws -> String {
    try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
  }
}

/// What tests need root for, and how they get it.
enum Root {
  /// Whether commands can be run as root without a question.
  static let isAvailable =
    geteuid() == 0
    || (try? Spawning.run(["sudo", "-n", "true"], environment: ["PATH": "/usr/bin:/bin"]))?.status == 0

  /// What comes before a command that needs root.
  static let prefix: [String] = geteuid() == 0 ? [] : ["sudo", "-n"]

  /// What is printed where a test is left out for want of it.
  static let wanted = "needs root, or sudo that asks for no password"

  /// Runs a command as root.
  static func run(_ arguments: [String], input: Data = Data(), seconds: Double = 40) throws -> Ended {
    try Spawning.run(
      prefix + arguments, environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"],
      input: input, seconds: seconds)
  }
}
