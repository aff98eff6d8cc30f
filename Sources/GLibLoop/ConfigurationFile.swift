// The daemon's configuration file, read by GLib: a GKeyFile, as systemd's units and desktop files are. It
// knows the file's form and nothing of the settings: which keys there are, and what values they may have, is
// the reader's to judge. Reads once and keeps nothing open. Usable from any thread.

import CSecret

/// The keys and values of the group `[vaultd]` of a file, in the file's order.
public struct ConfigurationFile: Sendable {
  /// Why there is nothing to read.
  public enum Failure: Error, Hashable, Sendable {
    /// There is no such file.
    case missing
    /// The file is there and cannot be read; the reason, in one line, without the path.
    case unreadable(String)
    /// The file is not what it should be; the reason, in one line, without the path.
    case malformed(String)
  }

  /// The group that is ours.
  public static let group = "vaultd"

  /// Keys and values of our group. Of a key that is there twice, the last value counts.
  public let entries: [(key: String, value: String)]

  /// Groups that are not ours, in the file's order: worth a warning.
  public let unknownGroups: [String]

  /// Reads the file at `path`.
  public init(path: String) throws(Failure) {
    guard let file = unsafe g_key_file_new() else { throw .unreadable("no memory") }
    defer { unsafe g_key_file_unref(file) }
    var error: UnsafeMutablePointer<GError>?
    guard unsafe g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, &error) != 0 else {
      guard let error = unsafe error else { throw .unreadable("no reason was given") }
      throw Failure(unsafe GLibError(consuming: error))
    }

    var unknown: [String] = []
    var isThere = false
    for name in unsafe Self.names(g_key_file_get_groups(file, nil)) {
      if name == Self.group { isThere = true } else { unknown.append(name) }
    }
    unknownGroups = unknown

    var entries: [(key: String, value: String)] = []
    if isThere {
      for key in unsafe Self.names(g_key_file_get_keys(file, Self.group, nil, nil)) {
        // GLib names a key once for each line that has it, and has the last value for each.
        if entries.contains(where: { $0.key.utf8.elementsEqual(key.utf8) }) { continue }
        // With a bad escape GLib returns both, an error and what it made of the value.
        let value = unsafe g_key_file_get_string(file, Self.group, key, &error)
        defer { unsafe g_free(value) }
        if let error = unsafe error {
          throw .malformed("\(key): \(unsafe GLibError(consuming: error).message)")
        }
        guard let value = unsafe value else { throw .malformed("\(key): has no value") }
        entries.append((key: key, value: unsafe String(cString: value)))
      }
    }
    self.entries = entries
  }

  /// Takes over a list of strings as GLib returns it.
  private static func names(_ list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> [String] {
    guard let list = unsafe list else { return [] }
    defer { unsafe g_strfreev(list) }
    return unsafe (0..<Int(g_strv_length(list))).compactMap { index in
      unsafe list[index].map { unsafe String(cString: $0) }
    }
  }
}

extension ConfigurationFile.Failure {
  init(_ error: GLibError) {
    guard error.isIn(csecret_file_error()) else {
      self = .malformed(error.message)
      return
    }
    let missing = [G_FILE_ERROR_NOENT.rawValue, G_FILE_ERROR_NOTDIR.rawValue]
    self = missing.contains(UInt32(bitPattern: error.code)) ? .missing : .unreadable(error.message)
  }
}
