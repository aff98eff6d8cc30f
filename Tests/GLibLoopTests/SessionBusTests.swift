// Where the session bus is looked for: the address that is given, else where systemd puts it, and never a bus
// of our own making.

import Testing

@testable import GLibLoop

@Suite struct SessionBusTests {
  @Test("an address that is given is used as it is")
  func given() {
    let address = "unix:path=/x/bus;tcp:host=y"
    #expect(SessionBus.address(given: address, runtimeFolder: "/run/user/5", user: 5) == address)
  }

  @Test(
    "without one, and where it would start a bus, the sockets of the runtime folder and of /run/user are tried",
    arguments: [nil, "", "autolaunch:", "autolaunch:scope=*user;unix:path=/x"])
  func absent(given: String?) {
    #expect(
      SessionBus.address(given: given, runtimeFolder: "/my run", user: 5)
        == "unix:path=/my%20run/bus;unix:path=/run/user/5/bus")
    for folder in [nil, "", "relative", "/run/user/5"] {
      #expect(
        SessionBus.address(given: given, runtimeFolder: folder, user: 5) == "unix:path=/run/user/5/bus")
    }
  }
}
