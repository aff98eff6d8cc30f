// The file layer (SQLite's VFS) that every database of ours is opened through: the system's own, with page
// gaps zeroed on their way to the file and logs synced when they were cut. Tests put a layer that fails
// beneath it.

import CSQLite
import Synchronization

/// A file layer, by the name under which SQLite knows it.
public struct FileLayer: Sendable {
  let name: StaticString

  /// The layer over the system's files.
  public static let system = FileLayer("vault", over: "unix")

  /// A layer called `name` over the registered layer `base`. Registered once for the life of the process.
  public init(_ name: StaticString, over base: StaticString) {
    self.name = name
    registered.withLock { names in
      guard names.insert("\(name)").inserted else { return }
      _ = csqlite_start()
      let code = unsafe csqlite_register_layer(cText(name), cText(base))
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
