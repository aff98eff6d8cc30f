// An open descriptor that came over a bus, with one owner. What it is for, and when to let go of it, its owner knows.

import CSecret
import Glibc

/// A descriptor from a bus, closed when its owner lets go of it.
public final class BusDescriptor: Sendable {
  /// The number that the kernel knows it by.
  public let number: Int32

  private init(owning number: Int32) {
    self.number = number
  }

  deinit {
    _ = close(number)
  }

  /// The descriptor in the answer `(h)` to a call on `connection`.
  @unsafe static func finish(
    _ connection: OpaquePointer?, _ result: OpaquePointer?
  ) -> Result<BusDescriptor, GLibError> {
    var list: UnsafeMutablePointer<GUnixFDList>?
    var error: UnsafeMutablePointer<GError>?
    guard
      let answer = unsafe g_dbus_connection_call_with_unix_fd_list_finish(connection, &list, result, &error)
    else { return .failure(unsafe GLibError(optional: error)) }
    defer {
      unsafe g_variant_unref(answer)
      if let list = unsafe list { unsafe g_object_unref(list) }
    }
    // A copy, closed on exec; the one in the list goes with the list.
    let number = unsafe g_unix_fd_list_get(list, csecret_handle(answer), &error)
    guard number >= 0 else { return .failure(unsafe GLibError(optional: error)) }
    return .success(BusDescriptor(owning: number))
  }
}
