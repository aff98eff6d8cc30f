// What there is to say of a buffer that may not be there.

import SecretMemory

// Through `?.` a debug build of Swift 6.3 sees what `take()` has moved out as if it were still there; `switch` and
// comparing with `nil` don't.
extension Optional<SecretBuffer> {
  /// Bytes in the buffer, if there is one.
  var count: Int {
    switch self {
    case .some(let buffer): buffer.count
    case .none: 0
    }
  }

  /// Bytes that the buffer reserves, if there is one.
  var capacity: Int {
    switch self {
    case .some(let buffer): buffer.capacity
    case .none: 0
    }
  }
}
