// The thread that calls waits itself: how a call is driven by a program without concurrency.

import Glibc
import VaultModel
import VaultWire

extension Exchange {
  /// Drives the call to its end.
  mutating func wait() -> Result<Reply, VaultError> {
    while true {
      switch advance() {
      case .finished(let result): return result
      case .waits(let end): _ = poll(descriptors, until: end)
      }
    }
  }
}

/// Waits until a descriptor is ready.
/// - Returns: the descriptors with what they are ready for; of none, where the time is over or a signal came.
func poll(_ wanted: [pollfd], until end: Deadline?) -> [pollfd] {
  var wanted = wanted
  _ = unsafe wanted.withUnsafeMutableBufferPointer { wanted in
    // What is wrong, if anything is, is told by the call that follows.
    unsafe Glibc.poll(wanted.baseAddress, nfds_t(wanted.count), end.map { Int32(clamping: $0.left) } ?? -1)
  }
  return wanted
}

extension SetRequest {
  /// Refuses a secret over the limit before anything is sent.
  func checkSize() throws(VaultError) {
    guard secret.count <= Limits.secretBytes else {
      throw .tooLarge(size: secret.count, limit: Limits.secretBytes)
    }
  }
}
