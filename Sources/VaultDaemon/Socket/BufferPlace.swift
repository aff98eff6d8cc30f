// Where a buffer is while nobody works with it: what came in and is no whole frame yet, answers that were not taken, the
// buffers that the server lends. Says how much it holds without touching it: that is asked several times a request.

import SecretMemory
import VaultCore

/// A place for one buffer, or none.
@VaultActor
final class BufferPlace {
  private var buffer: SecretBuffer?

  /// Whether no buffer is here.
  private(set) var isEmpty = true
  /// How many bytes the buffer holds that is here.
  private(set) var count = 0
  /// How many bytes it reserves.
  private(set) var capacity = 0

  /// Puts a buffer here, in place of the one that may be.
  func put(_ buffer: consuming SecretBuffer) {
    (isEmpty, count, capacity) = (false, buffer.count, buffer.capacity)
    // What was here ends when nobody holds the place any more: so it can be seen that nothing else reaches it meanwhile.
    var other: SecretBuffer? = consume buffer
    swap(&self.buffer, &other)
  }

  /// Takes out the buffer that is here.
  func take() -> SecretBuffer? {
    if isEmpty { return nil }
    (isEmpty, count, capacity) = (true, 0, 0)
    return buffer.take()
  }

  /// Wipes and drops what is here.
  func clear() {
    _ = take()
  }
}
