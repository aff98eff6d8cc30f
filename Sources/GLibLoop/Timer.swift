// One alarm on the bus's thread. Used by everything there that waits with a limit.

import CSecret

/// Calls a closure once, at a deadline, unless it is stopped or let go of before.
@GLibActor
@safe public final class Timer {
  // The source belongs to the context until it fired or was destroyed; this holds a reference of its own.
  private var source: UnsafeMutablePointer<GSource>?

  /// Calls `ring` at `deadline`.
  public init(_ deadline: Deadline, _ ring: @escaping @GLibActor () -> Void) {
    guard let source = unsafe g_timeout_source_new(deadline.millisecondsLeft) else { return }
    let box = Alarm(ring: ring)
    unsafe g_source_set_callback(
      source,
      { data in
        guard let data = unsafe data else { return 0 }
        let alarm = unsafe Unmanaged<Alarm>.fromOpaque(data).takeUnretainedValue()
        GLibActor.assumeIsolated { alarm.ring() }
        return 0  // G_SOURCE_REMOVE: once
      }, Unmanaged.passRetained(box).toOpaque(),
      { data in
        if let data = unsafe data { unsafe Unmanaged<Alarm>.fromOpaque(data).release() }
      })
    unsafe GLibActor.executor.context.attach(source)
    unsafe self.source = unsafe source
  }

  isolated deinit { stop() }

  /// Makes sure that it does not ring any more.
  public func stop() {
    guard let source = unsafe source else { return }
    unsafe self.source = nil
    unsafe g_source_destroy(source)
    unsafe g_source_unref(source)
  }

  private final class Alarm: Sendable {
    let ring: @GLibActor () -> Void
    init(ring: @escaping @GLibActor () -> Void) { self.ring = ring }
  }
}
