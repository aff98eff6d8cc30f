// What GLib says when something fails, taken out of its GError: domain and code, the name of the error as
// it went over the bus, and the text. Every caller in this module turns a GError into this and frees it;
// what it means for a request is decided elsewhere.

import CSecret

/// A failure that GLib, GIO or the other end of the bus reported.
public struct GLibError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The domain's name, as `g-io-error-quark`.
  public let domain: String
  /// The number within the domain.
  public let code: Int32
  /// The error's name on the bus, where it came from there, as `org.freedesktop.Secret.Error.IsLocked`.
  public let remoteName: String?
  /// GLib's text, in one line, without the prefix that repeats the name.
  public let message: String

  /// A failure with these parts.
  public init(domain: String, code: Int32, remoteName: String? = nil, message: String) {
    self.domain = domain
    self.code = code
    self.remoteName = remoteName
    self.message = message
  }

  /// Takes over `error` and frees it.
  @unsafe public init(consuming error: UnsafeMutablePointer<GError>) {
    let name = unsafe g_dbus_error_get_remote_error(error)
    remoteName = unsafe name.map { unsafe String(cString: $0) }
    unsafe g_free(name)
    _ = unsafe g_dbus_error_strip_remote_error(error)
    domain = unsafe g_quark_to_string(error.pointee.domain).map { unsafe String(cString: $0) } ?? ""
    code = unsafe error.pointee.code
    let text = unsafe error.pointee.message.map { unsafe String(cString: $0) } ?? "no text"
    message = String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
    unsafe g_error_free(error)
  }

  /// Takes over what a function of GLib left in its last argument, and frees it.
  @unsafe public init(optional error: UnsafeMutablePointer<GError>?) {
    if let error = unsafe error {
      unsafe self.init(consuming: error)
    } else {
      self.init(domain: "", code: 0, message: "no reason was given")
    }
  }

  /// The text with domain and code behind it, as `… (g-dbus 20)`.
  public var description: String {
    let short = domain.hasSuffix("-error-quark") ? String(domain.dropLast(12)) : domain
    return "\(message) (\(short) \(code))"
  }

  /// Whether it says that the connection to the bus is lost.
  public var isConnectionLost: Bool {
    let codes = [
      G_IO_ERROR_CLOSED, G_IO_ERROR_BROKEN_PIPE, G_IO_ERROR_NOT_CONNECTED,
    ]
    return isIn(csecret_io_error()) && codes.contains { Int32(bitPattern: $0.rawValue) == code }
  }

  /// Whether the error is of the domain of `quark`.
  func isIn(_ quark: GQuark) -> Bool {
    let name = unsafe g_quark_to_string(quark).map { unsafe String(cString: $0) }
    return name == domain
  }
}
