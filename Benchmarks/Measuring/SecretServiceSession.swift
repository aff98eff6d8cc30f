// A session bus of the benchmark's own with an unlocked gnome-keyring on it that holds some tokens, for
// `secret-tool lookup` and other programs that use libsecret, and for the daemon where it serves the Secret Service.

import Foundation

/// Bus and keyring, with no display and no person.
package final class SecretServiceSession {
  /// The address of the bus.
  package let address: String
  /// What a program in this session has as environment.
  package let environment: [String: String]
  private let items: Int
  private let workshop: Workshop
  private let bus: Child
  private let keyring: Child

  /// Starts a session whose keyring has `items` items, the entries of the numbers below.
  package init(items: Int, in workshop: Workshop) throws {
    self.workshop = workshop
    self.items = items
    let home = try workshop.makeFolder("session-\(items)-\(UUID().uuidString.prefix(8))")
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
    try Keyring.write(items: items, to: "\(home)/keyrings")
    bus = try Child(
      "dbus-daemon", ["--config-file=\(home)/bus.conf", "--nofork", "--nopidfile"], in: workshop,
      environment: environment)
    guard isThere({ FileManager.default.fileExists(atPath: "\(home)/bus") }) else {
      throw Failure("the bus did not come up")
    }
    keyring = try Child(
      "gnome-keyring-daemon",
      ["--foreground", "--components=secrets", "--control-directory=\(home)/control"],
      in: workshop, environment: environment)
    let libsecret = try workshop.tool("libsecret")
    let environment = environment
    let count = ["count"]
    guard isThere({ (try? output(of: libsecret, count, environment: environment)) == "\(items) 0\n" }) else {
      throw Failure("the keyring did not come up with \(items) items")
    }
    try output(of: libsecret, ["seal", "bench"], environment: environment)
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "\(home)/keyrings/login.keyring"))
    let head = try file.read(upToCount: 12) ?? Data()
    guard head == Data("GnomeKeyring".utf8) else { throw Failure("the keyring did not encrypt its file") }
    try check()
  }

  /// Whether all items are there, and open, and no other ones.
  private func check() throws {
    let count = try output(of: try workshop.tool("libsecret"), ["count"], environment: environment)
    guard count == "\(items) \(items)\n" else { throw Failure("of \(items) items, and open ones: \(count)") }
  }

  /// The median time of libsecret's own look-up, or store, of an item that is there, in milliseconds.
  package func libsecret(_ what: LibsecretCall, times: Int) throws -> Double {
    let took = try nanoseconds(
      try workshop.tool("libsecret"),
      [what.rawValue, String(workshop.serverCPU), String(times), String(items)],
      environment: environment)
    try check()
    return took / 1e6
  }
}

/// What a program with libsecret does.
package enum LibsecretCall: String {
  case lookup = "get"
  case store = "set"
}

/// Waits 30 s at most.
private func isThere(_ holds: () -> Bool) -> Bool {
  for _ in 0..<300 {
    if holds() { return true }
    usleep(100_000)
  }
  return false
}
