// The configuration file's form: what is read from it, and what is said of a file that cannot be.

import Foundation
import GLibLoop
import TestSupport
import Testing

@Suite struct ConfigurationFileTests {
  private func read(_ text: String) throws -> ConfigurationFile {
    let folder = try TemporaryFolder()
    let path = folder.path + "/vaultd.conf"
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    return try ConfigurationFile(path: path)
  }

  private func failure(_ text: String) -> ConfigurationFile.Failure? {
    do {
      _ = try read(text)
      return nil
    } catch {
      return error as? ConfigurationFile.Failure
    }
  }

  @Test("keys and values of the group are read in order, comments and other groups are not")
  func entries() throws {
    let file = try read(
      "# ours\n[vaultd]\nstore = auto\ntimeout=5\n\n[other]\nx=1\n[vaultd]\nlog-level=info\n")
    #expect(file.entries.map(\.key) == ["store", "timeout", "log-level"])
    #expect(file.entries.map(\.value) == ["auto", "5", "info"])
    #expect(file.unknownGroups == ["other"])
  }

  @Test("of a key that is there twice, the last value counts")
  func twice() throws {
    let file = try read("[vaultd]\nstore=auto\nstore=file\n")
    #expect(file.entries.map(\.value) == ["file"])
  }

  @Test("an empty file, and one without the group, have no entries")
  func empty() throws {
    #expect(try read("").entries.isEmpty)
    #expect(try read("[x]\ny=z\n").entries.isEmpty)
  }

  @Test("a file that is not there is missing, also below what is no folder")
  func missing() {
    #expect(throws: ConfigurationFile.Failure.missing) {
      try ConfigurationFile(path: "/nonexistent/vaultd.conf")
    }
    #expect(throws: ConfigurationFile.Failure.missing) {
      try ConfigurationFile(path: "/dev/null/vaultd.conf")
    }
  }

  @Test("a folder in its place is no configuration and not missing")
  func folder() {
    #expect { try ConfigurationFile(path: "/") } throws: { $0 as? ConfigurationFile.Failure != .missing }
  }

  @Test(
    "what is not in the form is malformed, and the text names the place",
    arguments: [
      ("store=auto\n", "group"), ("[vaultd]\nno equals sign\n", "no equals sign"),
      ("[vaultd\nstore=auto\n", "[vaultd"),
      ("[vaultd]\nstore=a\\qb\n", "store"),
    ])
  func malformed(text: String, named: String) {
    guard case .malformed(let reason)? = failure(text) else {
      Issue.record("not malformed: \(text)")
      return
    }
    #expect(reason.contains(named))
    #expect(!reason.contains("\n"))
  }
}
