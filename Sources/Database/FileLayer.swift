// The file layers (SQLite's VFS) that databases of ours are opened through. Nearly always the system's own, with
// page gaps zeroed on their way to the file and logs synced when they were cut; tests put a layer that fails
// beneath it. Beside it a view of a file as it would be found after a crash.

import CSQLite
import Synchronization

/// A file layer, by the name under which SQLite knows it.
public struct FileLayer: Sendable {
  let name: StaticString

  /// The layer over the system's files.
  public static let system = FileLayer("vault", over: "unix")

  /// The system's files as a process would find them that starts after this one was killed: the log counts as far
  /// as it can be checked, and what this process knows of it counts for nothing. For reading, by a connection that
  /// nobody writes beside.
  static let crashView = FileLayer("vault-crash-view", over: "unix", isCrashView: true)

  /// The layer called `name` over the registered layer `base`. Registered once for the life of the process.
  public init(_ name: StaticString, over base: StaticString) {
    self.init(name, over: base, isCrashView: false)
  }

  private init(_ name: StaticString, over base: StaticString, isCrashView: Bool) {
    self.name = name
    registered.withLock { names in
      guard names.insert("\(name)").inserted else { return }
      _ = csqlite_start()
      let code =
        isCrashView
        ? unsafe csqlite_register_crash_view(cText(name), cText(base))
        : unsafe csqlite_register_layer(cText(name), cText(base))
      precondition(code == SQLITE_OK, "SQLite has no file layer \(base)")
    }
  }

  /// The name as C text. A static string ends with a zero byte.
  @unsafe var text: UnsafePointer<CChar> { unsafe cText(name) }
}

private let registered = Mutex<Set<String>>([])

@unsafe private func cText(_ string: StaticString) -> UnsafePointer<CChar> {
  unsafe UnsafeRawPointer(string.utf8Start).assumingMemoryBound(to: CChar.self)
}
