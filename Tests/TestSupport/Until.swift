// What a test waits for while others go on: it comes in time, or the test fails and says what did not come. No test
// hangs in here, and none sleeps for a time that it hopes to be enough.

/// What a test waited for in vain.
public struct NeverCame: Error, CustomStringConvertible {
  public let description: String
}

/// Lets other tasks run until `holds` does; `what` says what that is.
/// - Throws: where it does not come to hold in time.
public func until(
  _ what: String, seconds: Int = 60, isolation: isolated (any Actor)? = #isolation,
  _ holds: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + .seconds(seconds)
  while try await !holds() {
    guard ContinuousClock.now < end else {
      throw NeverCame(description: "never came within \(seconds) s: \(what)")
    }
    await Task.yield()
  }
}
