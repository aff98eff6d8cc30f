// A gnome-keyring with as many items as are wanted. Stored one by one, 10,000 items would take an hour, since the
// keyring writes its whole file for each; so the file is written in the plain form that it has where its password
// is empty (gnome-keyring: pkcs11/secret-store/gkm-secret-textual.c), and the keyring is then given a password, as
// everybody's has one: it writes the file anew, encrypted.

import Foundation

/// The folder of keyrings of a session.
enum Keyring {
  /// Writes a default keyring that an empty password opens, with `count` of the benchmark's entries as items.
  static func write(items count: Int, to folder: String) throws {
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    var text = "[keyring]\ndisplay-name=Login\nctime=0\nmtime=0\nlock-on-idle=false\nlock-after=false\n"
    for number in 0..<count {
      let item = number + 1
      text += "\n[\(item)]\nitem-type=0\ndisplay-name=\(Requests.key(number))\n"
      text += "secret=\(Requests.token(number))\nmtime=1700000000\nctime=1700000000\n"
      let attributes = [
        ("xdg:schema", "org.vaultd.Token"), ("namespace", "Bench"), ("name", Requests.name(number)),
      ]
      for (place, attribute) in attributes.enumerated() {
        text += "\n[\(item):attribute\(place)]\n"
        text += "name=\(attribute.0)\ntype=string\nvalue=\(attribute.1)\n"
      }
    }
    // `login` is the one that is opened as the session begins.
    for (name, contents) in [("login.keyring", text), ("default", "login")] {
      let isMade = FileManager.default.createFile(
        atPath: "\(folder)/\(name)", contents: Data(contents.utf8), attributes: [.posixPermissions: 0o600])
      guard isMade else { throw Failure("\(folder)/\(name) can't be made") }
    }
  }
}
