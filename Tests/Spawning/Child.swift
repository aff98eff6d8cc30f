// A program that a test started: exactly the descriptors, the environment and the folder that the
// test names, and nothing of the test process. Every test that runs a program does it by this, and no wait for one is
// without a limit. Foundation's Process is not used: it races with other threads that open files, and waits for ever.

import CSpawn
import Foundation
import Glibc

/// What stops a test: the machine does not do what every test needs.
public struct HarnessFailure: Error, CustomStringConvertible {
  public let description: String

  public init(_ description: String) {
    self.description = description
  }
}

/// A running program. Whoever starts one ends it.
public final class Child {
  /// Its process.
  public let pid: pid_t
  /// Exit status, or 128 and the signal's number, once it was seen to have ended.
  public private(set) var status: Int32?
  /// The signal that ended it, if one did.
  public private(set) var signal: Int32?

  /// Starts `arguments[0]`, looked up on PATH where it is no path.
  /// `environment` is all of the program's environment, `folder` is where it starts, `descriptors` become its standard
  /// input, output and error and stay open here.
  public init(
    _ arguments: [String], environment: [String: String], folder: String = "/",
    descriptors: (input: Int32, output: Int32, errors: Int32)
  ) throws {
    let started = unsafe withCStrings(arguments) { arguments in
      unsafe withCStrings(environment.map { "\($0)=\($1)" }) { environment in
        unsafe cspawn(
          arguments, environment, folder, descriptors.input, descriptors.output, descriptors.errors)
      }
    }
    guard started > 0 else {
      throw HarnessFailure(
        "\(arguments.first ?? "nothing") does not start: \(unsafe String(cString: strerror(-started)))")
    }
    pid = started
  }

  /// Looks whether it has ended.
  public func look() -> Int32? {
    if let status { return status }
    var raw: Int32 = 0
    guard unsafe waitpid(pid, &raw, WNOHANG) == pid else { return nil }
    let number = raw & 0x7f
    if number != 0 { signal = number }
    status = number == 0 ? (raw >> 8) & 0xff : 128 + number
    return status
  }

  /// Waits for its end.
  /// - Throws: where it goes on beyond the limit; it is killed then.
  @discardableResult
  public func wait(seconds: Double = 20) throws -> Int32 {
    if let status = eventually(seconds: seconds, { look() }) { return status }
    killNow()
    throw HarnessFailure("process \(pid) did not end within \(seconds) s")
  }

  /// Sends a signal, if it hasn't ended.
  public func kill(_ signal: Int32) {
    if look() == nil { Glibc.kill(pid, signal) }
  }

  /// Ends it in order, or by force where it takes longer than 5 s.
  public func end() {
    kill(SIGTERM)
    if eventually(seconds: 5, { look() }) == nil { killNow() }
  }

  /// Ends it by force, and sees that it has ended.
  public func killNow() {
    kill(SIGKILL)
    _ = eventually(seconds: 5) { look() }
  }
}

/// Asks again and again until there is an answer: no test sleeps for a time that it hopes to be enough.
/// - Returns: the answer; `nil` where none came in time.
public func eventually<Answer>(seconds: Double = 10, _ ask: () throws -> Answer?) rethrows -> Answer? {
  let end = ContinuousClock.now + .seconds(seconds)
  while true {
    if let answer = try ask() { return answer }
    guard ContinuousClock.now < end else { return nil }
    usleep(5_000)
  }
}

/// Waits until something holds.
/// - Returns: whether it came to hold in time.
public func becomesTrue(seconds: Double = 10, _ holds: () throws -> Bool) rethrows -> Bool {
  try eventually(seconds: seconds) { try holds() ? true : nil } ?? false
}

/// Lends `strings` as C has them: an array with a null at its end.
private func withCStrings<Result>(
  _ strings: [String], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  let copies = unsafe strings.map { unsafe strdup($0) } + [nil]
  defer { unsafe copies.forEach { unsafe free($0) } }
  return unsafe copies.withUnsafeBufferPointer { buffer in
    // An array that ends with a null is never empty.
    unsafe body(buffer.baseAddress.unsafelyUnwrapped)
  }
}
