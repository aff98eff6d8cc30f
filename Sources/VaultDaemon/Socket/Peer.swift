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
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: Limits.pathBytes + 1) { path in
      let count = unsafe clinux_process_executable(pid, path.baseAddress, path.count)
      guard count > 0 else { return "?" }
      return unsafe String(decoding: UnsafeRawBufferPointer(path).prefix(Int(count)), as: UTF8.self)
    }
  }

  private static func unit(of pid: Int32) -> String {
    let descriptor = unsafe open("/proc/\(pid)/cgroup", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return "" }
    let file = Descriptor(owning: descriptor)
    return unsafe withUnsafeTemporaryAllocation(byteCount: Limits.pathBytes, alignment: 1) { bytes in
      let count = unsafe read(file.number, bytes.baseAddress, bytes.count)
      return unsafe unit(in: bytes.prefix(max(0, count)))
    }
  }

  /// Finds the last service or scope in the path of a control group, in the text of `/proc/PID/cgroup` (cgroups(7)).
  /// Reads bytes and no characters: this is done for every connection before its first answer.
  static func unit(in text: some Collection<UInt8>) -> String {
    for line in text.split(separator: UInt8(ascii: "\n")) {
      // ID:CONTROLLERS:PATH; systemd's own hierarchy has no controllers or its name.
      let fields = line.split(
        separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3, fields[1].isEmpty || fields[1].elementsEqual("name=systemd".utf8) else {
        continue
      }
      for part in fields[2].split(separator: UInt8(ascii: "/")).reversed()
      where part.ends(with: ".service") || part.ends(with: ".scope") {
        return String(decoding: part, as: UTF8.self)
      }
    }
    return ""
  }
}

extension Collection<UInt8> {
  fileprivate func ends(with suffix: String) -> Bool {
    self.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
  }
}
