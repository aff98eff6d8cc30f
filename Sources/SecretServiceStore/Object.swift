// The objects of the Secret Service API 0.2 (freedesktop.org, "Secret Service API Draft"): each is a path on
// the bus and the interface that it is called by.

/// An object of the provider.
struct Object {
  let path: String
  let interface: String

  /// The one at which everything begins.
  static let service = Object(path: "/org/freedesktop/secrets", interface: "org.freedesktop.Secret.Service")

  /// A collection of items: a keyring, a wallet.
  static func collection(_ path: String) -> Object {
    Object(path: path, interface: "org.freedesktop.Secret.Collection")
  }

  /// An item.
  static func item(_ path: String) -> Object { Object(path: path, interface: "org.freedesktop.Secret.Item") }

  /// A session.
  static func session(_ path: String) -> Object {
    Object(path: path, interface: "org.freedesktop.Secret.Session")
  }

  /// A question to the user that waits to be asked.
  static func prompt(_ path: String) -> Object {
    Object(path: path, interface: "org.freedesktop.Secret.Prompt")
  }

  /// What stands for "no object", as where no prompt is needed.
  static let none = "/"
}
