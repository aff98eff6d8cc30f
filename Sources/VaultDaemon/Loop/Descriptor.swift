// One open descriptor with one owner. Below everything that the daemon opens by itself.

import Glibc

/// A file descriptor, closed at the end of its owner's life.
struct Descriptor: ~Copyable, Sendable {
  /// The number that the kernel knows it by.
  let number: Int32

  /// Takes over an open descriptor.
  init(owning number: Int32) {
    self.number = number
  }

  deinit {
    // Linux has closed it whatever close returns; trying again could close somebody else's.
    _ = close(number)
  }
}
