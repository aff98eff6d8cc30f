// What a daemon that the command starts gets of the caller, and when none is started.

import Foundation
import Spawning
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

  @Test("a daemon has a session of its own, and nothing of the caller's but what it is given")
  func launch() throws {
    let folder = try TemporaryFolder()
    let program = folder.path + "/vaultd"
    let report = folder.path + "/report"
    let script = """
      #!/bin/sh
      # Before the shell starts anything: for that it opens pipes and blocks signals.
      for fd in 0 1 2 3 4 5 6 7 8 9; do [ -e /proc/$$/fd/$fd ] && open="$open $fd"; done
      while read -r name value; do case $name in SigBlk:|SigIgn:) signals="$signals $value";; esac; done \
        < /proc/$$/status
      {
        env; echo "cwd $(pwd)"; echo "umask $(umask)"
        echo "open$open, $(readlink /proc/$$/fd/0)"
        # Of stat(5): process, parent, group, session.
        read -r pid name state parent group session rest < /proc/$$/stat
        echo "leads $((pid == session))"
        echo "signals$signals"
      } > \(report).new 2>&1
      mv \(report).new \(report)
      """
    try Data(script.utf8).write(to: URL(filePath: program))
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
    let open = try FileHandle(forReadingFrom: URL(filePath: program))
    defer { try? open.close() }
    #expect(Autostart.launch(program, environment: ["PATH=/usr/bin:/bin", "VAULTD_X=1"]) == 0)
    try #require(becomesTrue { FileManager.default.fileExists(atPath: report) })
    let lines = String(decoding: FileManager.default.contents(atPath: report) ?? Data(), as: UTF8.self)
      .split(separator: "\n").map(String.init)
    #expect(lines.contains("VAULTD_X=1"))
    #expect(lines.contains("cwd /"))
    #expect(lines.contains("umask 0077"))
    #expect(lines.contains("open 0 1 2, /dev/null"))
    #expect(lines.contains("leads 1"))
    // None blocked and none ignored, but one or two that glibc keeps to itself and lets nobody change.
    let signals = lines.last?.split(separator: " ").dropFirst().compactMap { UInt64($0, radix: 16) }
    #expect(signals?.map { $0 & ~(3 << 31) } == [0, 0])
  }

  @Test("a program that cannot be executed is an error at once")
  func cannotLaunch() throws {
    let folder = try TemporaryFolder()
    #expect(Autostart.launch(folder.path + "/none", environment: []) == -ENOENT)
    #expect(Autostart.launch(folder.path, environment: []) == -EACCES)
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
