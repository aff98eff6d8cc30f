// A session bus of the benchmark's own with an unlocked gnome-keyring on it that holds one token, for
// `secret-tool lookup`, and for the daemon's memory where it serves the Secret Service.

import Foundation

/// Bus and keyring, with no display and no person.
final class SecretServiceSession {
  /// The address of the bus.
  let address: String
  /// What a program in this session has as environment.
  let environment: [String: String]
  private let bus: Child
  private let keyring: Child

  init(in workshop: Workshop) throws {
    let home = try workshop.makeFolder("session")
    address = "unix:path=\(home)/bus"
    environment = [
      "HOME": home, "XDG_RUNTIME_DIR": home, "XDG_DATA_HOME": home, "DBUS_SESSION_BUS_ADDRESS": address,
    ]
    // No service folders: the bus starts nothing that would outlive the run.
    let configuration = """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <type>session</type><listen>\(address)</listen><auth>EXTERNAL</auth>
        <policy context="default">
          <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
        </policy>
      </busconfig>
      """
    try Data(configuration.utf8).write(to: URL(fileURLWithPath: "\(home)/bus.conf"))
    bus = try Child(
      "dbus-daemon", ["--config-file=\(home)/bus.conf", "--nofork", "--nopidfile"], in: workshop,
      environment: environment)
    try Self.wait("the bus") { FileManager.default.fileExists(atPath: "\(home)/bus") }
    // The keyring must be unlocked before anybody calls its name.
    keyring = try Child(
      "gnome-keyring-daemon",
      ["--foreground", "--unlock", "--components=secrets", "--control-directory=\(home)/keyring"],
      in: workshop, environment: environment, input: "bench")
    let environment = environment
    try Self.wait("the keyring") {
      (try? output(
        of: "secret-tool", ["store", "--label=bench", "namespace", "Bench", "name", "token"],
        environment: environment, input: Requests.token(1))) != nil
    }
  }

  private static func wait(_ what: String, until holds: () -> Bool) throws {
    for _ in 0..<300 {
      if holds() { return }
      usleep(100_000)
    }
    throw Failure("\(what) did not come up")
  }
}
