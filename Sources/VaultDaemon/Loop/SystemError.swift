// What the kernel said no to, with its number kept. The one place of this module that turns results of system
// calls into errors; what such an error means for the daemon is said where it is caught.

import CLinux

/// A system call that failed.
struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was tried, in a word or two.
  let attempt: String
  /// The error number (errno).
  let code: Int32

  /// The call's name and number, and what the number means.
  init(_ attempt: String, code: Int32) {
    self.attempt = attempt
    self.code = code
  }

  /// What the number means.
  var meaning: String { Self.meaning(of: code) }

  /// What an error number means, in English.
  static func meaning(of code: Int32) -> String { unsafe String(cString: clinux_error_text(code)) }

  var description: String { "\(attempt): \(meaning)" }
}

/// The result of a call that returns the error number as a negative value.
@discardableResult
func check(_ result: Int32, _ attempt: @autoclosure () -> String) throws(SystemError) -> Int32 {
  guard result >= 0 else { throw SystemError(attempt(), code: -result) }
  return result
}
