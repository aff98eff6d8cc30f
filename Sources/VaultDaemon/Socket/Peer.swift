// Who is at the other end of a connection, as the kernel says. The uid decides, before a byte is read; the program
// and its unit are for the log alone, because a process can change them. Trusts nothing that the peer says itself.

import CLinux
import Glibc
import VaultCore
import VaultModel

/// The process at the other end of a connection.
@VaultActor
final class Peer {
  /// The process that connected.
  let pid: Int32
  /// Its user, when it connected.
  let user: UInt32

  /// The path of its program; `?` where it cannot be told.
  private(set) lazy var executable = Self.executable(of: pid)

  /// The systemd unit that it runs in; empty where there is none.
  private(set) lazy var unit = Self.unit(of: pid)

  /// Asks the kernel.
  init(of socket: Int32) throws(SystemError) {
    var found = clinux_credentials()
    try check(unsafe clinux_socket_peer(socket, &found), "getsockopt(SO_PEERCRED)")
    pid = found.pid
    user = found.uid
  }

  /// Whether it is of the user that this process runs as. Root is another user.
  var isOurUser: Bool { user == geteuid() }

  private static func executable(of pid: Int32) -> String {
    var path = [CChar](repeating: 0, count: Limits.pathBytes + 1)
    let count = unsafe path.withUnsafeMutableBufferPointer { buffer in
      unsafe clinux_process_executable(pid, buffer.baseAddress, buffer.count)
    }
    guard count > 0 else { return "?" }
    return String(decoding: path.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The last service or scope in the path of the process's control group (cgroups(7)).
  private static func unit(of pid: Int32) -> String {
    let descriptor = unsafe open("/proc/\(pid)/cgroup", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    let file = Descriptor(owning: descriptor)
    var bytes = [UInt8](repeating: 0, count: Limits.pathBytes)
    let count = unsafe bytes.withUnsafeMutableBytes { unsafe read(file.number, $0.baseAddress, $0.count) }
    guard count > 0 else { return "" }
    return unit(in: String(decoding: bytes.prefix(count), as: UTF8.self))
  }

  /// Finds the unit in the text of `/proc/PID/cgroup`.
  static func unit(in text: String) -> String {
    for line in text.split(separator: "\n") where line.hasPrefix("0::") || line.contains(":name=systemd:") {
      let parts = line.split(separator: "/")
      if let unit = parts.last(where: { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }) {
        return String(unit)
      }
    }
    return ""
  }
}
