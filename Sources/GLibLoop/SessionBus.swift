// Where the user's session bus is. GLib, left to itself, starts one (`dbus-launch`) where it finds none and
// there is a display: a bus that nobody else is on. So it is always told an address, and where there is no
// bus the connection fails and can be tried again.

import CSecret
import Glibc

/// The user's session bus.
public enum SessionBus {
  private static let variable = "DBUS_SESSION_BUS_ADDRESS"

  /// Makes sure that every connection of this process goes to a bus that is there already. Changes the
  /// environment: call it once, before there are threads.
  public static func findAddress() {
    let address = address(
      given: unsafe g_getenv(variable).map { unsafe String(cString: $0) },
      runtimeFolder: unsafe g_getenv("XDG_RUNTIME_DIR").map { unsafe String(cString: $0) }, user: getuid())
    _ = unsafe g_setenv(variable, address, 1)
  }

  /// The address to use: what is `given`, unless that is nothing or asks for a bus to be started; else the
  /// sockets where systemd and its likes put a user's bus, the first that answers (D-Bus Specification,
  /// "Server Addresses": addresses in a row are tried in turn). They need not be there yet.
  static func address(given: String?, runtimeFolder: String?, user: uid_t) -> String {
    if let given, !given.isEmpty,
      !given.split(separator: ";").contains(where: { $0.hasPrefix("autolaunch:") })
    {
      return given
    }
    var folders = ["/run/user/\(user)"]
    if let runtimeFolder, runtimeFolder.hasPrefix("/"), runtimeFolder != folders[0] {
      folders.insert(runtimeFolder, at: 0)
    }
    return folders.map { "unix:path=\(escaped($0 + "/bus"))" }.joined(separator: ";")
  }

  private static func escaped(_ path: String) -> String {
    guard let text = unsafe g_dbus_address_escape_value(path) else { return path }
    defer { unsafe g_free(text) }
    return unsafe String(cString: text)
  }
}
