// The isolation of everything that speaks to a bus: one thread that runs a GLib main context and the jobs of
// this actor in turn. GLib delivers its answers and signals there, so whoever is on this actor is where they
// arrive. It never waits for a single answer: a call that hangs holds up its own caller and nobody else.

import CSecret
import Synchronization

/// Isolates bus connections and what is built on them.
@globalActor
public actor GLibActor {
  public static let shared = GLibActor()

  static let executor = GLibExecutor()

  nonisolated public var unownedExecutor: UnownedSerialExecutor {
    unsafe Self.executor.asUnownedSerialExecutor()
  }

  /// Runs `body`, which belongs to this actor, from a C callback that GLib made on the actor's thread. Traps
  /// on any other thread.
  static func assumeIsolated(_ body: @GLibActor () -> Void) {
    shared.preconditionIsolated()
    // What MainActor.assumeIsolated does: the isolation is checked above, so dropping it from the type only
    // takes from the compiler what was proven to the runtime.
    withoutActuallyEscaping(body) { body in
      unsafe unsafeBitCast(body, to: (() -> Void).self)()
    }
  }
}

/// The thread: jobs that were handed over, then one turn of the main context, for ever.
final class GLibExecutor: SerialExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  /// The main context that the thread runs; what is attached to it is called on the thread.
  @safe let context: MainContext

  init() {
    context = MainContext()
    // The executor lives as long as the process: the reference that the thread holds is never given back.
    let executor = unsafe Unmanaged.passRetained(self).toOpaque()
    let thread = unsafe g_thread_new(
      "bus",
      { data in
        if let data = unsafe data {
          unsafe Unmanaged<GLibExecutor>.fromOpaque(data).takeUnretainedValue().run()
        }
        return nil
      }, executor)
    unsafe g_thread_unref(thread)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    context.wakeUp()
  }

  func checkIsolated() {
    precondition(context.isOwnedByThisThread, "not on the thread of the bus")
  }

  func isIsolatingCurrentContext() -> Bool? {
    context.isOwnedByThisThread
  }

  private func run() {
    context.takeOver()
    while true {
      let ready = jobs.withLock { jobs in
        let ready = jobs
        jobs = []
        return ready
      }
      for job in ready { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
      // A job that is enqueued from here on wakes the context up, also before it began to wait.
      context.iterate()
    }
  }
}

/// The owner of a GMainContext.
@safe final class MainContext: Sendable {
  // GMainContext may be used from any thread (GLib, "The Main Event Loop"); it is set once.
  nonisolated(unsafe) private let pointer = unsafe g_main_context_new()

  deinit {
    unsafe g_main_context_unref(pointer)
  }

  /// Whether the calling thread is the one that runs it.
  var isOwnedByThisThread: Bool { unsafe g_main_context_is_owner(pointer) != 0 }

  /// Makes the calling thread the one that runs it; what the thread starts in GLib is answered in it.
  func takeOver() { unsafe g_main_context_push_thread_default(pointer) }

  /// Waits until there is something to do, and does it.
  func iterate() { unsafe _ = g_main_context_iteration(pointer, 1) }

  /// Ends a wait that is going on, or the next one.
  func wakeUp() { unsafe g_main_context_wakeup(pointer) }

  /// Calls `source` on the thread, as the source sees fit.
  @unsafe func attach(_ source: UnsafeMutablePointer<GSource>) { unsafe _ = g_source_attach(source, pointer) }
}
