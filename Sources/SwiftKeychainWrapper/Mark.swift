// The label of what was stored through the wrapper: by it `allKeys` and `removeAllKeys` know their own, and a person
// sees in the keyring's window where an item comes from. Holds the name of the service and how accessible the
// program wanted the value; never the value.

import VaultClient

/// What a label says.
struct Mark: Equatable {
  /// The service whose wrapper stored the value.
  var service: String
  /// What was asked for.
  var accessibility: KeychainItemAccessibility

  private static let prefix = "SwiftKeychainWrapper: "
  private static let separator = ", "

  init(service: String, accessibility: KeychainItemAccessibility) {
    self.service = service
    self.accessibility = accessibility
  }

  /// Reads a label; `nil` where it is not one of this service's.
  init?(label: String?, of service: String) {
    for accessibility in KeychainItemAccessibility.allCases {
      self.init(service: service, accessibility: accessibility)
      if let label, self.label.utf8.elementsEqual(label.utf8) { return }
    }
    return nil
  }

  /// Whether any wrapper wrote this label.
  static func isMark(_ label: String?) -> Bool {
    guard let rest = label?.hasExactPrefix(prefix) else { return false }
    return KeychainItemAccessibility.allCases.contains { rest.hasSuffix(separator + $0.rawValue) }
  }

  /// The label: one line, of at most 1,024 bytes where the service's keys are short enough to be stored at all.
  var label: String {
    Self.prefix + (StoredKey(service: service).namespace ?? service) + Self.separator + accessibility.rawValue
  }
}
