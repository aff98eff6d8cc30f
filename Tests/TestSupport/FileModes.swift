// Modes, owners and links of files in tests: the calls of the system without pointers.

import Foundation

/// The permissions of a file or folder.
public func mode(of path: String) throws -> Int {
  let attributes = try FileManager.default.attributesOfItem(atPath: path)
  return attributes[.posixPermissions] as? Int ?? -1
}

/// Sets the permissions of a file or folder.
public func setMode(of path: String, to mode: Int) throws {
  try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
}

/// Gives a file, folder or link to another user; for root only.
public func giveAway(_ path: String, to uid: UInt32) {
  _ = unsafe lchown(path, uid, uid)
}

/// Makes a folder, 0700.
public func makeFolder(_ path: String) throws {
  try FileManager.default.createDirectory(
    atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
}

/// Makes a symbolic link at `path`.
public func makeLink(_ path: String, to target: String) throws {
  try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
}

/// The bytes of a file.
public func contents(of path: String) throws -> [UInt8] {
  Array(try Data(contentsOf: URL(fileURLWithPath: path)))
}

/// Writes a file in place, whatever is there.
public func overwrite(_ path: String, with bytes: [UInt8]) throws {
  try Data(bytes).write(to: URL(fileURLWithPath: path))
}
