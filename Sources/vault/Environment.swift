// The variables that this process was started with. A value that is empty counts as not set, as the XDG Base
// Directory Specification has it. What is not UTF-8 is left out.

import Glibc

/// A process's environment.
struct Environment {
  let variables: [(name: String, value: String)]

  /// This process's.
  static var current: Environment {
    var variables: [(name: String, value: String)] = []
    var next = unsafe environ
    while let entry = unsafe next.pointee {
      unsafe next += 1
      guard let text = unsafe String(validatingCString: entry),
        let equals = text.utf8.firstIndex(of: UInt8(ascii: "="))
      else { continue }
      variables.append((String(text[..<equals]), String(text[text.utf8.index(after: equals)...])))
    }
    return Environment(variables: variables)
  }

  /// The value of a variable; `nil` where it is not set or empty.
  subscript(name: String) -> String? {
    guard let value = variables.first(where: { $0.name == name })?.value, !value.isEmpty else { return nil }
    return value
  }
}
