// A folder of a test's own, 0700, gone with the test.

import Foundation

/// An empty folder that is removed when its owner is.
public final class TemporaryFolder: Sendable {
  /// Its path, without a slash at the end.
  public let path: String

  /// Makes one under the system's temporary folder; with `inMemory` where no disk is waited for.
  public init(inMemory: Bool = false) throws {
    let shared = "/dev/shm"
    let parent =
      inMemory && FileManager.default.isWritableFile(atPath: shared)
      ? shared : URL(fileURLWithPath: NSTemporaryDirectory()).path
    path = parent + "/vault-test-" + UUID().uuidString
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }
}
