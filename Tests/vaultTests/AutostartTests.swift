// What a daemon that the command starts gets of the caller, and when none is started.

import Foundation
import TestSupport
import Testing

@testable import vault

@Suite struct AutostartTests {
  @Test("a daemon gets the few variables that it needs and no other")
  func environment() {
    let names = [
      "HOME", "PATH", "LANG", "XDG_RUNTIME_DIR", "XDG_X", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY",
      "WAYLAND_DISPLAY",
      "VAULTD_SOCKET", "VAULTD_DATA_DIR",
    ]
    let others = [
      "VAULTD_AUTOSTART", "LD_PRELOAD", "SECRET", "LC_ALL", "XAUTHORITY", "HOMES", "MY_PATH", "xdg_x",
      "SSH_AUTH_SOCK",
    ]
    let environment = Environment(variables: (others + names).map { ($0, "/v=1") })
    #expect(Autostart.filtered(environment) == names.map { "\($0)=/v=1" })
  }

  @Test("a socket without a root is the same place for the daemon")
  func relative() {
    let environment = Environment(variables: [("VAULTD_SOCKET", "a/b.sock")])
    let folder = FileManager.default.currentDirectoryPath
    #expect(Autostart.filtered(environment) == ["VAULTD_SOCKET=\(folder)/a/b.sock"])
  }

  @Test("systemd starts the daemon where the user's systemd runs and vaultd.socket is enabled")
  func systemd() throws {
    let folder = try TemporaryFolder()
    let files = FileManager.default
    let environment = Environment(variables: [
      ("XDG_RUNTIME_DIR", folder.path + "/run"), ("XDG_CONFIG_HOME", folder.path + "/config"),
      ("HOME", folder.path),
    ])
    #expect(Autostart.enabledUnit(environment) == nil)
    let wants = folder.path + "/config/systemd/user/sockets.target.wants"
    try files.createDirectory(atPath: wants, withIntermediateDirectories: true)
    // A link into nowhere counts: systemctl enable makes links, and what they point at is systemd's business.
    try files.createSymbolicLink(
      atPath: wants + "/vaultd.socket", withDestinationPath: folder.path + "/vaultd.socket")
    #expect(Autostart.enabledUnit(environment) == nil)
    try files.createDirectory(atPath: folder.path + "/run/systemd/private", withIntermediateDirectories: true)
    #expect(Autostart.enabledUnit(environment) == wants + "/vaultd.socket")
  }
}
